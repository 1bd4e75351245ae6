"""Azure's cost details (actual cost): rows of the Cost Management export of both kinds of agreement.

Source: Microsoft's description of the cost details file and the names of its token meters. A meter's name holds model,
class, tier and unit; quantities are in the row's unit of measure (1K, 1M). Other meters are kept as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BilledLine
from app.core.usage import Rejected
from ingest.formats.bills import wording
from ingest.formats.bills.values import BadLineError, charge, day, payer_of, rejected, text, units
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from app.core.billed import Kind
    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_COSTS: Final = ("costinbillingcurrency", "cost", "pretaxcost")
_OURS: Final = re.compile(r"openai|foundry models?|azure (?:deepseek|grok|mistral|llama)|models? inference")
_REGIONS: Final = re.compile(r" (?:gl|glbl|global) ")
_ZONES: Final = re.compile(r" (?:dz|dzone|datazone) ")


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    names = {str(name).lower() for name in record}
    return 1.0 if {"metername", "date"} <= names and any(cost in names for cost in _COSTS) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The one line of a row."""
    row = {str(name).lower(): value for name, value in record.items()} if isinstance(record, dict) else {}
    field = next((name for name in _COSTS if name in row), None)
    if field is None:
        yield Rejected("no row of Azure's cost details: it has no cost")
        return
    unit = text(row.get("unitofmeasure"))
    try:
        cost = charge(row.get(field), field)
        on = day(row.get("date"), "Date")
        quantity = units(row.get("quantity"), "Quantity", unit)
    except BadLineError as error:
        yield rejected(error)
        return
    yield _line(row, on, cost, quantity, unit)


def _line(row: Mapping[str, Any], on: str, cost: Any, quantity: Any, unit: str | None) -> BilledLine:
    meter = text(row.get("metername")) or ""
    wider = " ".join(text(row.get(name)) or "" for name in ("metercategory", "metersubcategory", "productname"))
    account = text(row.get("subscriptionid")) or text(row.get("subscriptionguid"))
    ours = bool(_OURS.search(wider.lower()))
    kind = _kind(text(row.get("chargetype")) or "Usage", cost < 0) if ours else "other"
    tier, batch = wording.tier(meter) if ours else (None, None)
    return BilledLine(
        report="azure_cost",
        scope=account or text(row.get("billingaccountid")) or "",
        payer=payer_of(row.get("billingaccountid")),
        day=on,
        provider="azure",
        account=account,
        model=wording.azure_model(meter) if ours and kind == "usage" else None,
        usage_class=wording.usage_class(meter) if kind == "usage" else "other",
        kind=kind,
        region=_region(meter, text(row.get("resourcelocation"))) if ours else None,
        service_tier=tier,
        is_batch=batch,
        line_item=meter if ours else text(row.get("metercategory")),
        unit=unit,
        quantity=quantity if kind == "usage" else None,
        cost=cost,
        currency=(text(row.get("billingcurrency")) or text(row.get("billingcurrencycode")) or "USD").upper(),
    )


def _region(meter: str, location: str | None) -> str | None:
    """How the deployment is served: a global one and one of a data zone are priced apart from a region's own."""
    said = f" {re.sub(r'[^a-z0-9]+', ' ', meter.lower())} "
    if _REGIONS.search(said):
        return "global"
    return "data zone" if _ZONES.search(said) else location


def _kind(charge: str, negative: bool) -> Kind:
    if charge == "Usage":
        return "credit" if negative else "usage"
    if charge == "Refund":
        return "refund"
    if charge == "Tax":
        return "tax"
    if charge in ("Purchase", "UnusedReservation", "UnusedSavingsPlan"):
        return "fee"
    return "credit" if negative else "fee"


FORMAT = Format(
    name="azure_cost",
    title="Azure cost details",
    convention="one token class a meter, named by the meter; quantities are in the row's unit of measure.",
    billing="api",
    detect=detect,
    parse=parse,
)
