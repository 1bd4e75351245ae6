"""OpenAI's organisation costs: pages and buckets of `/v1/organization/costs`, and the cost export of the dashboard.

Source: the SDK's `types/admin/organization/usage_costs_response`. Days are UTC; a line item is a model and a class
(`gpt-5.6-sol, input`) or a service; settled days can still change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BilledLine
from app.core.usage import Rejected
from ingest.formats.bills import wording
from ingest.formats.bills.values import (
    PAYER,
    BadLineError,
    charge,
    day,
    nested,
    of_pages,
    pages,
    rejected,
    scope_of_account,
    text,
    units,
)
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_RESULT: Final = "organization.costs.result"


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    if any(result.get("object") == _RESULT for _, result in pages(record)):
        return 1.0
    return 1.0 if {"start_time", "amount_value", "line_item"} <= record.keys() else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The lines of a page, a bucket or a row of the export; an empty day gives none."""
    found = False
    if isinstance(record, dict):
        for bucket, result in pages(record):
            found = True
            row = {"amount_value": nested(result, "amount.value"), "amount_currency": nested(result, "amount.currency")}
            yield from _line(bucket, {**result, **row})
        if not found and "amount_value" in record:
            found = True
            yield from _line(record, record, page=False)
    if not found:
        yield Rejected("an empty page of a cost report", benign=isinstance(record, dict) and "data" in record)


def _line(
    bucket: dict[str, Any], result: dict[str, Any], *, page: bool = True
) -> Iterator[UsageEvent | BilledLine | Rejected]:
    item = text(result.get("line_item"))
    unit = text(result.get("quantity_unit"))
    if item is None and text(result.get("amount_value")) is None:
        yield Rejected("a day without costs", benign=True)
        return
    try:
        cost = charge(result.get("amount_value"), "amount")
        on = day(bucket.get("start_time"), "start_time")
        quantity = units(result.get("quantity"), "quantity", (unit or "").replace("_", " "))
    except BadLineError as error:
        yield rejected(error)
        return
    model, usage_class = _of_item(item)
    yield BilledLine(
        report="openai_costs",
        scope=scope_of_account(text(result.get(PAYER)), text(result.get("project_id"))),
        payer=text(result.get(PAYER)),
        day=on,
        provider="openai",
        account=text(result.get("project_id")),
        model=model,
        usage_class=usage_class,
        kind="credit" if cost < 0 else "usage",
        is_batch=wording.tier(item or "")[1],
        line_item=item,
        unit=unit,
        quantity=quantity,
        cost=cost,
        currency=(text(result.get("amount_currency")) or "usd").upper(),
        page=page,
    )


def _of_item(item: str | None) -> tuple[str | None, str]:
    """(model, class) of a line item. One without a comma may be a model alone; of a service there is no model."""
    if item is None:
        return None, "tokens"
    name, comma, rest = item.rpartition(",")
    if comma:
        return name.strip() or None, wording.usage_class(rest)
    alone = " " not in item and wording.model(item) is not None
    return (item, "tokens") if alone else (None, wording.usage_class(item))


FORMAT = Format(
    name="openai_org_costs",
    title="OpenAI organisation costs",
    convention="one amount a line item, UTC day and project; tokens of a line item are of its one class.",
    billing="api",
    detect=detect,
    parse=of_pages(parse),
)
