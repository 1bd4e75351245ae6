"""Google Cloud's billing export to BigQuery: rows as JSON, or as a table with dotted column names.

Source: Google's description of the export. Credits are amounts of their own below zero; the net cost is the cost and
all of its credits. SKU texts name model and class. Lines of other services are kept as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BilledLine
from app.core.usage import Rejected
from ingest.formats.bills import wording
from ingest.formats.bills.values import (
    BadLineError,
    charge,
    day,
    items,
    last_day,
    money,
    nested,
    payer_of,
    rejected,
    text,
    units,
)
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.billed import Kind
    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_SERVICES: Final = ("vertex ai", "gemini", "generative language", "agent platform", "cloud machine learning")


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    return 1.0 if "usage_start_time" in record and "cost" in record and nested(record, "sku.description") else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The charge of a row, and one line for each of its credits."""
    if not isinstance(record, dict) or "cost" not in record:
        yield Rejected("no row of a Google Cloud billing export: it has no cost")
        return
    try:
        yield from list(_lines(record))
    except BadLineError as error:
        yield rejected(error)


def _lines(record: dict[str, Any]) -> Iterator[BilledLine]:
    cost = charge(record.get("cost"), "cost")
    on = day(record.get("usage_start_time"), "usage_start_time")
    sku = text(nested(record, "sku.description")) or ""
    service = text(nested(record, "service.description")) or ""
    account = text(nested(record, "project.id"))
    model = wording.model(sku)
    ours = model is not None and any(name in service.lower() or name in sku.lower() for name in _SERVICES)
    kind = _kind(text(record.get("cost_type")), cost < 0) if ours else "other"
    tier, batch = wording.tier(sku) if ours else (None, None)
    shared: dict[str, Any] = {
        "report": "gcp_billing",
        "scope": account or text(record.get("billing_account_id")) or "",
        "payer": payer_of(record.get("billing_account_id")),
        "day": on,
        "last_day": last_day(record.get("usage_end_time"), "usage_end_time", on),
        "provider": "google",
        "account": account,
        "model": model if ours else None,
        "region": text(nested(record, "location.region")) if ours else None,
        "service_tier": tier,
        "is_batch": batch,
        "currency": (text(record.get("currency")) or "USD").upper(),
    }
    quantity, unit = _quantity(record) if kind == "usage" else (None, None)
    yield BilledLine(
        **shared,
        usage_class=wording.usage_class(sku) if kind == "usage" else "other",
        kind=kind,
        line_item=sku if ours else service or None,
        unit=unit,
        quantity=quantity,
        cost=cost,
    )
    for credit in items(record.get("credits")):
        given = money(credit.get("amount"), "credits.amount")
        if given:
            name = text(credit.get("name")) or text(credit.get("type")) or "credit"
            yield BilledLine(
                **shared, usage_class="other", kind="credit" if ours else "other", line_item=name, cost=given
            )


def _kind(cost_type: str | None, negative: bool) -> Kind:
    if cost_type == "tax":
        return "tax"
    if cost_type in ("adjustment", "rounding_error"):
        return "credit" if negative else "fee"
    return "credit" if negative else "usage"


def _quantity(record: dict[str, Any]) -> tuple[Any, str | None]:
    unit = text(nested(record, "usage.unit"))
    if unit in ("count", "tokens", "requests"):
        return units(nested(record, "usage.amount"), "usage.amount"), unit
    priced = text(nested(record, "usage.pricing_unit"))
    return units(nested(record, "usage.amount_in_pricing_units"), "usage.amount_in_pricing_units", priced), priced


FORMAT = Format(
    name="gcp_billing",
    title="Google Cloud billing export",
    convention="one token class a SKU; the net cost of a row is its cost and its credits, which are lines "
    "of their own.",
    billing="api",
    detect=detect,
    parse=parse,
)
