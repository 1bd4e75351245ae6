"""FOCUS cost and usage rows of any provider: versions 1.0 to 1.3, CSV, JSON lines or Parquet.

Source: the FOCUS specification 1.2; of 1.3, which drops ProviderName, the newer names are read too. Rows that are no
use of a generative model are kept as such: their cost counts in the bill, not in what was spent on models.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BILLED_CLASSES, BilledLine
from app.core.usage import Rejected
from ingest.formats.bills import wording
from ingest.formats.bills.values import (
    BadLineError,
    charge,
    day,
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

_PROVIDERS: Final = {
    "aws": "aws",
    "amazon": "aws",
    "microsoft": "azure",
    "azure": "azure",
    "google": "google",
    "gcp": "google",
    "openai": "openai",
    "anthropic": "anthropic",
    "mistral": "mistral",
    "openrouter": "openrouter",
    "groq": "groq",
    "together": "together",
    "fireworks": "fireworks",
    "vercel": "vercel",
}
_NAMES: Final = ("ProviderName", "ServiceProviderName", "HostProviderName", "InvoiceIssuerName", "PublisherName")


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    return 1.0 if {"BilledCost", "ChargePeriodStart", "ChargeCategory"} <= record.keys() else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The one line of a row."""
    if not isinstance(record, dict) or "BilledCost" not in record:
        yield Rejected("no FOCUS row: it has no BilledCost")
        return
    try:
        yield _line(record)
    except BadLineError as error:
        yield rejected(error)


def _line(record: dict[str, Any]) -> BilledLine:
    cost = charge(record["BilledCost"], "BilledCost")
    named = [found for name in _NAMES if (found := text(record.get(name))) is not None]
    provider = next((known for name in named if (known := _provider(name)) is not None), None)
    said = " ".join(text(record.get(name)) or "" for name in ("SkuMeter", "ChargeDescription", "ResourceName", "SkuId"))
    model = text(nested(record, "SkuPriceDetails.x_Model")) or _model(said, provider)
    ours = _is_model_use(record, model)
    kind = _kind(record, cost < 0) if ours else "other"
    quantity, unit = _quantity(record) if kind == "usage" else (None, None)
    tier, batch = wording.tier(said) if ours else (None, None)
    payer = text(record.get("BillingAccountId"))
    below = text(record.get("SubAccountId"))
    account = below or payer
    on = day(record.get("ChargePeriodStart"), "ChargePeriodStart")
    seller = provider or (named[0].lower() if named else "unknown")
    return BilledLine(
        report="focus",
        scope=f"{seller}/{payer or ''}/{below or ''}",
        payer=payer_of(payer),
        day=on,
        last_day=last_day(record.get("ChargePeriodEnd"), "ChargePeriodEnd", on),
        provider=seller,
        account=account,
        model=model if ours else None,
        usage_class=_class(record, said) if kind == "usage" else "other",
        kind=kind,
        region=text(record.get("RegionId")) if ours else None,
        service_tier=tier,
        is_batch=batch,
        line_item=(text(record.get("ChargeDescription")) if ours else text(record.get("ServiceName"))),
        unit=unit,
        quantity=quantity,
        cost=cost,
        effective_cost=money(record.get("EffectiveCost"), "EffectiveCost"),
        list_cost=money(record.get("ListCost"), "ListCost"),
        currency=(text(record.get("BillingCurrency")) or "USD").upper(),
    )


def _provider(name: str) -> str | None:
    """The provider behind a company's name, with whatever legal form or product stands behind it."""
    said = name.lower()
    return next((known for start, known in _PROVIDERS.items() if re.match(rf"{start}\b", said)), None)


def _model(said: str, provider: str | None) -> str | None:
    return wording.azure_model(said) if provider == "azure" else wording.model(said)


def _is_model_use(record: dict[str, Any], model: str | None) -> bool:
    if text(record.get("ServiceSubcategory")) == "Generative AI":
        return True
    in_tokens = any("token" in (text(record.get(name)) or "").lower() for name in ("ConsumedUnit", "PricingUnit"))
    return text(record.get("ServiceCategory")) == "AI and Machine Learning" and (in_tokens or model is not None)


def _kind(record: dict[str, Any], negative: bool) -> Kind:
    category = text(record.get("ChargeCategory"))
    if category == "Tax":
        return "tax"
    if category == "Purchase":
        return "fee"
    if category == "Adjustment" or text(record.get("ChargeClass")) == "Correction":
        return "refund" if negative else "fee"
    return "credit" if category == "Credit" or negative else "usage"


def _quantity(record: dict[str, Any]) -> tuple[Any, str | None]:
    for name in ("Consumed", "Pricing"):
        unit = text(record.get(f"{name}Unit"))
        found = units(record.get(f"{name}Quantity"), f"{name}Quantity", unit)
        if found is not None:
            return found, unit
    return None, None


def _class(record: dict[str, Any], said: str) -> str:
    named = text(nested(record, "SkuPriceDetails.x_TokenClass"))
    return named if named in BILLED_CLASSES else wording.usage_class(said)


FORMAT = Format(
    name="focus",
    title="FOCUS cost and usage",
    convention="one token class a row, named by SkuMeter or the description; quantities in the row's own unit.",
    billing="api",
    detect=detect,
    parse=parse,
)
