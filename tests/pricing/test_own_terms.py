"""The user's file: negotiated rates, discounts, self-hosted rates; list and contract cost side by side."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.core.errors import InputError
from app.pricing.book import PriceBook
from app.pricing.rules import overlay_from_rows
from tests.pricing.moments import us
from tests.pricing.own_book import book_from, book_with

if TYPE_CHECKING:
    from tests.pricing.conftest import PriceRows

CALL = {
    "provider": "anthropic", "model": "claude-opus-4-5", "start_us": us("2026-01-10"), "tok_input": 10_000,
    "tok_output": 1_000,
}  # fmt: skip
USD = 10**12


def test_discount_lowers_the_contract_cost_and_leaves_the_list_cost(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "discounts:\n  - {provider: anthropic, factor: 0.8, from: 2026-01-01}\n")
    before, after = price_rows([{**CALL, "start_us": us("2025-12-31")}, CALL], own)
    assert (before["cost_list_pusd"], before["cost_pusd"]) == (75 * USD // 1000, 75 * USD // 1000)
    assert (after["cost_list_pusd"], after["cost_pusd"]) == (75 * USD // 1000, 60 * USD // 1000)
    assert after["price_row"].startswith("anthropic/claude-opus-4-5@2026-01-01 contract")


def test_discount_of_one_account_leaves_the_others_alone(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "discounts:\n  - {provider: anthropic, account: 'acme-*', factor: 0.5}\n")
    rows = [{**CALL, "account": account} for account in ("acme-eu", "other", None)]
    assert [row["cost_pusd"] for row in price_rows(rows, own)] == [37_500_000_000, 75_000_000_000, 75_000_000_000]


def test_negotiated_rate_replaces_only_the_classes_it_names(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "provider,model,input,output\nanthropic,claude-opus-4-5-20251101,4,20\n", "prices.csv")
    (row,) = price_rows([{**CALL, "tok_cache_read": 100_000}], own)
    assert row["input_pusd"] == 40 * USD // 1000
    assert row["cache_read_pusd"] == 50 * USD // 1000
    assert row["output_pusd"] == 20 * USD // 1000


def test_batch_keeps_its_price_under_a_negotiated_standard_rate(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "rates:\n  - {provider: anthropic, model: claude-opus-4-5, input: 4, output: 20}\n")
    (row,) = price_rows([{**CALL, "is_batch": True}], own)
    assert row["cost_pusd"] == 37_500_000_000


def test_self_hosted_model_has_the_rates_of_the_file_and_nothing_else(price_rows: PriceRows) -> None:
    own = book_with(
        overlay_from_rows([{"provider": "hosted_vllm", "model": "qwen3-32b", "input": "0.2", "output": "0.6"}])
    )
    rows = [{**CALL, "provider": "hosted_vllm", "model": name} for name in ("hosted_vllm/qwen3-32b", "qwen3-14b")]
    known, unknown = price_rows(rows, own)
    assert known["cost_pusd"] == 2_600_000_000
    assert (unknown["cost_pusd"], unknown["cost_state"]) == (None, "unpriced")


def test_fraction_of_a_pico_dollar_is_rounded_half_to_even(price_rows: PriceRows) -> None:
    own = book_with(overlay_from_rows([{"provider": "p", "model": "m", "input": "0.0000005", "output": "0.0000015"}]))
    rows = [{"provider": "p", "model": "m", "tok_input": n, "tok_output": n} for n in (1, 2, 3, 4, 5)]
    priced = price_rows(rows, own)
    assert [row["input_pusd"] for row in priced] == [0, 1, 2, 2, 2]
    assert [row["output_pusd"] for row in priced] == [2, 3, 4, 6, 8]


def test_rates_in_scientific_notation_are_numbers() -> None:
    own = book_with(overlay_from_rows([{"provider": "p", "model": "m", "input": "5e0", "output": "2.5E+1"}]))
    rate = own.rate("p", "m", at_us=0)
    assert rate is not None
    assert (rate.rates["r_input"], rate.rates["r_output"]) == (5_000_000, 25_000_000)


def test_book_with_own_terms_has_a_version_of_its_own(tmp_path: Path, book: PriceBook) -> None:
    first = book_from(tmp_path, "discounts:\n  - {provider: anthropic, factor: 0.8}\n")
    second = book_from(tmp_path, "discounts:\n  - {provider: anthropic, factor: 0.7}\n")
    assert len({book.version, first.version, second.version}) == 3


@pytest.mark.parametrize(
    ("name", "text", "place", "field"),
    [
        ("p.yml", "rates:\n  - {provider: openai, model: gpt-4o, input: cheap}\n", "p.yml, line 2", "'input'"),
        ("p.yml", "rates:\n  - {provider: openai, model: gpt-4o, input: -1}\n", "p.yml, line 2", "'input'"),
        ("p.yml", "rates:\n  - provider: openai\n    inptu: 3\n", "p.yml, line 2", "'inptu'"),
        ("p.yml", "rates:\n  - {model: gpt-4o, input: 1}\n", "p.yml, line 2", "'provider'"),
        ("p.yml", "rates:\n  - {provider: openai, input: 1, from: yesterday}\n", "p.yml, line 2", "'from'"),
        ("p.yml", "discounts:\n\n  - {provider: openai, factor: x}\n", "p.yml, line 3", "'factor'"),
        ("p.yml", "aliases:\n  - {provider: azure, name: chat}\n", "p.yml, line 2", "'model'"),
        ("p.yml", "ratse: []\n", "p.yml, line 1", "'ratse'"),
        ("p.yml", "rates: [\n", "p.yml, line 2", "YAML"),
        ("p.csv", "provider,model,input\nopenai,gpt-4o,2\nopenai,gpt-4o,two\n", "p.csv, line 3", "'input'"),
        ("p.csv", "provider,model,input\nopenai,gpt-4o,2,9\n", "p.csv, line 2", "heading"),
    ],
)
def test_wrong_price_file_is_named_by_line_and_field(
    tmp_path: Path, name: str, text: str, place: str, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        book_from(tmp_path, text, name)
    assert place in str(caught.value)
    assert field in str(caught.value)


def test_missing_price_file_says_which() -> None:
    with pytest.raises(InputError, match=r"nowhere\.yml cannot be read"):
        PriceBook.load(None, Path("/nowhere.yml"))


def _input_usd(folder: Path, text: str, at: str, *, account: str | None = None, ctx: str = "") -> Decimal:
    rate = book_from(folder, text).rate("openai", "gpt-4.1", at_us=us(at), account=account, ctx=ctx)
    assert rate is not None
    value = rate.rates["r_input"]
    assert value is not None
    return value / 1_000_000


OLD_RATE = "  - {provider: openai, model: gpt-4.1, from: 2026-01-01, input: 1.8}\n"
NEW_RATE = "  - {provider: openai, model: gpt-4.1, from: 2026-06-01, input: 1.6}\n"


@pytest.mark.parametrize("order", [(OLD_RATE, NEW_RATE), (NEW_RATE, OLD_RATE)])
def test_later_agreement_holds_whatever_the_order_of_the_file(tmp_path: Path, order: tuple[str, str]) -> None:
    text = "rates:\n" + "".join(order)
    prices = [_input_usd(tmp_path, text, day) for day in ("2025-12-31", "2026-03-01", "2026-06-01", "2026-11-01")]
    assert prices == [Decimal(2), Decimal("1.8"), Decimal("1.6"), Decimal("1.6")]


GENERAL_RATE = '  - {provider: openai, model: "gpt-4*", input: 1.9}\n'
MODEL_RATE = "  - {provider: openai, model: gpt-4.1, input: 1.7}\n"
PLACE_RATE = "  - {provider: openai, model: gpt-4.1, ctx: region=eu, input: 1.5}\n"
ACCOUNT_RATE = '  - {provider: openai, model: "*", account: acme, input: 1.2}\n'


@pytest.mark.parametrize("backwards", [False, True])
def test_narrower_rate_wins_over_the_wider_one_whatever_the_order_of_the_file(tmp_path: Path, backwards: bool) -> None:
    lines = [GENERAL_RATE, MODEL_RATE, PLACE_RATE, ACCOUNT_RATE]
    text = "rates:\n" + "".join(reversed(lines) if backwards else lines)
    day = "2026-11-01"
    assert _input_usd(tmp_path, text, day) == Decimal("1.7")
    assert _input_usd(tmp_path, text, day, ctx="region=eu") == Decimal("1.5")
    assert _input_usd(tmp_path, text, day, account="acme") == Decimal("1.2")


def test_new_discount_replaces_the_one_it_follows_and_is_applied_once(tmp_path: Path) -> None:
    text = (
        "discounts:\n  - {provider: openai, percent: 10, from: 2026-01-01}\n"
        "  - {provider: openai, percent: 20, from: 2026-07-01}\n"
        "  - {provider: openai, model: gpt-4.1, factor: 0.5, from: 2026-10-01}\n"
    )
    prices = [_input_usd(tmp_path, text, day) for day in ("2026-03-01", "2026-08-01", "2026-11-01")]
    assert prices == [Decimal("1.8"), Decimal("1.6"), Decimal("0.8")]


@pytest.mark.parametrize(
    ("tiers", "usd"),
    [
        ("[{above: 500000, input: 4}, {above: 200000, input: 2}]", {1000: 1, 200_001: 2, 500_001: 4}),
        ("[{above: 200000, input: 2}, {above: 500000, input: 4}]", {1000: 1, 200_001: 2, 500_001: 4}),
    ],
)
def test_tiers_hold_by_their_length_and_not_by_their_place(tmp_path: Path, tiers: str, usd: dict[int, int]) -> None:
    own = book_from(tmp_path, f"rates:\n  - {{provider: gateway, model: own, input: 1, output: 1, tiers: {tiers}}}\n")
    for prompt, price in usd.items():
        rate = own.rate("gateway", "own", at_us=us("2026-11-01"), prompt_tokens=prompt)
        assert rate is not None
        assert rate.rates["r_input"] == price * 1_000_000


def test_weekdays_may_go_over_the_end_of_the_week(tmp_path: Path) -> None:
    text = "rates:\n  - {provider: gateway, model: own, input: 1}\n"
    own = book_from(tmp_path, text + "  - {provider: gateway, model: own, weekdays: fri-mon, input: 2}\n")
    rates = [own.rate("gateway", "own", at_us=us(f"2026-11-{day:02d}")) for day in range(2, 9)]  # Monday to Sunday
    assert [None if rate is None else rate.rates["r_input"] for rate in rates] == [
        Decimal(usd) * 1_000_000 for usd in (2, 1, 1, 1, 2, 2, 2)
    ]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("from: 2026-06-01, to: 2026-06-01, input: 1", "not after `from`"),
        ("from: 2026-06-01, to: 2026-05-01, input: 1", "not after `from`"),
        ('minutes: "08:00-25:00", input: 1', "no window"),
        ('minutes: "08:70-09:00", input: 1', "no window"),
        ('minutes: "08:00-08:00", input: 1', "no window"),
        ("input: 1, tiers: [{above: 5, input: 2}, {above: 5, input: 3}]", "twice"),
        ("input: 1, tiers: [{above: 5.5, input: 2}]", "no whole number"),
    ],
)
def test_entry_that_could_never_hold_as_written_is_refused(tmp_path: Path, entry: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        book_from(tmp_path, f"rates:\n  - {{provider: gateway, model: own, {entry}}}\n")


@pytest.mark.parametrize(
    ("kind", "usd"),
    [
        ("deployment=GlobalBatch", "1"),
        ("deployment=datazonestandard region=SwedenCentral", "2.2"),
        ("deployment=DataZoneBatch", "1.1"),
        ("deployment=GlobalStandard", "2"),
    ],
)
def test_alias_names_the_type_of_its_deployment_in_any_spelling(tmp_path: Path, kind: str, usd: str) -> None:
    entry = f'  - {{provider: azure, name: team-chat, model: openai/gpt-4.1, ctx: "{kind}"}}\n'
    rate = book_from(tmp_path, "aliases:\n" + entry).rate("azure", "team-chat", at_us=us("2026-11-01"))
    assert rate is not None
    assert rate.rates["r_input"] == Decimal(usd) * 1_000_000


@pytest.mark.parametrize(
    "model",
    [
        "acme-secret-1",
        "Acme/Secret-1",
        "us.anthropic.unheard-of-v9",
        "llama-3.3-70b-instruct",
        "ft:gpt-4o:a:b",
    ],
)
def test_rate_of_the_provider_unassigned_prices_requests_whose_provider_nobody_names(
    tmp_path: Path, price_rows: PriceRows, model: str
) -> None:
    named = f'- {{provider: hosted_vllm, model: "{model}", input: 5, output: 7}}'
    unnamed = f'- {{provider: "unassigned", model: "{model}", input: 1, output: 2}}'
    own = book_from(tmp_path, f"rates:\n  {named}\n  {unnamed}\n")
    call = {**CALL, "model": model}
    without, with_provider = price_rows([{**call, "provider": None}, {**call, "provider": "hosted_vllm"}], own)
    assert (without["cost_state"], without["cost_pusd"]) == ("priced", 12_000 * USD // 10**6)
    assert (with_provider["cost_state"], with_provider["cost_pusd"]) == ("priced", 57_000 * USD // 10**6)
    (elsewhere,) = price_rows([{**call, "provider": "a-host-without-rates"}], own)
    assert elsewhere["cost_state"] == "unpriced"
