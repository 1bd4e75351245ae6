"""Anthropic's costs: pages of the Admin API's cost report, of the newer analytics cost, and the console's export.

Source: the Admin API's documentation and the SDK's analytics types. The APIs' amounts are decimal text in cents, those
of the console's CSV dollars. Analytics amounts are after discounts and before credits.
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
    items,
    money,
    of_pages,
    pages,
    rejected,
    scope_of_account,
    scope_of_item,
    text,
)
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_CLASSES: Final = {
    "uncached_input_tokens": "input",
    "cache_read_input_tokens": "cache_read",
    "cache_creation.ephemeral_5m_input_tokens": "cache_write_5m",
    "cache_creation.ephemeral_1h_input_tokens": "cache_write_1h",
    "output_tokens": "output",
}


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    if "usage_date_utc" in record and "cost_usd" in record:
        return 1.0
    if any("amount" in result and "currency" in result and "starting_at" in at for at, result in pages(record)):
        return 1.0
    return 1.0 if any(isinstance(item.get("cost"), dict) for item in _analytics(record)) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The lines of a page, a bucket, an analytics item or a row of the export."""
    found = False
    if isinstance(record, dict):
        if "usage_date_utc" in record:
            found = True
            row = {"amount": record.get("cost_usd"), "list_amount": record.get("list_price_usd"), "currency": "USD"}
            row |= {"workspace_id": record.get("workspace"), "service_tier": record.get("usage_type")}
            row |= {"model": _named(text(record.get("model")))}
            yield _line(record["usage_date_utc"], {**record, **row}, cents=False, page=False)
        for bucket, result in pages(record):
            found = True
            yield _line(bucket.get("starting_at"), result, cents=True, page=True)
        for item in _analytics(record):
            group, cost = item.get("group"), item.get("cost")
            if isinstance(cost, dict):
                found = True
                one = {**(group if isinstance(group, dict) else {}), **cost}
                page = "data" in record
                scope = scope_of_item(item, ("amount", "list_amount")) if page else ""
                yield _line(item.get("starting_at"), one, cents=True, page=page, scope=scope)
    if not found:
        yield Rejected("an empty page of a cost report", benign=isinstance(record, dict) and "data" in record)


def _analytics(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = record["data"] if isinstance(record.get("data"), list) else [record]
    yield from (item for item in items(listed) if "starting_at" in item and "results" not in item)


def _line(starts: Any, result: dict[str, Any], *, cents: bool, page: bool, scope: str = "") -> BilledLine | Rejected:
    try:
        cost = charge(result.get("amount"), "amount", cents=cents)
        listed = money(result.get("list_amount"), "list_amount", cents=cents)
        on = day(starts, "the start of the bucket")
    except BadLineError as error:
        return rejected(error)
    tier, item = text(result.get("service_tier")), text(result.get("description"))
    return BilledLine(
        report="anthropic_costs",
        scope=scope or scope_of_account(text(result.get(PAYER)), text(result.get("workspace_id"))),
        payer=text(result.get(PAYER)),
        day=on,
        provider="anthropic",
        account=text(result.get("workspace_id")),
        model=text(result.get("model")),
        usage_class=_class(result, item),
        kind="credit" if cost < 0 else "usage",
        region=text(result.get("inference_geo")),
        service_tier="standard" if tier == "batch" else tier,
        is_batch=None if tier is None else tier == "batch",
        line_item=item,
        cost=cost,
        list_cost=listed,
        currency=(text(result.get("currency")) or "USD").upper(),
        page=page,
    )


def _named(model: str | None) -> str | None:
    """A model as the API spells it; the console may write its name for people: `Claude Sonnet 4.5`."""
    return model if model is None or " " not in model else wording.model(model) or model


def _class(result: dict[str, Any], item: str | None) -> str:
    named = text(result.get("token_type"))
    if named is not None:
        return _CLASSES.get(named) or wording.usage_class(named.replace("_", " "))
    kind = text(result.get("cost_type"))
    if kind == "web_search":
        return "web_search"
    if kind not in (None, "tokens"):
        return "other"
    said = wording.usage_class(item or "")
    return "tokens" if said == "other" and kind == "tokens" else said


FORMAT = Format(
    name="anthropic_cost_report",
    title="Anthropic cost report",
    convention="one amount a model, token type and UTC day; API amounts are cents, the console's export is dollars.",
    billing="api",
    detect=detect,
    parse=of_pages(parse),
)
