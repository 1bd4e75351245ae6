"""The pages, one file each, strangers to each other; this tuple is their registry and the order of the navigation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.web.pages import (
    batch,
    batch_file,
    batch_job,
    budgets,
    costs,
    finding,
    jobs,
    latency,
    prices,
    reconciliation,
    reports,
    request,
    requests,
    savings,
    sources,
    spend,
    what_if,
)

if TYPE_CHECKING:
    from app.web.page import Page

PAGES: Final[tuple[Page, ...]] = (
    spend.PAGE,
    savings.PAGE,
    what_if.PAGE,
    finding.PAGE,
    requests.PAGE,
    request.PAGE,
    latency.PAGE,
    batch.PAGE,
    batch_file.PAGE,
    batch_job.PAGE,
    budgets.PAGE,
    reports.PAGE,
    sources.PAGE,
    reconciliation.PAGE,
    prices.PAGE,
    costs.PAGE,
    jobs.PAGE,
)
