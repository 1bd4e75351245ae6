"""Charges in the columns of FOCUS 1.2, the FinOps cost and usage specification (focus.finops.org, release 1.2).

What FOCUS forbids to be null and Halve does not know is null all the same and named in `x_CostState` or `x_Billing`: a
zero would be a false statement. `allowed` leaves such rows out instead. Costs are DECIMAL(38, 12) USD, exact.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from app.core.view import UNASSIGNED, local_date, midnight_us, zone_info

if TYPE_CHECKING:
    from app.analysis.charges import Span

MONEY: Final = pl.Decimal(38, 12)
UNIT_PRICE: Final = pl.Decimal(38, 18)
QUANTITY: Final = pl.Decimal(38, 6)
MOMENT: Final = pl.Datetime("us", "UTC")
HOUR_US: Final = 3_600_000_000

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "AvailabilityZone": pl.String,
    "BilledCost": MONEY,
    "BillingAccountId": pl.String,
    "BillingAccountName": pl.String,
    "BillingAccountType": pl.String,
    "BillingCurrency": pl.String,
    "BillingPeriodEnd": MOMENT,
    "BillingPeriodStart": MOMENT,
    "CapacityReservationId": pl.String,
    "CapacityReservationStatus": pl.String,
    "ChargeCategory": pl.String,
    "ChargeClass": pl.String,
    "ChargeDescription": pl.String,
    "ChargeFrequency": pl.String,
    "ChargePeriodEnd": MOMENT,
    "ChargePeriodStart": MOMENT,
    "CommitmentDiscountCategory": pl.String,
    "CommitmentDiscountId": pl.String,
    "CommitmentDiscountName": pl.String,
    "CommitmentDiscountQuantity": QUANTITY,
    "CommitmentDiscountStatus": pl.String,
    "CommitmentDiscountType": pl.String,
    "CommitmentDiscountUnit": pl.String,
    "ConsumedQuantity": QUANTITY,
    "ConsumedUnit": pl.String,
    "ContractedCost": MONEY,
    "ContractedUnitPrice": UNIT_PRICE,
    "EffectiveCost": MONEY,
    "InvoiceId": pl.String,
    "InvoiceIssuerName": pl.String,
    "ListCost": MONEY,
    "ListUnitPrice": UNIT_PRICE,
    "PricingCategory": pl.String,
    "PricingCurrency": pl.String,
    "PricingCurrencyContractedUnitPrice": UNIT_PRICE,
    "PricingCurrencyEffectiveCost": MONEY,
    "PricingCurrencyListUnitPrice": UNIT_PRICE,
    "PricingQuantity": QUANTITY,
    "PricingUnit": pl.String,
    "ProviderName": pl.String,
    "PublisherName": pl.String,
    "RegionId": pl.String,
    "RegionName": pl.String,
    "ResourceId": pl.String,
    "ResourceName": pl.String,
    "ResourceType": pl.String,
    "ServiceCategory": pl.String,
    "ServiceName": pl.String,
    "ServiceSubcategory": pl.String,
    "SkuId": pl.String,
    "SkuMeter": pl.String,
    "SkuPriceDetails": pl.String,
    "SkuPriceId": pl.String,
    "SubAccountId": pl.String,
    "SubAccountName": pl.String,
    "SubAccountType": pl.String,
    "Tags": pl.String,
    # our own, as the specification allows under x_
    "x_Model": pl.String,
    "x_TokenClass": pl.String,
    "x_CostState": pl.String,
    "x_Billing": pl.String,
    "x_Confidence": pl.String,
    "x_PriceBook": pl.String,
    "x_CostVersion": pl.Int64,
    "x_Source": pl.String,
    "x_Requests": pl.Int64,
}
"""Every column of a row with its type: the 57 of FOCUS 1.2, then ours."""

NEVER_NULL: Final = (
    "BilledCost", "BillingAccountId", "BillingAccountType", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart",
    "ChargeCategory", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost", "EffectiveCost", "InvoiceIssuerName",
    "ListCost", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName",
)  # fmt: skip
"""Mandatory columns of FOCUS 1.2 that a row must fill."""

CATEGORIES: Final = {"credit": "Credit", "refund": "Adjustment", "fee": "Purchase", "tax": "Tax"}
"""ChargeCategory of what a bill charges beside usage; what a refund gives back is not said, so it is an Adjustment."""
UNIT_NAMES: Final = {
    "web_search": "Searches",
    "storage_search": "Searches",
    "code_execution": "Sessions",
    "rerank": "Searches",
    "second": "Seconds",
    "page": "Pages",
    "character": "Characters",
    "image": "Images",
    "call": "Requests",
}
"""ConsumedUnit of what is counted beside tokens; of other fees no quantity is given."""
_TAGS: Final = ("feature", "team", "environment")


def rows(charges: pl.DataFrame, span: Span, zone: str, *, hourly: bool, version: int) -> pl.DataFrame:
    """The charges of a span (`app.analysis.charges`) as FOCUS rows, columns and types of `COLUMNS`."""
    named = charges.with_columns(
        provider=pl.col("provider").fill_null("unknown"),
        model_id=pl.when(pl.col("charge").is_null())
        .then(pl.col("model_id").fill_null("unknown"))
        .otherwise("model_id"),
        metered=pl.col("tokens").is_not_null(),
        unit_name=pl.col("unit").replace_strict(UNIT_NAMES, default=None, return_dtype=pl.String),
        is_usage=pl.col("charge").is_null(),
        category=pl.col("charge").replace_strict(CATEGORIES, default="Usage", return_dtype=pl.String),
    )
    model, cls = pl.col("model_id").fill_null("unknown"), pl.col("class").str.replace_all("_", " ", literal=True)
    counted = pl.col("unit_name").is_not_null()
    quantity = (
        pl.when("metered").then(pl.col("tokens").cast(QUANTITY)).when(counted).then(pl.col("units").cast(QUANTITY))
    )
    unit = pl.when("metered").then(pl.lit("Tokens")).when(counted).then("unit_name")
    sku = pl.col("provider") + pl.lit("/") + model + pl.lit("/") + pl.col("class")
    has_sku = pl.col("is_usage") | (pl.col("category") == "Purchase")
    details = _json(
        {
            "x_TokenClass": pl.col("class"),
            "x_ServiceTier": pl.col("service_tier"),
            "x_Batch": pl.when("is_batch").then(pl.lit("true")),
            "x_Operation": pl.col("operation"),
        }
    )
    served = pl.when("is_batch").then(pl.lit(", batch")).otherwise(pl.lit(""))
    filled = named.with_columns(
        BilledCost="billed_usd",
        EffectiveCost="billed_usd",
        ContractedCost="cost_usd",
        ListCost="list_usd",
        BillingAccountId=pl.col("account").fill_null(UNASSIGNED),
        BillingAccountName=pl.col("account").fill_null(UNASSIGNED),
        BillingAccountType=pl.lit("Account"),
        BillingCurrency=pl.lit("USD"),
        PricingCurrency=pl.lit("USD"),
        PricingCurrencyEffectiveCost="billed_usd",
        PricingCurrencyContractedUnitPrice=pl.when("metered").then("rate"),
        PricingCurrencyListUnitPrice=pl.when("metered").then("list_rate"),
        ChargeCategory="category",
        ChargeDescription=pl.coalesce("model_id", "provider")
        + pl.lit(" ")
        + cls
        + pl.when("metered").then(pl.lit(" tokens")).otherwise(pl.lit(""))
        + served,
        ChargeFrequency=pl.when("is_usage").then(pl.lit("Usage-Based")).otherwise(pl.lit("One-Time")),
        ConsumedQuantity=quantity,
        ConsumedUnit=unit,
        PricingQuantity=quantity,
        PricingUnit=unit,
        PricingCategory=pl.when(has_sku, pl.col("cost_usd").is_not_null()).then(pl.lit("Standard")),
        ContractedUnitPrice=pl.when("metered").then("rate"),
        ListUnitPrice=pl.when("metered").then("list_rate"),
        ProviderName="provider",
        PublisherName="provider",
        InvoiceIssuerName="provider",
        RegionId="region",
        RegionName="region",
        ServiceCategory=pl.lit("AI and Machine Learning"),
        ServiceSubcategory=pl.lit("Generative AI"),
        ServiceName=pl.col("provider") + pl.lit(" API"),
        ResourceId="model_id",
        ResourceType=pl.when(pl.col("model_id").is_not_null()).then(pl.lit("Model")),
        SkuId=pl.when(has_sku).then(sku),
        SkuMeter=pl.when(has_sku).then(cls),
        SkuPriceId=pl.col("price_row") + pl.lit(" for ") + sku,
        SkuPriceDetails=pl.when(pl.col("price_row").is_not_null()).then(details),
        Tags=_json({name: pl.when(pl.col(name) != UNASSIGNED).then(name) for name in _TAGS}),
        x_Model="model_id",
        x_TokenClass="class",
        x_CostState="cost_state",
        x_Billing="billing",
        x_Confidence=pl.when(pl.col("price_row").str.starts_with("as charged by"))
        .then(pl.lit("reported"))
        .otherwise("confidence"),
        x_PriceBook="price_book",
        x_CostVersion=pl.lit(version),
        x_Source="source",
        x_Requests="requests",
        **_periods(span, zone, hourly=hourly),
    )
    missing = [pl.lit(None).alias(name) for name in COLUMNS if name not in filled.columns]
    return filled.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())


def allowed(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that FOCUS allows, without forbidden nulls. What is on no list has its contract cost as list cost."""
    listed = frame.with_columns(ListCost=pl.coalesce("ListCost", "ContractedCost"))
    return listed.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in NEVER_NULL))


