"""One line of a provider's bill, usage or cost report, as its export says it: not yet priced, compared or folded.

Quantities are single tokens or units whatever unit the export counts in; amounts are native and exact decimals. A
usage report has no cost, a cost report may have no quantity: None is unknown, never 0.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final, Literal

import msgspec

Kind = Literal["usage", "credit", "refund", "fee", "tax", "other"]
"""What a line charges: use of a model; money given back; a fixed fee; tax; a service that is no model."""

BILLED_CLASSES: Final = (
    "input",
    "cache_read",
    "cache_write_5m",
    "cache_write_30m",
    "cache_write_1h",
    "cache_write_12h",
    "cache_write",
    "input_audio",
    "cache_read_audio",
    "input_image",
    "output",
    "output_audio",
    "output_image",
    "tokens",
    "web_search",
    "request",
    "other",
)
"""Token classes without `tok_` (output holds reasoning); `cache_write` of a lifetime that the bill does not say;
`tokens` of no class at all; `other` for what is charged beside tokens.
"""

FLAT_SCOPE: Final = "item "
"""How the scope of a line begins that stands for itself: its export may part a day."""

WHOLE_SCOPE: Final = "/"
"""How the scope of a line ends that a payer is charged for all accounts together."""


class BilledLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line.

    Attributes:
        report: what the export is of; a newer export of the same report takes the place of an older one, day by day.
        scope: the account that one export gives whole, '' where an export gives all of them; of an item that stands for
            itself FLAT_SCOPE and its name. One that ends in WHOLE_SCOPE is of every account whose scope begins so.
        payer: the organisation or billing account whose bill it is, as the provider names it; None where neither the
            export nor its pull says it. It tells bills of one report apart, and no requests.
        day: ISO date in UTC, as providers cut bills.
        last_day: the last UTC day that the line is about where that is another; None for one day.
        usage_class: one of BILLED_CLASSES.
        quantity: single tokens or units.
        requests: calls that the line counts.
        effective_cost: after commitments were spread over usage, where the bill says both.
        has_more: whether its page says that another follows.
        page: whether the record that the line came from is an export of its own (a page of an API).
    """

    report: str
    scope: str = ""
    payer: str | None = None
    day: str
    last_day: str | None = None
    provider: str
    account: str | None = None
    model: str | None = None
    usage_class: str
    kind: Kind = "usage"
    region: str | None = None
    service_tier: str | None = None
    is_batch: bool | None = None
    line_item: str | None = None
    unit: str | None = None
    quantity: Decimal | None = None
    requests: int | None = None
    cost: Decimal | None = None
    effective_cost: Decimal | None = None
    list_cost: Decimal | None = None
    currency: str | None = None
    has_more: bool = False
    page: bool = False
