"""Tokens that a usage report and a cost report of one day both count stand in Spend once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import bucket

from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from pathlib import Path

USAGE = {
    "object": "organization.usage.completions.result",
    "input_tokens": 100_000,
    "input_cached_tokens": 30_000,
    "output_tokens": 2_000,
    "num_model_requests": 7,
    "project_id": "proj_1",
    "model": "gpt-4o-2024-08-06",
}


def cost(item: str, usd: str, tokens: int) -> dict[str, Any]:
    return {
        "object": "organization.costs.result",
        "line_item": f"gpt-4o-2024-08-06, {item}",
        "amount": {"value": usd, "currency": "usd"},
        "quantity": tokens,
        "quantity_unit": "tokens",
        "project_id": "proj_1",
    }


COSTS = (
    cost("input", "0.175", 70_000),
    cost("cached input", "0.0375", 30_000),
    cost("output", "0.02", 2_000),
)


def seen(folder: Path, **pages: Any) -> tuple[str, int | None, int | None, int | None, int]:
    """(cost, input, cached, output, requests) that `halve analyze` says of pages of reports."""
    folder.mkdir()
    for name, page in pages.items():
        (folder / f"{name}.json").write_text(json.dumps(page), encoding="utf-8")
    found = inside(folder / "data", "analyze", *sorted(folder.glob("*.json")), "--json").json
    tokens = found["tokens"]
    return found["cost_usd"], tokens["input"], tokens["cache_read"], tokens["output"], found["requests"]


def test_tokens_of_a_usage_report_and_of_a_cost_report_are_the_same_tokens(tmp_path: Path) -> None:
    costs, usage = bucket(*COSTS), bucket(USAGE)
    assert seen(tmp_path / "costs", costs=costs) == ("0.2325", 70_000, 30_000, 2_000, 0)
    assert seen(tmp_path / "both", costs=costs, usage=usage) == ("0.2325", 70_000, 30_000, 2_000, 7)
    # 70,000 at $2.50, 30,000 at $1.25 and 2,000 at $10 a million: what the usage is worth until its cost is known
    assert seen(tmp_path / "usage", usage=usage) == ("0.2325", 70_000, 30_000, 2_000, 7)


@pytest.mark.parametrize(("requests", "usd"), [(100, "12"), (10, "24")])
def test_usage_without_a_cost_is_worth_what_prompts_of_its_mean_length_cost(
    tmp_path: Path, requests: int, usd: str
) -> None:
    """GPT-5.6 Sol costs $4 a million up to 272,000 tokens of prompt and $8 above; three million came in all."""
    usage = {**USAGE, "model": "gpt-5.6-sol", "input_tokens": 3_000_000, "input_cached_tokens": 0, "output_tokens": 0}
    usage["num_model_requests"] = requests
    assert seen(tmp_path / "usage", usage=bucket(usage))[0] == usd


def test_written_tokens_of_a_bill_have_the_lifetime_that_openai_sells(tmp_path: Path) -> None:
    usage = {**USAGE, "model": "gpt-5.6-sol", "input_uncached_tokens": 50_000, "input_cache_write_tokens": 20_000}
    (tmp_path / "usage.json").write_text(json.dumps(bucket(usage)), encoding="utf-8")
    tokens = inside(tmp_path / "data", "analyze", tmp_path / "usage.json", "--json").json["tokens"]
    assert (tokens["cache_write_30m"], tokens["cache_write_5m"]) == (20_000, None)
