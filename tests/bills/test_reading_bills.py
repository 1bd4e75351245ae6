"""Every export of a bill becomes the same kind of lines: exact amounts, single tokens, UTC days."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import CUR, NOV_27, bucket

from app.core.billed import BILLED_CLASSES, BilledLine
from app.core.usage import Rejected
from ingest.formats import detect_format, format_named
from ingest.formats.bills import BILLS, wording
from ingest.formats.format import Origin

if TYPE_CHECKING:
    from pathlib import Path


def lines(record: Any, form: str | None = None) -> list[BilledLine]:
    chosen = format_named(form) if form else detect_format([record])
    assert chosen in BILLS
    given = list(chosen.parse(record, Origin("s", "f", 1)))
    assert all(isinstance(item, BilledLine) for item in given), given
    return [item for item in given if isinstance(item, BilledLine)]


USAGE = {
    "object": "organization.usage.completions.result",
    "input_tokens": 1_000,
    "input_cached_tokens": 300,
    "input_uncached_tokens": 500,
    "input_cache_write_tokens": 200,
    "input_cache_write_30m_tokens": 150,
    "input_cache_write_12h_tokens": 50,
    "input_audio_tokens": 40,
    "input_cached_audio_tokens": 20,
    "input_image_tokens": 10,
    "output_tokens": 90,
    "output_audio_tokens": 30,
    "num_model_requests": 7,
    "project_id": "proj_1",
    "model": "gpt-x",
    "batch": True,
    "service_tier": "flex",
}


def test_openai_usage_is_taken_apart_into_classes_that_add_up() -> None:
    given = lines(bucket(USAGE))
    assert {line.usage_class: int(line.quantity or 0) for line in given} == {
        "input": 450,
        "cache_read": 280,
        "cache_read_audio": 20,
        "cache_write_30m": 150,
        "cache_write_12h": 50,
        "input_audio": 40,
        "input_image": 10,
        "output": 60,
        "output_audio": 30,
    }
    assert {(line.day, line.account, line.model, line.is_batch, line.service_tier) for line in given} == {
        ("2026-11-27", "proj_1", "gpt-x", True, "flex")
    }
    assert sum(line.requests or 0 for line in given) == 7
    assert all(line.cost is None for line in given)


def test_older_openai_usage_counts_audio_beside_text() -> None:
    older = {name: USAGE[name] for name in ("object", "input_tokens", "output_tokens", "num_model_requests")}
    given = lines(bucket({**older, "output_tokens": 822, "output_audio_tokens": 3_103, "input_cached_tokens": 100}))
    assert {line.usage_class: line.quantity for line in given} == {
        "input": 900,
        "cache_read": 100,
        "output": 822,
        "output_audio": 3_103,
    }


@pytest.mark.parametrize(
    ("item", "model", "usage_class"),
    [
        ("gpt-x-2026-06-18, input", "gpt-x-2026-06-18", "input"),
        ("gpt-x, cached input", "gpt-x", "cache_read"),
        ("gpt-x, cache writes", "gpt-x", "cache_write"),
        ("gpt-x, output", "gpt-x", "output"),
        ("gpt-4o-mini", "gpt-4o-mini", "tokens"),
        ("web search tool calls", None, "web_search"),
        ("assistants api | file search", None, "other"),
    ],
)
def test_openai_line_items_name_model_and_class(item: str, model: str | None, usage_class: str) -> None:
    result = {"object": "organization.costs.result", "amount": {"value": 0.06, "currency": "usd"}, "line_item": item}
    (line,) = lines(bucket(result))
    assert (line.model, line.usage_class, line.cost, line.currency) == (model, usage_class, Decimal("0.06"), "USD")


def test_the_exports_of_openais_dashboard_say_the_same_as_its_pages() -> None:
    row = {"start_time": str(NOV_27), "amount_value": "1.50", "amount_currency": "usd", "line_item": "gpt-x, output"}
    (line,) = lines({**row, "project_id": "p", "organization_id": "org-1"})
    assert (line.cost, line.scope, line.account, line.page) == (Decimal("1.50"), "org-1/p", "p", False)
    empty = {**row, "amount_value": "", "line_item": "", "project_id": ""}
    (nothing,) = format_named("openai_org_costs").parse(empty, Origin("s", "f", 1))
    assert isinstance(nothing, Rejected)
    assert nothing.benign


def test_anthropic_amounts_are_cents_in_the_api_and_dollars_in_the_console() -> None:
    result = {"currency": "USD", "amount": "123.45", "model": "claude-x", "token_type": "output_tokens"}
    page = {"data": [{"starting_at": "2026-11-27T00:00:00Z", "results": [result]}], "has_more": False}
    (line,) = lines(page)
    assert (line.cost, line.usage_class) == (Decimal("1.2345"), "output")
    row = {"usage_date_utc": "2026-11-27", "model": "claude-x", "workspace": "Default", "token_type": "cache read"}
    (line,) = lines({**row, "cost_usd": "1.2345", "list_price_usd": "2", "usage_type": "batch"})
    assert (line.cost, line.usage_class, line.is_batch) == (Decimal("1.2345"), "cache_read", True)


@pytest.mark.parametrize(
    ("token_type", "usage_class"),
    [
        ("input_no_cache", "input"),
        ("input_cache_read", "cache_read"),
        ("input_cache_write_5m", "cache_write_5m"),
        ("input_cache_write_1h", "cache_write_1h"),
        ("output", "output"),
    ],
)
def test_the_consoles_token_types_are_classes_and_its_names_of_models_those_of_the_api(
    token_type: str, usage_class: str
) -> None:
    row = {"usage_date_utc": "2026-11-27", "model": "Claude Sonnet 4.5", "workspace": "Default", "api_key": "key"}
    (line,) = lines(
        {**row, "usage_type": "standard", "token_type": token_type, "cost_usd": "1.25", "cost_type": "token"}
    )
    assert (line.usage_class, line.model) == (usage_class, "claude-sonnet-4-5")


@pytest.mark.parametrize("said", ["non-cached input", "no cache input tokens", "input, not cached", "uncached input"])
def test_what_is_not_cached_is_input(said: str) -> None:
    assert wording.usage_class(said) == "input"


def test_anthropics_usage_says_lifetimes_of_cache_writes() -> None:
    row = {
        "usage_date_utc": "2026-03-31 02:00",
        "model_version": "claude-x",
        "workspace": "Default",
        "usage_type": "standard",
        "usage_input_tokens_no_cache": "10",
        "usage_input_tokens_cache_write_5m": "20",
        "usage_input_tokens_cache_write_1h": "30",
        "usage_input_tokens_cache_read": "40",
        "usage_output_tokens": "50",
        "web_search_count": "1",
    }
    given = lines(row)
    assert [(line.usage_class, int(line.quantity or 0)) for line in given] == [
        ("input", 10),
        ("cache_read", 40),
        ("cache_write_5m", 20),
        ("cache_write_1h", 30),
        ("output", 50),
        ("web_search", 1),
    ]
    assert {line.day for line in given} == {"2026-03-31"}


@pytest.mark.parametrize(
    ("usage_type", "model", "usage_class", "batch"),
    [
        ("USW2-Claude4.6Sonnet-cache-read-input-token-count", "claude-sonnet-4-6", "cache_read", None),
        ("USE1-Claude3.5Sonnet-output-tokens", "claude-3-5-sonnet", "output", None),
        ("USE1-Claude4Sonnet-input-tokens-cross-region-global", "claude-sonnet-4", "input", None),
        (
            "USW2-anthropic.claude-opus-4-8-mantle-cache-write-tokens-standard",
            "anthropic.claude-opus-4-8",
            "cache_write",
            None,
        ),
        ("USE1-Claude4.6Sonnet-output-tokens-batch", "claude-sonnet-4-6", "output", True),
    ],
)
def test_aws_usage_types_name_model_class_and_tier(
    usage_type: str, model: str, usage_class: str, batch: bool | None
) -> None:
    (line,) = lines({**CUR, "line_item_usage_type": usage_type})
    assert (line.model, line.usage_class, line.is_batch) == (model, usage_class, batch)
    assert line.quantity == 17_330


def test_the_older_report_of_aws_is_read_under_its_own_names() -> None:
    older = {
        "lineItem/UsageType": "USE1-Claude4.6Sonnet-input-tokens",
        "lineItem/UnblendedCost": "1.5",
        "lineItem/UsageStartDate": "2026-11-27T00:00:00Z",
        "lineItem/ProductCode": "AmazonBedrock",
        "lineItem/UsageAccountId": "2",
        "lineItem/UsageAmount": "5",
        "lineItem/LineItemType": "Usage",
    }
    (line,) = lines(older)
    assert (line.model, line.cost, line.account) == ("claude-sonnet-4-6", Decimal("1.5"), "2")
    assert line.quantity is None, "without its unit an amount may be tokens or thousands of them"


def test_lines_of_other_services_are_kept_apart() -> None:
    (line,) = lines({**CUR, "line_item_product_code": "AmazonEC2", "line_item_usage_type": "USE1-BoxUsage:m5.large"})
    assert (line.kind, line.model, line.line_item, line.cost) == ("other", None, "AmazonEC2", Decimal("0.0572"))


def test_google_credits_are_lines_of_their_own() -> None:
    row = {
        "service": {"description": "Vertex AI"},
        "sku": {"description": "Gemini 3.8 Flash Text Input - Predictions"},
        "usage_start_time": "2026-11-27 23:00:00 UTC",
        "project": {"id": "acme"},
        "cost": 0.606,
        "currency": "EUR",
        "usage": {"amount": 808000.0, "unit": "count"},
        "credits": [{"name": "promo", "amount": -0.1, "type": "PROMOTION"}],
    }
    charge, credit = lines(row)
    assert (charge.model, charge.usage_class, charge.quantity) == ("gemini-3.8-flash", "input", 808_000)
    assert (charge.cost, charge.currency, charge.day) == (Decimal("0.606"), "EUR", "2026-11-27")
    assert (credit.kind, credit.cost) == ("credit", Decimal("-0.1"))
    flat = {"service.description": "Vertex AI", "sku.description": "Claude Sonnet 4.6 Output Tokens", "cost": "2"}
    (line,) = lines({**flat, "usage_start_time": "2026-11-27T00:00:00Z", "project.id": "acme"})
    assert (line.model, line.usage_class, line.account) == ("claude-sonnet-4-6", "output", "acme")


@pytest.mark.parametrize(
    ("meter", "unit", "model", "usage_class", "region"),
    [
        ("5.4 cd inp Gl 1M Tokens", "1M", "gpt-5.4", "cache_read", "global"),
        ("5.4 opt Gl 1M Tokens", "1M", "gpt-5.4", "output", "global"),
        ("gpt-4o-mini-0718 Inp DZone Tokens", "1K", "gpt-4o-mini", "input", "data zone"),
        ("gpt 4o 1120 cached Inp glbl Tokens", "1K", "gpt-4o", "cache_read", "global"),
        ("gpt-4o 1120 Outp glbl Tokens", "1K", "gpt-4o", "output", "global"),
    ],
)
def test_azure_meters_name_model_class_and_place(
    meter: str, unit: str, model: str, usage_class: str, region: str
) -> None:
    row = {"Date": "11/27/2026", "MeterCategory": "Foundry Models", "MeterName": meter, "UnitOfMeasure": unit}
    (line,) = lines(
        {**row, "Quantity": 4.1, "CostInBillingCurrency": 1.025, "SubscriptionId": "s", "ChargeType": "Usage"}
    )
    assert (line.model, line.usage_class, line.region, line.day) == (model, usage_class, region, "2026-11-27")
    assert line.quantity == Decimal("4.1") * (1_000_000 if unit == "1M" else 1_000)
    (lower,) = lines(
        {name[0].lower() + name[1:]: value for name, value in {**row, "Cost": "3", "Quantity": "1"}.items()}
    )
    assert lower.cost == 3


def test_openrouter_has_one_cost_a_model_and_tokens_by_class() -> None:
    row = {
        "date": "2026-11-27",
        "model": "anthropic/claude-x",
        "usage": 11.5,
        "requests": 9,
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "reasoning_tokens": 5,
        "cached_tokens": 60,
    }
    given = lines({"data": [row]})
    assert [(line.usage_class, line.cost, int(line.quantity or 0)) for line in given] == [
        ("tokens", Decimal("11.5"), 120),
        ("input", None, 40),
        ("cache_read", None, 60),
        ("output", None, 20),
    ]


def test_every_class_that_wording_finds_is_known() -> None:
    said = [
        "cached audio input",
        "audio output",
        "image input",
        "cache write 1h",
        "Tokens",
        "web search",
        "x",
        "prompt",
    ]
    assert {wording.usage_class(text) for text in said} <= set(BILLED_CLASSES)


SAMPLES = {
    "openai_org_costs": ("openai_org_costs", {"input": 1_100_000}, "4.4"),
    "openai_org_usage_completions": (
        "openai_org_usage",
        {"input": 1_100_000, "cache_read": 4_100_000, "cache_write_30m": 200_000, "output": 310_000},
        None,
    ),
    "anthropic_usage_report_messages": (
        "anthropic_usage_report",
        {
            "input": 120_000,
            "cache_read": 5_200_000,
            "cache_write_5m": 260_000,
            "cache_write_1h": 40_000,
            "output": 88_000,
            "web_search": 12,
        },
        None,
    ),
    "anthropic_cost_report": ("anthropic_cost_report", {}, "0.24"),
    "anthropic_analytics_cost": ("anthropic_cost_report", {}, "0.216"),
    "anthropic_analytics_usage": (
        "anthropic_usage_report",
        {
            "input": 120_000,
            "cache_read": 5_200_000,
            "cache_write_5m": 260_000,
            "cache_write_1h": 40_000,
            "output": 88_000,
            "web_search": 12,
        },
        None,
    ),
    "aws_cur2_bedrock": ("aws_cur", {"cache_read": 5_372_659}, "1.77297747"),
    "azure_cost_details": ("azure_cost", {"cache_read": 4_100_000}, "1.025"),
    "gcp_billing_export": ("gcp_billing", {"input": 808_000}, "0.506"),
    "focus_1_2": ("focus", {"cache_read": 5_372_659}, "1.77297747"),
    "openrouter_activity": (
        "openrouter_activity",
        {"tokens": 11_535_360, "input": 1_802_400, "cache_read": 9_012_000, "output": 720_960},
        "11.7156",
    ),
}


@pytest.mark.data
@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_record_is_read_to_its_classes_and_cost(name: str, data_dir: Path) -> None:
    form, quantities, cost = SAMPLES[name]
    given: list[BilledLine] = []
    for text in (data_dir.parent / f"samples/{name}.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(text)
        chosen = detect_format([record])
        assert chosen is not None
        assert chosen.name == form
        given += lines(record)
    assert {line.usage_class: int(line.quantity) for line in given if line.quantity is not None} == quantities
    known = [line.cost for line in given if line.cost is not None]
    assert (sum(known) if known else None) == (None if cost is None else Decimal(cost))


@pytest.mark.parametrize(("value", "kind"), [("-1.25", "credit"), ("1.25", "usage"), ("0", "usage")])
def test_a_negative_line_of_openais_costs_is_a_credit(value: str, kind: str) -> None:
    cost = {"object": "organization.costs.result", "line_item": "gpt-4o-2024-08-06, input", "project_id": "proj_1"}
    (line,) = lines(bucket({**cost, "amount": {"value": value, "currency": "usd"}}))
    assert (line.kind, line.cost, line.usage_class) == (kind, Decimal(value), "input")


@pytest.mark.parametrize(
    ("said", "tier", "batch"),
    [("batch", "standard", True), ("standard", "standard", False), ("priority", "priority", False), (None, None, None)],
)
def test_the_tier_batch_of_anthropics_usage_is_the_batch_price(said: str | None, tier: str, batch: bool | None) -> None:
    usage = {"uncached_input_tokens": 100, "output_tokens": 10, "model": "claude-haiku-4-5", "service_tier": said}
    page = {"data": [{"starting_at": "2026-11-27T00:00:00Z", "results": [usage]}], "has_more": False}
    given = lines(page, "anthropic_usage_report")
    assert [(line.service_tier, line.is_batch) for line in given] == [(tier, batch)] * 2


@pytest.mark.parametrize(
    ("item", "batch"), [("gpt-4o-2024-08-06, batch input", True), ("gpt-4o-2024-08-06, input", None)]
)
def test_a_batch_line_of_openais_costs_is_one(item: str, batch: bool | None) -> None:
    cost = {"object": "organization.costs.result", "line_item": item, "amount": {"value": "1", "currency": "usd"}}
    (line,) = lines(bucket(cost))
    assert (line.model, line.usage_class, line.is_batch) == ("gpt-4o-2024-08-06", "input", batch)
