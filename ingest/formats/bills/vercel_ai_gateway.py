"""Vercel AI Gateway's report: rows of `/v1/report`, or a page of them, one a day and model.

Source: consumers of the report. Cached and cache-write tokens stand beside the input; reasoning is inside the output.
Rows grouped by tag, user or provider carry that instead of a model, and are sums of the same spend.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BilledLine
from app.core.usage import Rejected
from ingest.formats.bills.values import BadLineError, amount, day, items, money, rejected, text, whole
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_CLASSES: Final = (
    ("input_tokens", "input"),
    ("cached_input_tokens", "cache_read"),
    ("cache_creation_input_tokens", "cache_write"),
    ("output_tokens", "output"),
)


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    return 1.0 if _is_row(record) or any(_is_row(row) for row in items(record.get("results"))) else 0.0


def _is_row(record: dict[str, Any]) -> bool:
    return {"day", "total_cost", "request_count"} <= record.keys() and "input_tokens" in record


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The lines of a row, or of all rows of a page."""
    if not isinstance(record, dict):
        yield Rejected("no report of Vercel's gateway: not a JSON object")
        return
    rows = list(items(record.get("results"))) if "day" not in record else []
    for row in rows or [record]:
        try:
            yield from list(_lines(row, page=bool(rows)))
        except BadLineError as error:
            yield rejected(error)


def _lines(row: dict[str, Any], *, page: bool) -> Iterator[BilledLine]:
    """One line with the cost (it is of all classes together), one a class with its tokens and no cost."""
    model = text(row.get("model"))
    if model is None:
        raise BadLineError("it names no model; ask for the report grouped by model")
    cost = money(row.get("total_cost"), "total_cost")
    if cost is None:
        raise BadLineError("it has no total_cost")
    counts = [(name, amount(row.get(field), field) or Decimal(0)) for field, name in _CLASSES]
    shared: dict[str, Any] = {
        "day": day(row.get("day"), "day"),
        "provider": "vercel",
        "model": model,
        "line_item": text(row.get("provider")),
        "page": page,
    }
    yield BilledLine(
        **shared,
        report="vercel_costs",
        usage_class="tokens",
        quantity=sum((quantity for _, quantity in counts), Decimal(0)),
        unit="tokens",
        cost=cost,
        currency="USD",
    )
    requests = whole(row.get("request_count"), "request_count")
    for number, (name, quantity) in enumerate(item for item in counts if item[1]):
        yield BilledLine(
            **shared,
            report="vercel_usage",
            usage_class=name,
            unit="tokens",
            quantity=quantity,
            requests=requests if number == 0 else None,
        )


FORMAT = Format(
    name="vercel_ai_gateway",
    title="Vercel AI Gateway report",
    convention="Cached and written tokens stand beside the input, reasoning inside the output; one cost a row.",
    billing="api",
    detect=detect,
    parse=parse,
)
