"""The features of the demo company, one file each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo.workloads import (
    address_cleanup,
    call_summary,
    coding_agent,
    contract_review,
    docs_search,
    invoice_extract,
    moderation,
    newsletter,
    support_chat,
    sync_worker,
    ticket_classify,
)

if TYPE_CHECKING:
    from app.demo.workload import Workload

WORKLOADS: tuple[Workload, ...] = (
    support_chat.WORKLOAD,
    ticket_classify.WORKLOAD,
    coding_agent.WORKLOAD,
    docs_search.WORKLOAD,
    invoice_extract.WORKLOAD,
    sync_worker.WORKLOAD,
    address_cleanup.WORKLOAD,
    newsletter.WORKLOAD,
    moderation.WORKLOAD,
    contract_review.WORKLOAD,
    call_summary.WORKLOAD,
)