def _periods(span: Span, zone: str, *, hourly: bool) -> dict[str, pl.Expr]:
    """When a charge was made, and the calendar month it belongs to, both half-open; null for what has no time."""
    names = ("ChargePeriodStart", "ChargePeriodEnd", "BillingPeriodStart", "BillingPeriodEnd")
    if not span.dated:
        return {name: pl.lit(None) for name in names}
    first, after = _month(span.from_us, zone)
    if not hourly:
        return dict(zip(names, map(_moment, (span.from_us, span.to_us, first, after)), strict=True))
    start = pl.from_epoch("from_us", time_unit="us").dt.replace_time_zone("UTC")
    return {
        "ChargePeriodStart": start,
        "ChargePeriodEnd": start + pl.duration(microseconds=HOUR_US),
        "BillingPeriodStart": _moment(first),
        "BillingPeriodEnd": _moment(after),
    }


def _month(at_us: int, zone: str) -> tuple[int, int]:
    where = zone_info(zone)
    first = local_date(at_us, where).replace(day=1)
    after = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
    return midnight_us(first, where), midnight_us(after, where)


def _moment(at_us: int) -> pl.Expr:
    return pl.lit(datetime.fromtimestamp(at_us / 1_000_000, UTC)).cast(MOMENT)


def _json(fields: dict[str, pl.Expr]) -> pl.Expr:
    """A JSON object of the fields that are known; null where none is."""
    members = [
        pl.when(value.is_not_null()).then(pl.lit(f'"{name}": "') + _escaped(value) + pl.lit('"'))
        for name, value in fields.items()
    ]
    joined = pl.concat_str(members, separator=", ", ignore_nulls=True)
    return pl.when(joined != "").then(pl.lit("{") + joined + pl.lit("}"))


def _escaped(value: pl.Expr) -> pl.Expr:
    """The inside of a JSON string: quotes and backslashes escaped, control characters as spaces."""
    plain = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
    return plain.str.replace_all(r"[\x00-\x1f]", " ")
