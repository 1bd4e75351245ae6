"""FOCUS charges: the columns of the specification, sums equal to Spend's, unknown never zero."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
from hypothesis import HealthCheck, given, settings

from app.analysis import focus
from app.analysis.charges import Wanted, charges, request_rows, spans
from app.warehouse import ledger, rollup
from tests.analysis.facts import add_source, open_warehouse
from tests.ledger.books import DAY_US, START_US, A, B, add, by, change, made_requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.warehouse.store import Session, Warehouse

# The column list of the FOCUS 1.2 specification, written down here once more, as a reader of the file would.
SPECIFIED = """
AvailabilityZone BilledCost BillingAccountId BillingAccountName BillingAccountType BillingCurrency BillingPeriodEnd
BillingPeriodStart CapacityReservationId CapacityReservationStatus ChargeCategory ChargeClass ChargeDescription
ChargeFrequency ChargePeriodEnd ChargePeriodStart CommitmentDiscountCategory CommitmentDiscountId
CommitmentDiscountName CommitmentDiscountQuantity CommitmentDiscountStatus CommitmentDiscountType
CommitmentDiscountUnit ConsumedQuantity ConsumedUnit ContractedCost ContractedUnitPrice EffectiveCost InvoiceId
InvoiceIssuerName ListCost ListUnitPrice PricingCategory PricingCurrency PricingCurrencyContractedUnitPrice
PricingCurrencyEffectiveCost PricingCurrencyListUnitPrice PricingQuantity PricingUnit ProviderName PublisherName
RegionId RegionName ResourceId ResourceName ResourceType ServiceCategory ServiceName ServiceSubcategory SkuId SkuMeter
SkuPriceDetails SkuPriceId SubAccountId SubAccountName SubAccountType Tags
""".split()  # noqa: SIM905
MONEY = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")
CLASSES = {
    "tok_input": 100, "tok_cache_read": 70, "tok_cache_write_5m": 31, "tok_cache_write_1h": 17, "tok_input_audio": 11,
    "tok_input_image": 3, "tok_output": 20, "tok_reasoning": 9,
}  # fmt: skip
CACHING = """
rates:
  - provider: openai
    model: made-1
    input: "1.0000005"
    input_audio: "3.1"
    cache_read: "0.1"
    cache_write_5m: "1.25"
    cache_write_1h: "2.0000001"
    output: "3.3333333"
