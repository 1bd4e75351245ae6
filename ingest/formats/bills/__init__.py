"""Bills: exports and API bodies in which a provider says what was used and what it costs, one file each, in `BILLS`.

They are formats like any other, but yield `BilledLine`s: sums of a day, which are compared with requests, never joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ingest.formats.bills import (
    anthropic_cost_report,
    anthropic_usage_report,
    aws_cur,
    azure_cost,
    focus,
    gcp_billing,
    openai_org_costs,
    openai_org_usage,
    openrouter_activity,
    vercel_ai_gateway,
)

if TYPE_CHECKING:
    from ingest.formats.format import Format

BILLS: Final[tuple[Format, ...]] = (
    openai_org_usage.FORMAT,
    openai_org_costs.FORMAT,
    anthropic_usage_report.FORMAT,
    anthropic_cost_report.FORMAT,
    aws_cur.FORMAT,
    gcp_billing.FORMAT,
    azure_cost.FORMAT,
    focus.FORMAT,
    openrouter_activity.FORMAT,
    vercel_ai_gateway.FORMAT,
)
