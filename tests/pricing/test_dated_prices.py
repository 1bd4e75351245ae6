"""Prices worked out by hand from providers' dated pages: around each change, at each boundary, by place and tier."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from app.warehouse.quoting import quote
from tests.pricing.moments import us

if TYPE_CHECKING:
    from app.pricing.book import PriceBook

NOW = "2026-11-27T12:00:00Z"
MTOK = 1_000_000
# provider, model, time, class, tokens, context, USD of all those tokens
QUOTED = [
    # DeepSeek: the price of V2.5 stayed until 2025-02-08, half of it and a quarter of R1's at night until 2025-09-05
    ("deepseek", "deepseek-chat", "2025-01-10T12:00:00Z", "in_text", MTOK, {}, "0.14"),
    ("deepseek", "deepseek-chat", "2025-02-08T15:59:59Z", "out", MTOK, {}, "0.28"),
    ("deepseek", "deepseek-chat", "2025-02-08T15:59:59Z", "cache_read", MTOK, {}, "0.014"),
    ("deepseek", "deepseek-chat", "2025-02-08T16:00:00Z", "in_text", MTOK, {}, "0.27"),
    ("deepseek", "deepseek-reasoner", "2025-03-01T20:00:00Z", "out", MTOK, {}, "0.55"),
    ("deepseek", "deepseek-reasoner", "2025-09-05T15:59:59Z", "out", MTOK, {}, "2.19"),
    ("deepseek", "deepseek-chat", "2025-09-05T16:00:00Z", "in_text", MTOK, {}, "0.56"),
    # V4 Pro at a quarter soon after its release, cached tokens at a tenth from 2026-04-26T12:15Z on
    ("deepseek", "deepseek-v4-pro", "2026-04-24T12:00:00Z", "out", MTOK, {}, "3.48"),
    ("deepseek", "deepseek-v4-pro", "2026-04-27T00:00:00Z", "out", MTOK, {}, "0.87"),
    ("deepseek", "deepseek-v4-pro", "2026-04-26T12:14:59Z", "cache_read", MTOK, {}, "0.03625"),
    ("deepseek", "deepseek-v4-pro", "2026-04-26T12:15:00Z", "cache_read", MTOK, {}, "0.003625"),
    ("deepseek", "deepseek-v4-flash", "2026-04-26T12:14:59Z", "cache_read", MTOK, {}, "0.028"),
    ("deepseek", "deepseek-v4-flash", "2026-05-10T00:00:00Z", "cache_read", MTOK, {}, "0.0028"),
    ("deepseek", "deepseek-chat", "2026-04-25T00:00:00Z", "cache_read", MTOK, {}, "0.028"),
    ("deepseek", "deepseek-v4-flash", "2026-08-20T02:00:00Z", "in_text", MTOK, {}, "0.44"),
    ("deepseek", "deepseek-v4-flash", "2026-09-10T03:59:59Z", "in_text", MTOK, {}, "0.44"),
    ("deepseek", "deepseek-v4-flash", "2026-09-10T04:00:00Z", "in_text", MTOK, {}, "0.15"),
    ("deepseek", "deepseek-flash", "2026-10-10T02:00:00Z", "in_text", MTOK, {}, "0.15"),  # a Saturday of work in China
    ("deepseek", "deepseek-flash", "2026-09-25T02:00:00Z", "in_text", MTOK, {}, "0.15"),  # a Friday of holiday
    # Anthropic
    ("anthropic", "claude-3-5-haiku-20241022", "2024-11-15T00:00:00Z", "in_text", MTOK, {}, "1"),
    ("anthropic", "claude-3-5-haiku-20241022", "2024-12-03T00:00:00Z", "in_text", MTOK, {}, "0.8"),
    ("anthropic", "claude-3-haiku-20240307", "2025-03-15T00:00:00Z", "cache_w5m", MTOK, {}, "0.3"),
    ("anthropic", "claude-opus-4-6", "2026-05-01T00:00:00Z", "in_text", MTOK, {"inference_geo": "us"}, "5.5"),
    ("anthropic", "claude-opus-4-5", "2026-05-01T00:00:00Z", "in_text", MTOK, {"inference_geo": "us"}, "5"),
    ("anthropic", "claude-opus-4-6", "2026-05-01T00:00:00Z", "in_text", MTOK,
     {"inference_geo": "us", "speed": "fast"}, "33"),
    ("anthropic", "claude-opus-4-6", "2026-05-01T00:00:00Z", "in_text", MTOK,
     {"inference_geo": "us", "batch": True}, "2.75"),
    ("anthropic", "claude-opus-5-5", NOW, "in_text", MTOK, {"speed": "fast"}, "8"),
    # OpenAI
    ("openai", "gpt-4o-audio-preview", "2024-11-01T00:00:00Z", "in_audio", MTOK, {}, "100"),
    ("openai", "gpt-4o-audio-preview", "2024-12-17T00:00:00Z", "in_audio", MTOK, {}, "40"),
    ("openai", "gpt-5.5-pro", "2026-06-01T00:00:00Z", "in_text", 272_001, {"batch": True}, "8.16003"),
    ("openai", "gpt-daybreak-red-latest", NOW, "in_text", 272_001, {}, "6.800025"),
    ("openai", "gpt-6.2-sol", NOW, "in_text", 272_000, {}, "0.544"),
    ("openai", "gpt-6.2-sol", NOW, "in_text", 272_001, {}, "1.088004"),
    ("openai", "gpt-6.2-sol", NOW, "cache_w12h", 100_000, {}, "0.5"),
    ("openai", "gpt-6.2-astra", NOW, "cache_read", 100_000, {"batch": True}, "0.02"),
    ("openai", "gpt-6.2-astra", NOW, "in_text", 100_000, {"service_tier": "priority"}, "1.6"),
    ("openai", "gpt-6.1-sol", NOW, "in_text", 100_000, {"service_tier": "ultrafast"}, "1.2"),
    ("openai", "gpt-6.1-sol", NOW, "cache_read", 272_001, {"service_tier": "ultrafast"}, "0.3264012"),
    ("openai", "gpt-5.4", NOW, "in_text", 100_000, {"region": "eu"}, "0.275"),
    ("openai", "gpt-5.4", NOW, "in_text", 100_000, {"region": "au"}, "0.275"),
    ("openai", "gpt-5.4", NOW, "in_text", 100_000, {"region": "in"}, "0.275"),
    ("openai", "gpt-6.2-sol", NOW, "in_text", 100_000, {"region": "jp"}, "0.22"),
    ("openai", "gpt-4.1", NOW, "in_text", 100_000, {"region": "jp"}, "0.2"),
    # Google
    ("google", "gemini-1.5-pro", "2024-09-01T00:00:00Z", "in_text", 100_000, {}, "0.35"),
    ("google", "gemini-1.5-pro", "2024-09-01T00:00:00Z", "cache_read", 128_001, {}, "0.22400175"),
    ("google", "gemini-1.5-pro", "2024-11-01T00:00:00Z", "cache_read", 128_000, {}, "0.04"),
    ("google", "gemini-2.0-flash-001", "2025-04-01T00:00:00Z", "in_text", MTOK, {}, "0.1"),
    ("vertex_ai", "gemini-2.0-flash-001", "2025-04-01T00:00:00Z", "in_text", MTOK, {"region": "us-central1"}, "0.15"),
    ("google", "gemini-2.0-flash", "2025-04-01T00:00:00Z", "out", MTOK, {"vertex_location": "europe-west4"}, "0.6"),
    ("google", "gemini-2.0-flash", "2025-04-01T00:00:00Z", "in_audio", MTOK, {"region": "us-east5"}, "1"),
    ("google", "gemini-2.0-flash", "2025-04-01T00:00:00Z", "in_text", MTOK, {"region": "us-e4", "batch": 1}, "0.075"),
    ("google", "gemini-2.0-flash", "2025-10-01T00:00:00Z", "out", MTOK, {"region": "us-east5", "batch": True}, "0.3"),
    ("vertex_ai", "gemini-2.0-flash-001", "2025-04-01T00:00:00Z", "in_text", MTOK, {}, "0.15"),
    ("gcp.vertex_ai", "gemini-2.0-flash", "2025-04-01T00:00:00Z", "out", MTOK, {}, "0.6"),
    ("vertex_ai", "gemini-2.0-flash", "2025-04-01T00:00:00Z", "in_text", MTOK, {"batch": True}, "0.075"),
    ("vertex_ai", "gemini-2.0-flash", "2025-10-01T00:00:00Z", "out", MTOK, {"batch": True}, "0.3"),
    ("google", "gemini-2.0-flash", "2025-04-01T00:00:00Z", "in_text", MTOK, {"vertex_location": "global"}, "0.15"),
    (None, "vertex_ai/gemini-2.0-flash", "2025-04-01T00:00:00Z", "in_text", MTOK, {}, "0.15"),
    ("gemini", "gemini-2.0-flash", "2025-04-01T00:00:00Z", "in_text", MTOK, {}, "0.1"),
    (None, "gemini/gemini-2.0-flash", "2025-04-01T00:00:00Z", "in_text", MTOK, {}, "0.1"),
    ("vertex_ai", "gemini-2.5-pro", "2025-10-01T00:00:00Z", "in_text", 100_000, {}, "0.125"),
    ("vertex_ai", "gemini-4-hydrogen", NOW, "in_text", MTOK, {}, "1.5"),
    ("vertex_ai", "claude-opus-5", NOW, "in_text", 100_000, {}, "0.5"),
    ("vertex_ai", "claude-opus-5", NOW, "in_text", 100_000, {"region": "global"}, "0.5"),
    ("vertex_ai", "claude-opus-5", NOW, "in_text", 100_000, {"region": "us-east5"}, "0.55"),
    ("google", "gemini-2.0-flash-lite", "2025-04-01T00:00:00Z", "in_text", MTOK, {"region": "us-east5"}, "0.075"),
    ("vertex_ai", "gemini-1.5-flash-002", "2024-11-01T00:00:00Z", "in_text", 128_000, {"region": "us-east5"}, "0.0096"),
    ("google", "gemini-2.5-flash-preview-05-20", "2025-06-01T00:00:00Z", "cache_read", MTOK, {}, "0.0375"),
    ("google", "gemini-4-neon", NOW, "in_text", MTOK, {}, "3"),
    ("google", "gemini-4-carbon", "2026-12-02T00:00:00Z", "in_text", MTOK, {}, "2"),  # the rise is announced
    ("google", "gemini-4-hydrogen", NOW, "in_text", MTOK, {"service_tier": "priority"}, "2.7"),
    ("google", "gemini-4-hydrogen", NOW, "in_text", MTOK, {"region": "europe-west4", "batch": True}, "0.825"),
    # Azure sells the first gpt-audio at what it cost before OpenAI lowered it
    ("openai", "gpt-audio", NOW, "in_audio", MTOK, {}, "32"),
    ("azure", "gpt-audio-2025-08-28", NOW, "in_audio", MTOK, {}, "40"),
    ("azure", "gpt-audio-2025-08-28", NOW, "out_audio", MTOK, {"deployment": "DataZoneStandard"}, "88"),
    ("azure", "gpt-audio-1.5-2026-02-23", NOW, "in_audio", MTOK, {}, "32"),
    # Bedrock: GovCloud's long prompts
    ("aws", "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", NOW, "in_text", 200_001, {}, "1.4400072"),
    ("aws", "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", NOW, "out", MTOK, {"region": "us-gov-east-1"}, "18"),
    ("aws", "us-gov.anthropic.claude-opus-5", NOW, "in_text", MTOK, {}, "6"),
    ("bedrock_mantle", "us-gov-west-1/openai.gpt-5.4", NOW, "in_text", MTOK // 4, {}, "0.825"),
    ("bedrock_mantle", "openai.gpt-6.1-sol", NOW, "in_text", MTOK // 4, {}, "0.55"),
    # xAI: from 200,000 tokens on
    ("x-ai", "grok-4.6", NOW, "in_text", 199_999, {"batch": True}, "0.3199984"),
    ("x-ai", "grok-4.6", NOW, "in_text", 200_000, {"region": "us"}, "0.88"),
    ("x-ai", "grok-4", "2026-05-15T18:59:59Z", "in_text", 100_000, {}, "0.3"),
    ("x-ai", "grok-4", "2026-05-15T19:00:00Z", "in_text", 100_000, {}, "0.125"),
    ("x-ai", "grok-code-fast-1", NOW, "out", MTOK, {}, "2"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "model", "at", "name", "count", "context", "usd"), QUOTED)
def test_price_of_a_day_is_the_one_that_its_page_told(
    book: PriceBook, provider: str, model: str, at: str, name: str, count: int, context: dict[str, object], usd: str
) -> None:
    prompt = {} if name != "out" else {"in_text": 0}
    line = {"provider": provider, "model": model, "timestamp": at, "context": context, "usage": {**prompt, name: count}}
    (quoted,) = quote(book, [line])
    assert (quoted.state, quoted.usd) == ("priced", usd)


@pytest.mark.parametrize(
    ("provider", "model", "unit", "usd"),
    [
        ("deepseek", "deepseek-flash", "web_search", "0.75"),
        ("google", "gemini-4-carbon", "web_search", "14"),
        ("google", "gemini-1.5-pro", "cache_storage", "4500"),
    ],
)
def test_fee_of_a_thousand(book: PriceBook, provider: str, model: str, unit: str, usd: str) -> None:
    (quoted,) = quote(
        book, [{"provider": provider, "model": model, "timestamp": NOW, "usage": {"in_text": 0, unit: 1000}}]
    )
    assert (quoted.state, quoted.usd) == ("priced", usd)


def test_request_to_perplexity_costs_the_fee_of_the_smallest_search_context(book: PriceBook) -> None:
    (quoted,) = quote(
        book, [{"provider": "perplexity", "model": "sonar", "timestamp": NOW, "usage": {"in_text": 1000}}]
    )
    assert Decimal(str(quoted.usd)) == Decimal("0.001") + Decimal("0.005")


@pytest.mark.parametrize(
    ("model", "fees"),
    [
        ("sonar", ("0.005", "0.008", "0.012")),
        ("sonar-pro", ("0.006", "0.010", "0.014")),
        ("sonar-reasoning", ("0.005", "0.008", "0.012")),
        ("sonar-reasoning-pro", ("0.006", "0.010", "0.014")),
    ],
)
def test_request_to_perplexity_costs_the_fee_of_its_search_context_and_an_estimate_where_none_is_known(
    book: PriceBook, model: str, fees: tuple[str, ...]
) -> None:
    def row(ctx: str, at: str = NOW) -> tuple[Decimal, str]:
        found = book.rate("perplexity", model, at_us=us(at), ctx=ctx)
        assert found is not None
        fee = found.rates["r_request"]
        assert fee is not None
        return fee / 10**12, found.status

    sized = [row(f"search_context={size}") for size in ("low", "medium", "high")]
    assert sized == [(Decimal(fee), "confirmed") for fee in fees]
    unsaid = (Decimal(fees[0]), "estimated")
    assert row("") == row("search_context=unheard-of") == unsaid
    assert row("search_context=high", "2025-04-17T23:59:59+00:00") == unsaid


@pytest.mark.parametrize(
    ("ctx", "fee", "status"),
    [
        ("pro-low", "0.014", "confirmed"),
        ("pro-medium", "0.018", "confirmed"),
        ("pro-high", "0.022", "confirmed"),
        ("pro", "0.014", "estimated"),
        ("auto-low", "0.006", "estimated"),
        ("auto-high", "0.014", "estimated"),
        ("auto", "0.006", "estimated"),
    ],
)
def test_pro_search_has_fees_of_its_own_and_what_auto_chose_is_an_estimate(
    book: PriceBook, ctx: str, fee: str, status: str
) -> None:
    found = book.rate("perplexity", "sonar-pro", at_us=us(NOW), ctx=f"search_context={ctx}")
    assert found is not None
    assert found.rates["r_request"] == Decimal(fee) * 10**12
    assert found.status == status