"""


def priced(rows: Sequence[dict[str, Any]], text: str, parts: Sequence[dict[str, Any]] = ()) -> Warehouse:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add(session, rows, parts)
        add_source(session, "log", "api")
        rollup.rebuild(session)
    change(warehouse, by(text))
    return warehouse


def everything(session: Session, *, hourly: bool = False, zone: str = "UTC", as_of: int | None = None) -> pl.DataFrame:
    wanted = Wanted(0, ledger.END_OF_TIME, zone, as_of)
    frames = [
        focus.rows(charges(session, span, wanted, hourly=hourly), span, zone, hourly=hourly, version=1)
        for span in spans(session, wanted, bills=True)
    ]
    return pl.concat(frames)


def usd(frame: pl.DataFrame, column: str) -> Decimal:
    found = frame[column].sum()
    return Decimal(found or 0)


def facts(session: Session, column: str) -> Decimal:
    (row,) = session.connection.execute(f"SELECT sum({column}) FROM requests").fetchall()
    return Decimal(int(row[0] or 0)).scaleb(-12)


def test_the_columns_are_those_of_the_specification_and_ours_begin_with_x() -> None:
    names = list(focus.COLUMNS)
    assert names[: len(SPECIFIED)] == SPECIFIED
    assert len(SPECIFIED) == 57
    assert all(name.startswith("x_") for name in names[len(SPECIFIED) :])


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=made_requests)
def test_charges_add_up_to_the_facts_whatever_was_asked(rows: list[dict[str, Any]]) -> None:
    parts = [
        {"request_key": 1, "part": 0, "model_id": "made-1", "tok_input": 1000, "tok_output": 10},
        {"request_key": 1, "part": 1, "model_id": "made-4", "tok_input": 2000, "tok_output": 20},
    ]
    warehouse = priced(rows, A, parts)
    with warehouse.session() as session:
        for hourly in (False, True):
            found = everything(session, hourly=hourly, zone="Europe/Berlin")
            assert usd(found, "ContractedCost") == facts(session, "cost_pusd")
            assert usd(found, "ListCost") == facts(session, "cost_list_pusd")
            assert usd(found, "BilledCost") == usd(found, "ContractedCost")
    warehouse.close()


def test_what_the_specification_asks_for_beside_a_name_is_filled_where_the_name_is() -> None:
    """FOCUS 1.2: an account has a type, a place a name, a SKU a meter, a quantity a unit, a resource a type."""
    asked = {"BillingAccountId": "BillingAccountType", "RegionId": "RegionName", "SkuId": "SkuMeter"}
    asked |= {"PricingQuantity": "PricingUnit", "ConsumedQuantity": "ConsumedUnit", "ResourceId": "ResourceType"}
    asked |= {"CommitmentDiscountId": "CommitmentDiscountType", "SubAccountId": "SubAccountType"}
    warehouse = priced([{"model": "made-1", "start_us": START_US + at, **CLASSES} for at in (5, 6)], CACHING)
    with warehouse.writing() as session:
        session.connection.execute("UPDATE requests SET region = 'eu-west-1', account = 'org-1' WHERE request_key = 1")
    with warehouse.session() as session:
        found = everything(session)
    warehouse.close()
    assert set(found["RegionName"]) == {"eu-west-1", None}
    for name, beside in asked.items():
        assert found[name].is_null().equals(found[beside].is_null(), check_names=False), beside
    allowed = {"ChargeCategory": {"Usage"}, "ChargeFrequency": {"Usage-Based"}, "PricingCategory": {"Standard"}}
    for name, values in allowed.items():
        assert set(found[name]) == values


def test_each_class_is_a_charge_with_its_own_price_and_the_parts_add_up() -> None:
    warehouse = priced([{"model": "made-1", "start_us": START_US + 5, **CLASSES}], CACHING)
    with warehouse.session() as session:
        found = everything(session)
        assert usd(found, "ContractedCost") == facts(session, "cost_pusd")
        writes = found.filter(pl.col("x_TokenClass").str.starts_with("cache_write"))
        assert usd(writes, "ContractedCost") == facts(session, "cache_write_pusd")
    by_class = {row["x_TokenClass"]: row for row in found.to_dicts()}
    assert {name: row["ConsumedQuantity"] for name, row in by_class.items()} == {
        name.removeprefix("tok_"): count for name, count in CLASSES.items()
    }
    assert by_class["cache_write_1h"]["ContractedUnitPrice"] == Decimal("0.0000020000001")
    for row in by_class.values():
        assert abs(row["ContractedUnitPrice"] * row["PricingQuantity"] - row["ContractedCost"]) <= Decimal("3e-12")
        assert (row["PricingUnit"], row["ConsumedUnit"], row["x_Confidence"]) == ("Tokens", "Tokens", "confirmed")
        assert row["SkuPriceId"].startswith("openai/made-1@")
    warehouse.close()


def test_list_and_contract_stand_side_by_side_where_own_terms_differ() -> None:
    rows = [{"model": "gpt-4o", "start_us": START_US, "tok_input": 1000, "tok_cache_read": 500, "tok_output": 10}]
    warehouse = priced(
        rows, 'rates:\n  - {provider: openai, model: gpt-4o, input: "2", cache_read: "1", output: "8"}\n'
    )
    with warehouse.session() as session:
        by_class = {row["x_TokenClass"]: row for row in everything(session).to_dicts()}
    assert by_class["input"]["ContractedCost"] == Decimal("0.002")
    assert by_class["input"]["ListCost"] == Decimal("0.0025")
    assert (by_class["input"]["ContractedUnitPrice"], by_class["input"]["ListUnitPrice"]) == (
        Decimal("0.000002"),
        Decimal("0.0000025"),
    )
    assert by_class["cache_read"]["ListCost"] == Decimal("0.000625")
    assert by_class["output"]["ListCost"] == Decimal("0.0001")
    warehouse.close()


def test_an_unpriced_charge_is_there_without_a_cost_and_strict_leaves_it_out() -> None:
    rows = [
        {"model": "made-1", "start_us": START_US, "tok_input": 1000},
        {"model": "nobody-knows-9", "start_us": START_US, "tok_input": 700},
        {"model": "made-1", "tok_input": 500},
        {"model": "made-1", "start_us": START_US},
    ]
    warehouse = priced(rows, A)
    with warehouse.session() as session:
        found = everything(session)
    unpriced = found.filter(pl.col("x_Model") == "nobody-knows-9").to_dicts()
    assert [(row["ContractedCost"], row["BilledCost"], row["ConsumedQuantity"]) for row in unpriced] == [
        (None, None, 700)
    ]
    assert unpriced[0]["x_CostState"] == "unpriced"
    assert found.filter(pl.col("x_TokenClass") == "usage_unknown")["x_CostState"].to_list() == ["unknown"]
    undated = found.filter(pl.col("ChargePeriodStart").is_null())
    assert undated["ConsumedQuantity"].to_list() == [500]
    assert found.filter(pl.col("x_CostState") == "priced")["ListCost"].null_count() == 2, "made-1 is on no list"
    kept = focus.allowed(found)
    assert kept["ConsumedQuantity"].to_list() == [1000]
    mandatory = [name for name in focus.NEVER_NULL if kept[name].null_count()]
    assert mandatory == []
    warehouse.close()


def test_only_what_is_billed_by_the_request_was_billed() -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add(
            session,
            [
                {"model": "made-1", "start_us": START_US, "tok_input": 1000, "source": source}
                for source in ("paid", "seats", "said-nothing")
            ],
        )
        add_source(session, "paid", "api")
        add_source(session, "seats", "subscription")
        rollup.rebuild(session)
    change(warehouse, by(A))
    with warehouse.session() as session:
        billed = {row["x_Source"]: row["BilledCost"] for row in everything(session).to_dicts()}
        assert usd(everything(session), "ContractedCost") == Decimal("0.003")
    assert billed == {"paid": Decimal("0.001"), "seats": Decimal(0), "said-nothing": None}
    warehouse.close()


def test_periods_are_local_days_or_hours_inside_their_calendar_month() -> None:
    rows = [{"model": "made-1", "start_us": START_US + hour * DAY_US // 24, "tok_input": 10} for hour in range(30)]
    warehouse = priced(rows, A)
    with warehouse.session() as session:
        days = everything(session, zone="America/New_York")
        hours = everything(session, hourly=True, zone="America/New_York")
    assert days["ChargePeriodStart"].dt.to_string("%d %H").to_list() == ["31 04", "01 04", "02 05"]
    assert days["BillingPeriodStart"].dt.to_string("%m-%d %H").to_list() == ["10-01 04", "11-01 04", "11-01 04"]
    assert days["BillingPeriodEnd"].dt.to_string("%m-%d %H").to_list() == ["11-01 04", "12-01 05", "12-01 05"]
    assert hours.height == 30
    assert (hours["ChargePeriodEnd"] - hours["ChargePeriodStart"]).dt.total_minutes().unique().to_list() == [60]
    warehouse.close()


def test_tags_are_json_whatever_people_call_their_features() -> None:
    warehouse = priced([{"model": "made-1", "start_us": START_US, "tok_input": 10}], A)
    name = 'say "hi" \\ =1+1\n'
    with warehouse.writing() as session:
        session.connection.execute(
            "INSERT INTO attribution VALUES (1, $name, 'unassigned', 'prod', NULL, 'tag', 1)", {"name": name}
        )
    with warehouse.session() as session:
        (row,) = everything(session).to_dicts()
    assert json.loads(row["Tags"]) == {"feature": name.replace("\n", " "), "environment": "prod"}
    assert json.loads(row["SkuPriceDetails"])["x_TokenClass"] == "input"
    warehouse.close()


def test_costs_as_of_an_earlier_version_can_be_exported() -> None:
    rows = [{"model": "made-1", "start_us": START_US, "tok_input": 1000}]
    warehouse = priced(rows, A)
    change(warehouse, by(B))
    with warehouse.session() as session:
        assert usd(everything(session), "ContractedCost") == Decimal("0.0015")
        assert usd(everything(session, as_of=1), "ContractedCost") == Decimal("0.001")
        (unpriced,) = everything(session, as_of=0).to_dicts()
        assert unpriced["ContractedCost"] is None
        (span,) = spans(session, Wanted(0, ledger.END_OF_TIME, "UTC", 1), bills=False)
        (frame,) = request_rows(session, span, Wanted(0, ledger.END_OF_TIME, "UTC", 1))
        assert frame["cost_usd"].to_list() == [Decimal("0.001")]
    warehouse.close()
