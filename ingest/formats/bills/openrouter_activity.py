"""OpenRouter's daily activity: pages of `/api/v1/activity`, its rows, and the aggregate CSV of the Activity page.

Source: the SDK's activity types. Days are UTC; prompt tokens hold cached ones, completion tokens reasoning ones. With
the caller's own provider key `usage` is only OpenRouter's fee.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BilledLine
from app.core.usage import Rejected
from ingest.formats.bills.values import BadLineError, amount, charge, day, items, rejected, text, whole
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_COLUMNS: Final = {
    "Date": "date",
    "Slug": "model",
    "Usage": "usage",
    "Requests": "requests",
    "Prompt Tokens": "prompt_tokens",
    "Completion Tokens": "completion_tokens",
    "Reasoning Tokens": "reasoning_tokens",
    "Cached Tokens": "cached_tokens",
}


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    if _is_row(record) or {"Date", "Slug", "Usage"} <= record.keys():
        return 1.0
    return 1.0 if any(_is_row(row) for row in items(record.get("data"))) else 0.0


def _is_row(record: dict[str, Any]) -> bool:
    return {"date", "model", "usage", "requests", "prompt_tokens", "completion_tokens"} <= record.keys()


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The lines of a row, or of all rows of a page."""
    if not isinstance(record, dict):
        yield Rejected("no activity of OpenRouter: not a JSON object")
        return
    rows = list(items(record.get("data"))) if "date" not in record and "Date" not in record else []
    for row in rows or [record]:
        named = {name: row.get(column) for column, name in _COLUMNS.items()} if "Date" in row else row
        try:
            yield from list(_lines(named, page=bool(rows)))
        except BadLineError as error:
            yield rejected(error)


def _lines(row: dict[str, Any], *, page: bool) -> Iterator[BilledLine]:
    """One line with the cost (it is of all classes together), one a class with its tokens and no cost."""
    cost = charge(row.get("usage"), "usage")
    prompt, answer, cached = (
        amount(row.get(name), name) or Decimal(0) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
    )
    if cached > prompt:
        raise BadLineError("it has more cached tokens than prompt tokens")
    shared: dict[str, Any] = {
        "day": day(row.get("date"), "date"),
        "provider": "openrouter",
        "account": text(row.get("workspace_id")),
        "model": text(row.get("model_permaslug")) or text(row.get("model")),
        "line_item": text(row.get("provider_name")),
        "page": page,
    }
    yield BilledLine(
        **shared,
        report="openrouter_costs",
        usage_class="tokens",
        quantity=prompt + answer,
        unit="tokens",
        cost=cost,
        currency="USD",
    )
    requests = whole(row.get("requests"), "requests")
    classes = [("input", prompt - cached), ("cache_read", cached), ("output", answer)]
    for number, (name, quantity) in enumerate(item for item in classes if item[1]):
        yield BilledLine(
            **shared,
            report="openrouter_usage",
            usage_class=name,
            unit="tokens",
            quantity=quantity,
            requests=requests if number == 0 else None,
        )


FORMAT = Format(
    name="openrouter_activity",
    title="OpenRouter daily activity",
    convention="prompt tokens hold cached ones, completion tokens reasoning ones; one cost a day, model and upstream.",
    billing="api",
    detect=detect,
    parse=parse,
)
