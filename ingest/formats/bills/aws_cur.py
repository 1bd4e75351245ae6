"""AWS Cost and Usage Reports: rows of CUR 2.0 (Data Exports) and, under its column names, of the older report.

Source: AWS's description of the CUR columns. Every token class is a line item of its own, named by the usage type;
amounts are in the row's pricing unit, mostly thousands of tokens. Lines of other services are kept as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.billed import BilledLine
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
    from collections.abc import Iterator, Mapping

    from app.core.billed import Kind
    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_KINDS: Final[Mapping[str, Kind]] = {
    "Usage": "usage",
    "DiscountedUsage": "usage",
    "SavingsPlanCoveredUsage": "usage",
    "Tax": "tax",
    "Credit": "credit",
    "Refund": "refund",
    "SavingsPlanNegation": "credit",
    "Fee": "fee",
    "RIFee": "fee",
    "SavingsPlanRecurringFee": "fee",
    "SavingsPlanUpfrontFee": "fee",
}
_REGION: Final = re.compile(r"^[A-Z]{2,4}\d?-")
_CLASS: Final = re.compile(
    r"-(?:mantle-)?(?:cache-(?:read|write)|input|output)(?:-|$)|-(?:text|image|audio|video)-(?:input|output)",
    re.IGNORECASE,
)


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    return 1.0 if _get(record, "line_item_usage_type") is not None and _has(record, "line_item_unblended_cost") else 0.0


def _older(name: str) -> str:
    """The older report's name of a column: line_item_usage_type is lineItem/UsageType."""
    if name.startswith("line_item_"):
        part, rest = "lineItem", name.removeprefix("line_item_")
    else:
        part, _, rest = name.partition("_")
    return f"{part}/{''.join(word.capitalize() for word in rest.split('_'))}"


_OLDER: Final[dict[str, str]] = {}


def _get(record: Mapping[str, Any], name: str) -> Any:
    if name in record:
        return record[name]
    return record.get(_OLDER.get(name) or _OLDER.setdefault(name, _older(name)))


def _has(record: Mapping[str, Any], name: str) -> bool:
    return name in record or _older(name) in record


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The one line of a row."""
    if not isinstance(record, dict) or not _has(record, "line_item_unblended_cost"):
        yield Rejected("no row of a Cost and Usage Report: it has no line_item_unblended_cost")
        return
    unit = text(_get(record, "pricing_unit"))
    try:
        cost = charge(_get(record, "line_item_unblended_cost"), "line_item_unblended_cost")
        on = day(_get(record, "line_item_usage_start_date"), "line_item_usage_start_date")
        through = last_day(_get(record, "line_item_usage_end_date"), "line_item_usage_end_date", on)
        # Without its unit an amount may be tokens or thousands of them: then it is not known.
        quantity = units(_get(record, "line_item_usage_amount"), "line_item_usage_amount", unit) if unit else None
    except BadLineError as error:
        yield rejected(error)
        return
    yield msgspec.structs.replace(_line(record, on, cost, quantity, unit), last_day=through)


def _line(record: Mapping[str, Any], on: str, cost: Any, quantity: Any, unit: str | None) -> BilledLine:
    code = text(_get(record, "line_item_product_code")) or ""
    usage_type = text(_get(record, "line_item_usage_type")) or ""
    said = text(_get(record, "line_item_line_item_description")) or ""
    account = text(_get(record, "line_item_usage_account_id"))
    ours = "bedrock" in f"{code} {said}".lower()
    kind = _kind(text(_get(record, "line_item_line_item_type")) or "Usage") if ours else "other"
    model, usage_class, (tier, batch) = _named(usage_type) if ours else (None, "other", (None, None))
    commitment = nested(record, "savings_plan_savings_plan_effective_cost")
    return BilledLine(
        report="aws_cur",
        scope=account or text(_get(record, "bill_payer_account_id")) or "",
        payer=payer_of(_get(record, "bill_payer_account_id")),
        day=on,
        provider="aws",
        account=account,
        model=model,
        usage_class=usage_class if kind == "usage" else "other",
        kind=kind,
        region=text(_get(record, "product_region_code")) if ours else None,
        service_tier=tier,
        is_batch=batch,
        line_item=usage_type if ours else code or None,
        unit=unit,
        quantity=quantity if kind == "usage" else None,
        cost=cost,
        effective_cost=money(commitment, "effective cost") if text(commitment) else None,
        currency=(text(_get(record, "line_item_currency_code")) or "USD").upper(),
    )


def _kind(line_item_type: str) -> Kind:
    """What a line is; AWS adds kinds of discounts, all of which are named so."""
    return _KINDS.get(line_item_type, "credit" if line_item_type.endswith("Discount") else "other")


def _named(usage_type: str) -> tuple[str | None, str, tuple[str | None, bool | None]]:
    """(model, class, tier) of `<region>-<model>-<class>[-<tier>]`."""
    body = _REGION.sub("", usage_type)
    cut = _CLASS.search(body)
    name, rest = (body[: cut.start()], body[cut.start() :]) if cut else (body, body)
    model = name if re.match(r"[a-z]+\.[a-z]", name) else wording.model(name)
    return model, wording.usage_class(rest), wording.tier(rest)


FORMAT = Format(
    name="aws_cur",
    title="AWS Cost and Usage Report",
    convention="one token class a line item, named by its usage type; amounts are in the row's own pricing unit.",
    billing="api",
    detect=detect,
    parse=parse,
)
