"""Quotes: what cannot be priced in full has no price, and the laws that every price keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import InputError
from app.core.usage import TOKEN_CLASSES
from app.pricing.rules import overlay_from_rows
from app.warehouse.quoting import quote
from tests.pricing.moments import us
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from app.pricing.book import PriceBook
    from app.warehouse.quoting import Quote
    from tests.pricing.conftest import PriceRows

NOW = "2026-11-27T12:00:00Z"
GPT_41 = {"provider": "openai", "model": "gpt-4.1", "timestamp": NOW}


def one(book: PriceBook, usage: dict[str, Any], **line: Any) -> Quote:
    (quoted,) = quote(book, [{**GPT_41, **line, "usage": usage}])
    return quoted


@pytest.mark.parametrize(
    "usage",
    [
        {"in_text": 10, "in_video": 500},
        {"in_text": 10, "google_maps": 2},
        {"in_text": 10, "code_execution": 1},
        {"in_text": 10, "web_searches": 1, "rerank": 3},
    ],
)
def test_line_with_a_class_or_unit_without_a_price_has_no_price(book: PriceBook, usage: dict[str, int]) -> None:
    quoted = one(book, usage)
    assert (quoted.usd, quoted.state, quoted.warning) == (None, "partly", "unpriced_class")
    least = Decimal("0.01") if "web_searches" in usage else Decimal(0)
    assert Decimal(str(quoted.at_least_usd)) == least + Decimal("0.00002")


@pytest.mark.parametrize("nothing", [{"in_video": 0}, {"google_maps": 0}, {"in_audio": None}, {"web_searches": None}])
def test_class_that_counts_nothing_takes_no_price_away(book: PriceBook, nothing: dict[str, Any]) -> None:
    assert one(book, {"in_text": 10, **nothing}).usd == "0.00002"


@pytest.mark.parametrize("batch", [True, "true", 1, "1"])
def test_batch_is_a_batch_however_it_is_written(book: PriceBook, batch: Any) -> None:
    assert one(book, {"in_text": 10}, context={"batch": batch}).usd == "0.00001"


def test_a_place_beside_the_context_counts_as_one_inside_and_that_comes_first(book: PriceBook) -> None:
    assert one(book, {"in_text": 10}, batch=True).usd == "0.00001"
    assert one(book, {"in_text": 10}, batch=True, context={"batch": False}).usd == "0.00002"


@pytest.mark.parametrize(
    "line",
    [
        {"usage": {"web_searches": "two"}},
        {"usage": {"web_searches": -1}},
        {"usage": {"web_searches": 1e12}},
        {"usage": {"in_text": 1}, "context": ["batch"]},
        {"usage": 5},
    ],
)
def test_line_that_makes_no_sense_is_named(book: PriceBook, line: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="Line odd"):
        quote(book, [{**GPT_41, "id": "odd", **line}])


def test_fraction_of_a_unit_is_priced_however_small(book: PriceBook) -> None:
    quoted = one(book, {"in_text": 0, "cache_storage": 0.00001}, provider="google", model="gemini-2.5-pro")
    assert quoted.state == "priced"


@pytest.mark.parametrize(
    ("units", "state"),
    [
        ('{"google_maps": 2.0}', "partly"),
        ('{"web_search": 1e+16}', "partly"),
        ('{"calls": 3.0}', "priced"),
        ('{"web_search": 1.0}', "priced"),
    ],
)
def test_stored_unit_without_a_fee_leaves_its_request_partly_priced(
    price_rows: PriceRows, units: str, state: str
) -> None:
    row = {"provider": "openai", "model": "gpt-4.1", "start_us": 1_780_000_000_000_000, "tok_input": 10, "units": units}
    (priced,) = price_rows([row])
    assert priced["cost_state"] == state


@pytest.mark.parametrize(
    ("provider", "model", "tier"),
    [
        ("google", "gemini-2.5-pro", "provisioned"),
        ("aws", "anthropic.claude-sonnet-4-6", "reserved"),
        ("openai", "gpt-4.1", "scale"),
    ],
)
def test_tokens_of_bought_capacity_are_worth_the_list_price(
    book: PriceBook, provider: str, model: str, tier: str
) -> None:
    line = {"provider": provider, "model": model, "timestamp": NOW, "usage": {"in_text": 1000, "out": 10}}
    bought, listed = quote(book, [{**line, "context": {"service_tier": tier}}, line])
    assert bought.usd == listed.usd is not None


MODELS = [
    ("openai", "gpt-4.1"), ("openai", "gpt-6-sol"), ("anthropic", "claude-haiku-5-5"), ("google", "gemini-2.5-pro"),
    ("deepseek", "deepseek-v4-pro"), ("x-ai", "grok-4.7"), ("bedrock", "global.anthropic.claude-sonnet-4-6"),
    ("azure", "gpt-4.1"), ("mistral", "mistral-large-latest"), ("vertex_ai", "claude-sonnet-5"),
]  # fmt: skip
MOMENTS = st.integers(us("2025-01-01"), us("2026-11-27")).map(
    lambda at_us: datetime.fromtimestamp(at_us // 1_000_000, UTC).isoformat()
)
CLASSES = ("tok_input", "tok_cache_read", "tok_cache_write_5m", "tok_output", "tok_reasoning")
COUNTS = st.fixed_dictionaries(dict.fromkeys(CLASSES, st.integers(0, 90_000)))
PLACES = st.sampled_from([{}, {"service_tier": "priority"}, {"region": "eu"}, {"inference_geo": "us"}, {"batch": True}])


def prices(book: PriceBook, *lines: dict[str, Any]) -> list[Decimal | None]:
    return [None if one.usd is None else Decimal(one.usd) for one in quote(book, lines)]


@settings(max_examples=25, deadline=None)
@given(model=st.sampled_from(MODELS), at=MOMENTS, usage=COUNTS, place=PLACES)
def test_price_is_the_sum_of_its_classes_at_its_length(
    book: PriceBook, model: tuple[str, str], at: str, usage: dict[str, int], place: dict[str, Any]
) -> None:
    base = {"provider": model[0], "model": model[1], "timestamp": at, "context": place}
    whole = prices(book, {**base, "usage": usage})[0]
    prompt = sum(count for name, count in usage.items() if name not in ("tok_output", "tok_reasoning"))
    rate = book.rate(*model, at_us=us(at), prompt_tokens=prompt, ctx=_ctx(place))
    if rate is None or whole is None:
        assert whole is None
        return
    rates = {name: rate.rates[f"r_{name.removeprefix('tok_')}"] or 0 for name in CLASSES}
    assert abs(whole * 10**12 - sum(usage[name] * rates[name] for name in CLASSES)) <= len(CLASSES)


@settings(max_examples=25, deadline=None)
@given(model=st.sampled_from(MODELS), at=MOMENTS, usage=COUNTS, more=COUNTS, place=PLACES)
def test_more_tokens_never_cost_less_and_a_batch_never_costs_more(
    book: PriceBook,
    model: tuple[str, str],
    at: str,
    usage: dict[str, int],
    more: dict[str, int],
    place: dict[str, Any],
) -> None:
    base = {"provider": model[0], "model": model[1], "timestamp": at, "context": place}
    sums = {name: usage[name] + more[name] for name in CLASSES}
    less, much, batch, standard = prices(
        book,
        {**base, "usage": usage},
        {**base, "usage": sums},
        {**base, "context": {"batch": True}, "usage": usage},
        {**base, "context": {}, "usage": usage},
    )
    assert (less is None) == (much is None)
    assert less is None or much is None or less <= much
    assert batch is None or (standard is not None and batch <= standard)


@pytest.mark.parametrize(
    "names",
    [
        ["gpt-4o-2024-08-06", "openai/gpt-4o-2024-08-06", "gpt-4o-2024-11-20", "gpt-4o"],
        ["gpt-5.2", "gpt-5.2-20251211", "gpt-5.2-2025-12-11"],
    ],
)
@settings(max_examples=10, deadline=None)
@given(usage=COUNTS, at=MOMENTS)
def test_every_name_of_a_model_has_its_price(book: PriceBook, names: list[str], usage: dict[str, int], at: str) -> None:
    found = prices(book, *({**GPT_41, "model": name, "timestamp": at, "usage": usage} for name in names))
    assert len(set(found)) == 1
    assert found[0] is not None


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(TOKEN_CLASSES), count=st.integers(1, 10**6))
def test_class_without_a_rate_never_makes_a_lower_price(name: str, count: int) -> None:
    """A book with one rate: whatever else is counted leaves its line without a price, and nothing is taken as free."""
    own = book_with(overlay_from_rows([{"provider": "gateway", "model": "own", "cache_read": "1"}]))
    line = {"provider": "gateway", "model": "own", "timestamp": NOW, "usage": {"cache_read": 10, name: count}}
    (quoted,) = quote(own, [line])
    priced = name in ("tok_cache_read", "tok_cache_read_audio")
    assert (quoted.usd is not None) == priced


def _ctx(place: dict[str, Any]) -> str:
    words = {"service_tier": "priority", "region": "region=eu", "inference_geo": "geo=us", "batch": "batch"}
    return " ".join(words[name] for name in place)
