"""The priced join: exact parts, honest states, no neighbour's price, the same answer in any order."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.usage import CACHE_WRITE_CLASSES, COST_PARTS, INPUT_CLASSES, TOKEN_CLASSES
from app.pricing.rates import FEES
from tests.pricing.moments import us

if TYPE_CHECKING:
    from app.pricing.book import PriceBook
    from app.pricing.rules import Rule
    from tests.pricing.conftest import PriceRows

PARTS = {
    "input_pusd": ("tok_input", "tok_input_audio", "tok_input_image"),
    "cache_read_pusd": ("tok_cache_read", "tok_cache_read_audio"),
    "cache_write_pusd": CACHE_WRITE_CLASSES,
    "output_pusd": ("tok_output", "tok_output_audio", "tok_output_image"),
    "reasoning_pusd": ("tok_reasoning",),
}
MODELS = [
    ("openai", "gpt-4o"), ("openai", "gpt-5.6-sol"), ("openai", "gpt-audio"), ("anthropic", "claude-opus-5"),
    ("anthropic", "claude-sonnet-4-5-20250929"), ("google", "gemini-2.5-pro"), ("x-ai", "grok-4.7"),
    ("deepseek", "deepseek-v4-flash"), ("azure", "gpt-4.1"), ("openai", "text-embedding-3-small"),
    ("nobody", "no-such-model"), (None, None),
]  # fmt: skip
counts = st.one_of(st.none(), st.integers(0, 300_000))
rows = st.fixed_dictionaries(
    {
        "model": st.sampled_from(MODELS),
        "start_us": st.integers(us("2025-01-01"), us("2026-11-29")),
        "is_batch": st.booleans(),
        "service_tier": st.sampled_from([None, "default", "flex", "priority", "nonsense"]),
        **dict.fromkeys(TOKEN_CLASSES, counts),
    }
)


def call(**fields: Any) -> dict[str, Any]:
    return {"provider": "openai", "model": "gpt-4o", "start_us": us("2026-01-10"), **fields}


def flat(row: dict[str, Any]) -> dict[str, Any]:
    provider, model = row["model"]
    return {**row, "provider": provider, "model": model}


def half_even(exact: Fraction) -> int:
    return round(exact)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rows, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_each_part_is_its_tokens_times_its_rates_rounded_once(
    book: PriceBook, price_rows: PriceRows, made: list[dict[str, Any]], shuffler: random.Random
) -> None:
    asked = [flat(row) for row in made]
    priced = price_rows(asked)
    for row, got in zip(asked, priced, strict=True):
        parts = [got[name] for name in COST_PARTS]
        assert all(part is None or part >= 0 for part in parts)
        if got["cost_state"] not in ("priced", "partly"):
            assert parts == [None] * len(parts)
            assert got["cost_pusd"] is None
            assert got["price_row"] is None
            continue
        assert got["cost_pusd"] == sum(part for part in parts if part is not None)
        tier = row["service_tier"] if row["service_tier"] not in (None, "default") else ""
        rate = book.rate(
            row["provider"],
            row["model"],
            at_us=row["start_us"],
            ctx=f"{'batch ' if row['is_batch'] else ''}{tier}",
            prompt_tokens=sum(row[name] or 0 for name in INPUT_CLASSES),
        )
        assert rate is not None
        assert rate.price_row == got["price_row"]
        for part, classes in PARTS.items():
            known = [(row[name], rate.rates[f"r_{name[4:]}"]) for name in classes if row[name] is not None]
            products = [Fraction(tokens) * Fraction(price) for tokens, price in known if price is not None]
            assert got[part] == (half_even(sum(products, Fraction(0))) if products else None)
        lacking = any(row[name] and rate.rates[f"r_{name[4:]}"] is None for name in TOKEN_CLASSES)
        assert got["cost_state"] == ("partly" if lacking else "priced")
    order = list(range(len(asked)))
    shuffler.shuffle(order)
    again = price_rows([{**asked[index], "request_key": index} for index in order])
    assert again == priced


def test_unknown_model_is_null_and_never_zero(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(model="gpt-99-omega", tok_input=1000, tok_output=10)])
    assert (row["cost_pusd"], row["cost_state"], row["price_warning"]) == (None, "unpriced", "unknown_model")
    assert row["model_id"] == "gpt-99-omega"


def test_unpriced_tier_is_null_and_never_the_standard_price(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(service_tier="turbo", tok_input=1000)])
    assert (row["cost_pusd"], row["cost_state"], row["price_warning"]) == (None, "unpriced", "no_price")


def test_request_without_any_usage_is_unknown(price_rows: PriceRows) -> None:
    (row,) = price_rows([call()])
    assert (row["cost_pusd"], row["cost_state"]) == (None, "unknown")


def test_request_that_used_nothing_costs_nothing(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(tok_input=0, tok_output=0)])
    assert (row["cost_pusd"], row["cost_state"]) == (0, "priced")


def test_unbilled_request_costs_nothing_and_says_so(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(tok_input=1000, tok_output=10, cost_state="not_billed")])
    assert (row["cost_pusd"], row["cost_state"], row["price_row"]) == (0, "not_billed", None)


def test_class_without_a_price_leaves_the_rest_priced(price_rows: PriceRows) -> None:
    (row,) = price_rows(
        [call(provider="anthropic", model="claude-opus-5", tok_input=1000, tok_cache_write_12h=500, tok_output=10)]
    )
    assert row["cost_state"] == "partly"
    assert (row["cache_write_pusd"], row["cost_pusd"]) == (None, 1000 * 5_000_000 + 10 * 25_000_000)


def test_cached_tokens_are_not_charged_twice(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(tok_input=100, tok_cache_read=900, tok_output=10)])
    assert (row["input_pusd"], row["cache_read_pusd"]) == (100 * 2_500_000, 900 * 1_250_000)


def test_reasoning_is_billed_as_output(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(model="gpt-5-nano", tok_input=17, tok_output=34, tok_reasoning=448)])
    assert (row["output_pusd"], row["reasoning_pusd"]) == (34 * 400_000, 448 * 400_000)


def test_cache_tokens_count_towards_the_long_prompt_boundary(price_rows: PriceRows) -> None:
    usage = {"tok_input": 20_000, "tok_cache_read": 180_000, "tok_output": 1000}
    base = {"provider": "anthropic", "model": "claude-sonnet-4-5-20250929", "start_us": None}
    low, high = price_rows([{**base, **usage}, {**base, **usage, "tok_cache_write_5m": 1}])
    assert (low["cost_pusd"], high["cost_pusd"]) == (129_000_000_000, 250_507_500_000)


def test_undated_request_is_priced_only_where_there_was_one_rate_ever(price_rows: PriceRows) -> None:
    one, several = price_rows(
        [
            call(model="gpt-4o-2024-08-06", start_us=None, tok_input=1000),
            call(model="o3", start_us=None, tok_input=1000, tok_output=1),
        ]
    )
    assert (one["cost_pusd"], one["cost_state"]) == (2_500_000_000, "priced")
    assert (several["cost_pusd"], several["cost_state"], several["price_warning"]) == (None, "unpriced", "no_time")


def test_unknown_prompt_length_is_priced_only_where_length_does_not_matter(price_rows: PriceRows) -> None:
    flat_rate, tiered = price_rows([call(tok_output=100), call(model="gpt-5.6-sol", tok_output=100)])
    assert flat_rate["cost_pusd"] == 100 * 10_000_000
    assert (tiered["cost_state"], tiered["price_warning"]) == ("unpriced", "no_prompt_tokens")


@pytest.mark.parametrize("count", [-1, 2_000_000_001, 9_000_000_000_000_000_000])
def test_impossible_counts_are_unpriced_and_break_nothing(price_rows: PriceRows, count: int) -> None:
    bad, good = price_rows([call(tok_input=count, tok_output=5), call(tok_input=1)])
    assert (bad["cost_pusd"], bad["price_warning"]) == (None, "impossible_tokens")
    assert good["cost_pusd"] == 2_500_000


def test_searches_are_fees_beside_the_tokens(price_rows: PriceRows) -> None:
    (row,) = price_rows(
        [
            call(
                provider="anthropic",
                model="claude-opus-5",
                tok_input=1000,
                units='{"web_search": 2.0, "web_fetch": 1.0}',
            )
        ]
    )
    assert (row["other_pusd"], row["cost_pusd"]) == (20_000_000_000, 25_000_000_000)


def test_rent_of_a_cache_is_charged_by_tokens_and_time(price_rows: PriceRows) -> None:
    cache = {"units": '{"cache_storage": 0.5}'}
    known, unknown = price_rows(
        [call(provider="google", model="gemini-2.5-pro", tok_input=0, **cache), call(tok_input=1000, **cache)]
    )
    assert (known["other_pusd"], known["cost_state"]) == (2_250_000_000_000, "priced")
    assert (unknown["cost_pusd"], unknown["cost_state"]) == (1000 * 2_500_000, "partly")


def test_rerank_costs_by_search_and_has_no_tokens(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(provider="cohere", model="rerank-v3.5", units='{"rerank": 2}')])
    assert (row["cost_pusd"], row["cost_state"], row["input_pusd"]) == (4_000_000_000, "priced", None)


def test_seconds_of_audio_are_exact(price_rows: PriceRows) -> None:
    (row,) = price_rows([call(model="whisper-1", units='{"second": 12.5}')])
    assert row["cost_pusd"] == 1_250_000_000


def test_names_are_resolved_once_and_their_rates_kept(session: Any, book: PriceBook, price_rows: PriceRows) -> None:
    first = price_rows([call(tok_input=1), call(model="o3", tok_input=1)])
    names = session.rows("pricing.all", {"table": "price_alias"})
    assert price_rows([call(tok_input=1), call(model="o3", tok_input=1)]) == first
    assert session.rows("pricing.all", {"table": "price_alias"}) == names
    rates = session.frame("pricing.all", {"table": "price_rates"})
    (kept,) = rates.filter(book=book.version, price_row=first[0]["price_row"]).to_dicts()
    assert (kept["r_input"], kept["source"].split("; ")[0]) == (Decimal(2_500_000), book.list_source)


def _touching(rule: Rule, when: dict[str, str], at: int) -> bool:
    asked = rule.ctx or {}
    if rule.op == "derive" or (rule.op == "set" and set(rule.prices) <= set(FEES)):
        return False  # tokens of classes that the library prices cost the same
    return all(when.get(name) == value for name, value in asked.items()) and rule.from_us <= at < rule.to_us


def _usage(pick: random.Random, priced: set[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Random disjoint classes that the list prices itself, and the same usage in the library's nested counters."""
    size = pick.choice([300, 20_000, 150_000])
    ours = {"tok_input": pick.randrange(size), "tok_output": pick.randrange(4000)}
    for name, key in (("cache_read", "tok_cache_read"), ("cache_write", "tok_cache_write_5m"),
                      ("cache_write_1h", "tok_cache_write_1h"), ("reasoning", "tok_reasoning")):  # fmt: skip
        if name in priced and pick.random() < 0.7:
            ours[key] = pick.randrange(size)
    write_5m, write_1h = ours.get("tok_cache_write_5m", 0), ours.get("tok_cache_write_1h", 0)
    theirs = {
        "input_tokens": sum(ours.get(name, 0) for name in INPUT_CLASSES),
        "cache_read_tokens": ours.get("tok_cache_read", 0),
        "cache_write_tokens": write_5m + write_1h,
        "cache_write_1h_tokens": write_1h,
        "output_tokens": ours["tok_output"] + ours.get("tok_reasoning", 0),
        "output_reasoning_tokens": ours.get("tok_reasoning", 0),
    }
    return ours, theirs


