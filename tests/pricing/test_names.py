"""Which priced model a logged name means; what is not fully explained has no price."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.pricing.rules import overlay_from_rows
from tests.pricing.own_book import book_from, book_with

if TYPE_CHECKING:
    from app.pricing.book import PriceBook

SONNET_4_5 = "regional.anthropic.claude-sonnet-4-5-20250929-v1:0"
HAIKU_3 = "regional.anthropic.claude-3-haiku-20240307-v1:0"
PROFILE = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
VERTEX = "projects/p/locations/us/publishers/anthropic/models/claude-sonnet-4-5@20250929"
FOUND = [
    ("openai", "gpt-4o-2024-08-06", "openai", "gpt-4o"),
    ("openai", "gpt-4o-2024-05-13", "openai", "gpt-4o-2024-05-13"),
    ("openai", "gpt-5.2-20251211", "openai", "gpt-5.2"),
    ("openai", "openai/gpt-4o-mini", "openai", "gpt-4o-mini"),
    ("openai", "ft:gpt-4o-2024-08-06:acme::abc123", "openai", "ft:gpt-4o"),
    ("openai", "ft:gpt-4.1-mini-2025-04-14:acme::x", "openai", "ft:gpt-4.1-mini"),
    ("openai", "omni-moderation-latest", "openai", "moderation"),
    ("anthropic", "claude-sonnet-4-6[1m]", "anthropic", "claude-sonnet-4-6"),
    ("anthropic", "claude-opus-4-5-thinking", "anthropic", "claude-opus-4-5"),
    ("litellm", "anthropic/claude-sonnet-4-5-20250929", "anthropic", "claude-sonnet-4-5"),
    ("google", "models/gemini-2.5-flash", "google", "gemini-2.5-flash"),
    ("google", "publishers/google/models/gemini-2.5-pro", "google", "gemini-2.5-pro"),
    ("vertex_ai", VERTEX, "google", "claude-sonnet-4-5"),
    ("google", "gemini-2.0-flash-001", "google", "gemini-2.0-flash"),
    ("vertex_ai", "gemini-1.5-flash-8b-001", "google", "gemini-1.5-flash-8b"),
    ("google", "gemini-embedding-001", "google", "gemini-embedding-001"),
    ("anthropic", "claude-sonnet-4-0-20250514", "anthropic", "claude-sonnet-4-0"),
    ("gemini", "gemini/gemini-2.5-pro-preview-06-05", "google", "gemini-2.5-pro"),
    ("azure", "azure/gpt-4o", "openai", "gpt-4o"),
    ("openrouter", "openrouter/anthropic/claude-sonnet-4.5:beta", "openrouter", "anthropic/claude-sonnet-4.5"),
    ("bedrock", "bedrock/us-east-2/us.anthropic.claude-3-haiku-20240307-v1:0", "aws", HAIKU_3),
    ("bedrock", "bedrock/converse/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws", SONNET_4_5),
    ("bedrock", "global.anthropic.claude-sonnet-4-6", "aws", "global.anthropic.claude-sonnet-4-6-v1:0"),
    ("aws", PROFILE, "aws", SONNET_4_5),
    ("xai", "grok-4-latest", "x-ai", "grok-4-0709"),
    (None, "gpt-4o", "openai", "gpt-4o"),
    (None, "us.anthropic.claude-sonnet-4-6", "aws", "regional.anthropic.claude-sonnet-4-6-v1:0"),
]  # fmt: skip

UNKNOWN = [
    (None, "claude-next-9"),
    ("anthropic", "claude-sonnet-4-50"),
    ("openai", "my-gpt-4o"),
    ("openai", "gpt-4-8k-agent"),
    ("openai", "gpt-4o-mini-2024-07-18.ft-0123456789abcdef-support"),
    ("openai", "ft:o3-2025-04-16:acme::x"),
    ("google", "gemini-2.5-proto"),
    ("google", "gemini-2.0-flash-0-agent"),
    ("bedrock", "evil.foo.anthropic.claude-3-haiku-20240307-v1:0"),
    ("aws", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"),
    ("openrouter", "nobody/claude-sonnet-4.5"),
    ("openrouter", "deepseek/no-such-model:free"),
    ("azure", "my-deployment"),
    ("hosted_vllm", "hosted_vllm/qwen3-32b"),
    (None, "llama3.1:8b"),
    (None, ""),
    ("openai", None),
]


@pytest.mark.parametrize(("provider", "name", "price_provider", "price_model"), FOUND)
def test_name_means_this_priced_model(
    book: PriceBook, provider: str | None, name: str, price_provider: str, price_model: str
) -> None:
    match = book.matcher.find(provider, name)
    assert match is not None
    assert (match.price_provider, match.price_model) == (price_provider, price_model)


@pytest.mark.parametrize(("provider", "name"), UNKNOWN)
def test_name_that_is_not_fully_explained_has_no_price(book: PriceBook, provider: str | None, name: str | None) -> None:
    assert book.matcher.find(provider, name) is None


def test_reseller_keeps_its_own_name_while_the_makers_list_prices_it(book: PriceBook) -> None:
    match = book.matcher.find("azure_openai", "gpt-4.1-2025-04-14")
    assert match is not None
    assert (match.provider, match.price_provider, match.own) == ("azure", "openai", False)


def test_base_model_is_asked_only_where_the_name_is_unknown(book: PriceBook) -> None:
    tuned = book.matcher.find("openai", "ft:gpt-4o-mini-2024-07-18:acme::x", "gpt-4o-mini")
    deployed = book.matcher.find("azure", "my-deployment", "gpt-4o")
    assert tuned is not None
    assert deployed is not None
    assert (tuned.price_model, deployed.price_model) == ("ft:gpt-4o-mini", "gpt-4o")


def test_mapped_deployment_wins_over_the_family_that_the_response_says(tmp_path) -> None:
    own = book_from(
        tmp_path, "aliases:\n  - {provider: azure, name: team-chat-prod, model: openai/gpt-4o-2024-08-06}\n"
    )
    match = own.matcher.find("azure", "gpt-4", deployment="team-chat-prod")
    assert match is not None
    assert (match.provider, match.price_model) == ("azure", "gpt-4o")


def test_longer_name_of_the_users_table_wins_over_the_shorter() -> None:
    rows = [
        {"provider": "gateway", "model": "gpt-4o", "input": "2.50", "output": "10"},
        {"provider": "gateway", "model": "gpt-4", "input": "30", "output": "60"},
        {"provider": "gateway", "model": "gpt-4o-mini", "input": "0.15", "output": "0.60"},
    ]
    match = book_with(overlay_from_rows(rows)).matcher.find("gateway", "gpt-4o-mini-2024-07-18")
    assert match is not None
    assert match.price_model == "gpt-4o-mini"


def test_zero_row_of_another_provider_does_not_make_traffic_free() -> None:
    rows = [{"provider": "github_copilot", "model": "private-model", "input": "0", "output": "0"}]
    assert book_with(overlay_from_rows(rows)).matcher.find("openai", "private-model") is None
