"""Cache rules are dated rows: the right one is found and named."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.core.errors import InputError
from app.replay.rules import load_rules, parse_rules

NOW_US = int(datetime(2026, 11, 29, tzinfo=UTC).timestamp() * 1e6)


@pytest.mark.parametrize(
    ("provider", "model", "rule"),
    [
        ("openai", "gpt-4o", "openai-automatic"),
        ("azure", "gpt-4o-mini", "openai-automatic"),
        ("openai", "gpt-4.1-mini", "openai-automatic-4.1"),
        ("openai", "gpt-5", "openai-automatic-5"),
        ("openai", "gpt-5.5-pro", "openai-automatic-5.5"),
        ("openai", "gpt-5.6-sol", "openai-breakpoints-5.6"),
        ("anthropic", "claude-sonnet-4-5", "anthropic-1024"),
        ("aws", "claude-haiku-4-5", "anthropic-4096"),
        ("anthropic", "claude-opus-5-5", "anthropic-512"),
        ("anthropic", "claude-3-5-haiku-latest", "anthropic-haiku-3"),
        ("openrouter", "anthropic/claude-sonnet-4-5", "anthropic-1024"),
        ("bedrock", "us.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic-4096"),
        ("openai", "ft:gpt-4o-mini-2024-07-18:firm::abc", "openai-automatic"),
        ("google", "gemini-3.1-pro-preview", "gemini-implicit-3"),
    ],
)
def test_the_most_specific_rule_of_the_day_is_found(provider: str, model: str, rule: str) -> None:
    found = load_rules().at(provider, model, NOW_US)
    assert found is not None
    assert found.id == rule


def test_no_rule_is_none_and_never_a_neighbours() -> None:
    rules = load_rules()
    assert rules.at("mistral", "mistral-large", NOW_US) is None
    assert rules.at("openai", "text-embedding-3-small", NOW_US) is None
    long_ago = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp() * 1e6)
    assert rules.at("openai", "gpt-4o", long_ago) is None


def test_ids_are_unique_and_a_disputed_row_says_what_disagrees() -> None:
    rows = load_rules().rows
    assert len({row.id for row in rows}) == len(rows)
    assert all(";" in row.source for row in rows if row.state == "disputed")


def test_a_row_that_lacks_a_field_is_named() -> None:
    with pytest.raises(InputError, match=r"mine.yml, rule 1.*providers"):
        parse_rules("rules:\n  - id: x\n", "mine.yml")