def test_four_thousand_random_rows_cost_what_the_library_says(book: PriceBook, price_rows: PriceRows) -> None:
    from genai_prices import Usage
    from genai_prices.data import providers

    pick = random.Random(20261130)
    listed = {(item.provider, item.model): item for item in book.sources.price_list.models}
    models = [(provider, model) for provider in providers for model in provider.models]
    asked: list[dict[str, Any]] = []
    expected: list[Decimal] = []
    while len(asked) < 4000:
        provider, model = pick.choice(models)
        mine = listed[provider.id, model.id]
        priced = set(mine.standard[0].prices)
        if not {"input", "output"} <= priced or "request" in priced:
            continue
        choices: list[dict[str, str]] = [{}, *[variant.when for variant in mine.variants if variant.prices]]
        when = pick.choice(choices)
        at = us("2025-01-01") + pick.randrange(us("2026-11-29") - us("2025-01-01"))
        started = [v.start_us or 0 for v in mine.variants if v.when == when]
        if when and at < min(started):
            at = max(min(started), us("2026-11-01")) + pick.randrange(86_400_000_000)
        rules = [rule for rule in book.sources.overlay.rules if rule.names(provider.id, model.id)]
        if any(_touching(rule, when, at) and rule.op != "backdate" for rule in rules):
            continue
        match = book.matcher.find(provider.id, model.id)
        if match is None or match.price_model != model.id or not match.own:
            continue
        ours, theirs = _usage(pick, priced)
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
        answer = model.calc_price(Usage(**theirs), provider, genai_request_timestamp=moment, price_context=when or None)
        expected.append(answer.total_price * 10**12)
        asked.append({
            "provider": provider.id, "model": model.id, "start_us": at, "is_batch": when.get("processing") == "batch",
            "service_tier": when.get("service_tier"), "price_context": _context(when), **ours,
        })  # fmt: skip
    wrong = [
        (row, got["cost_pusd"], exact)
        for row, got, exact in zip(asked, price_rows(asked), expected, strict=True)
        if got["cost_state"] != "priced" or abs(got["cost_pusd"] - exact) > (0 if exact == int(exact) else 3)
    ]
    assert wrong == []
    assert sum(exact == int(exact) for exact in expected) > 3800
    assert sum(bool(row["is_batch"] or row["service_tier"] or row["price_context"]) for row in asked) > 50


def _context(when: dict[str, str]) -> str | None:
    import json

    rest = {key: value for key, value in when.items() if key not in ("processing", "service_tier")}
    return json.dumps(rest) if rest else None
