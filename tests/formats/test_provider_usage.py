"""Usage bodies of real providers with the classes and prices that genai-prices reads from them.

Each goes through the whole pipeline as an envelope with its provider, at the moment for which the prices were worked
out. Where our reading or price differs, the difference is listed here with its reason.
"""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.cases.driven import driven

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.data

ITERATIONS = "the top counters leave out the advisor's or the compaction's tokens, which are billed beside them"
MISTRAL_CACHE = "Mistral's older name of cached tokens, which it bills at a tenth of the input price"
BEDROCK_WRITES = "cache writes of a GPT model on Bedrock, billed at 1.25 times the input price"
# Lines with frames of a video that OpenRouter counts (`video_tokens`), which the library does not read; sold as input.
FRAMES = {58: 258}

READ_OTHERWISE = {
    69: ITERATIONS,
    82: ITERATIONS,
    **dict.fromkeys((105, 107, 116, 125, 128, 162, 251, 254, 288, 312), MISTRAL_CACHE),
    326: BEDROCK_WRITES,
    327: BEDROCK_WRITES,
}
GEMINI_CACHE = "a cached token of Gemini 2.5 Flash cost a quarter of the input price until 2025-11-07"
NEWER_LIST = "the library's price of cached tokens at the time of its reading was another than that of today's list"
BEFORE_THE_MODEL = "priced before the model came out: we hold its first price, the library one of its later ones"
PRICED_OTHERWISE = {
    **READ_OTHERWISE,
    **dict.fromkeys((158, 160, 234, 247, 308, 431), GEMINI_CACHE),
    378: NEWER_LIST,
    428: BEFORE_THE_MODEL,
    524: "a ':free' name is no proof that nothing was charged; without a reported charge it stays unpriced",
}
# Lines without a price of the library that our matching explains: a prefix of the API or of the maker, a dated build.
PRICED_BY_US_ALONE = {32, 53, 321, 322, 323, 439}


@pytest.fixture(scope="module")
def readings(data_dir: Path) -> dict[str, tuple[dict[str, Any], dict[str, str], str]]:
    """(usage, prices, priced) by line: the reading of the provider that served it, where the file has one."""
    folder = data_dir / "provider_usage"
    with (folder / "own_reading.csv").open(encoding="utf-8") as file:
        own = {row["line"]: row for row in csv.DictReader(file)}
    found = {}
    for line, record in bodies(folder).items():
        for reading in record["extracted"]:
            for one in reading["extractors"]:
                if (one["provider_id"], one["api_flavor"]) == (own[line]["provider"], own[line]["flavour"]):
                    found[line] = (reading["usage"], one, own[line]["priced"])
    assert len(found) == sum(bool(row["provider"]) for row in own.values()) == 511
    return found


def bodies(folder: Path) -> dict[str, dict[str, Any]]:
    with (folder / "usage_bodies_priced.jsonl").open(encoding="utf-8") as file:
        return {str(number): json.loads(line) for number, line in enumerate(file, 1)}


@pytest.fixture(scope="module")
def stored(data_dir: Path, readings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """What was stored of each line, as inspection shows it."""
    home = tmp_path_factory.mktemp("provider_usage")
    given = bodies(data_dir / "provider_usage")
    log = home / "log.jsonl"
    with log.open("w", encoding="utf-8") as file:
        for line, (_, prices, _) in readings.items():
            body = {name: value for name, value in given[line]["body"].items() if name != "file"}
            call = {"id": line, "timestamp": "2025-11-06T12:00:00Z", "provider": prices["provider_id"]}
            file.write(json.dumps({**call, "response": body}) + "\n")
    with driven([log], home / "store") as outcome:
        assert outcome.rejected == []
        yield {row["source_record"]: row for row in outcome.requests}


def ours(tokens: dict[str, int | None]) -> dict[str, int]:
    counts = {name: count or 0 for name, count in tokens.items()}
    inputs = {name: count for name, count in counts.items() if not name.startswith(("output", "reasoning"))}
    return {
        "input_tokens": sum(inputs.values()),
        "output_tokens": sum(counts.values()) - sum(inputs.values()),
        "cache_read_tokens": counts["cache_read"] + counts["cache_read_audio"],
        "cache_write_tokens": sum(count for name, count in counts.items() if name.startswith("cache_write")),
        "output_reasoning_tokens": counts["reasoning"],
        "input_audio_tokens": counts["input_audio"] + counts["cache_read_audio"],
    }


def whole(prices: dict[str, str]) -> Decimal:
    """The library's price, searches and other fees included where it reads any."""
    both = Decimal(prices["input_price"]) + Decimal(prices["output_price"])
    return Decimal(prices.get("total_price", both))


def pictures(usage: dict[str, int]) -> int:
    """Tokens of images, pages and frames that no cache held."""
    seen = usage.get("input_image_tokens", 0) + usage.get("input_video_tokens", 0)
    return seen - usage.get("cache_image_read_tokens", 0) - usage.get("cache_video_read_tokens", 0)


def test_classes_are_those_of_the_providers_own_reading(readings, stored):
    differing = set()
    for line, (usage, _, _) in readings.items():
        found = ours(stored[line]["tokens"])
        if found != {name: usage.get(name, 0) for name in found}:
            differing.add(int(line))
        assert (stored[line]["tokens"]["input_image"] or 0) == pictures(usage) + FRAMES.get(int(line), 0)
    assert differing == READ_OTHERWISE.keys()


def test_prices_are_those_of_the_providers_own_reading(readings, stored):
    differing, alone = set(), set()
    for line, (_, prices, priced) in readings.items():
        cost = stored[line]["cost_usd"]
        if priced == "no":
            alone |= {int(line)} if cost is not None else set()
        elif cost is None or Decimal(cost) != whole(prices):
            differing.add(int(line))
    assert differing == PRICED_OTHERWISE.keys()
    assert alone == PRICED_BY_US_ALONE


def test_every_counter_adds_up_to_the_bodys_own_total(stored):
    for line, row in stored.items():
        assert not {"sum_mismatch", "inconsistent_usage"} & set(row["warnings"]), line
