"""The figures that the public data sets are known to have, at the level of events."""

from __future__ import annotations

import csv
import json
from decimal import Decimal

import pytest

from app.core.hashing import request_key
from app.core.usage import TOKEN_CLASSES, Rejected, UsageEvent, tokens_in, tokens_out
from ingest.formats import detect_format, format_named, generic_rows
from ingest.formats.column_map import propose

pytestmark = pytest.mark.data


def lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def fullest(events):
    """One event a call, the one that knows most tokens."""
    kept = {}
    for event in events:
        key = request_key(event.provider_response_id, "test", event.source_record)
        size = (tokens_in(event) or 0) + (tokens_out(event) or 0)
        if key not in kept or size >= kept[key][0]:
            kept[key] = (size, event)
    return [event for _, event in kept.values()]


def test_claude_code_has_169_requests_and_every_class(data_dir, read):
    events = []
    for path in sorted((data_dir / "claude_code").rglob("*.jsonl")):
        if "edge_cases" in path.parts:
            continue
        items = read(*lines(path))
        assert all(item.benign for item in items if isinstance(item, Rejected))
        events += [item for item in items if isinstance(item, UsageEvent)]
    calls = fullest(events)
    sums = {name: sum(getattr(call, name) or 0 for call in calls) for name in TOKEN_CLASSES}
    assert len(calls) == 169
    assert {name: value for name, value in sums.items() if value} == {
        "tok_input": 1866,
        "tok_output": 30710,
        "tok_cache_read": 12914585,
        "tok_cache_write_5m": 559475,
        "tok_cache_write_1h": 57373,
    }


def test_claude_code_edge_cases_are_read_or_named(data_dir, read):
    for path in sorted((data_dir / "claude_code" / "edge_cases").glob("*.jsonl")):
        records = lines(path)
        items = read(*records)
        assert len(items) == len(records)
        assert all(item.reason for item in items if isinstance(item, Rejected))


def test_pi_has_439_priced_messages_and_14_unknown_ones(data_dir, read):
    records = lines(data_dir / "pi_sessions" / "large-session.jsonl")
    form = detect_format(records)
    events = {}
    for index, record in enumerate(records):
        (item,) = read(record, form=form)
        if isinstance(item, UsageEvent):
            events[index] = item
    with (data_dir / "pi_sessions" / "usage_expected.csv").open(encoding="utf-8") as file:
        expected = list(csv.DictReader(file))
    assert len(events) == len(expected) == 453
    assert len({event.source_record for event in events.values()}) == 453
    for row in expected:
        event = events[int(row["line"])]
        known = [event.tok_input, event.tok_output, event.tok_cache_read]
        known.append((event.tok_cache_write_5m or 0) + (event.tok_cache_write_30m or 0))
        assert [value or 0 for value in known] == [
            int(row[name]) for name in ("input", "output", "cache_read", "cache_write")
        ]
    priced = [event for event in events.values() if tokens_in(event) is not None]
    assert len(priced) == 439
    assert round(sum(Decimal(event.cost_reported_usd) for event in priced), 7) == Decimal("30.3301977")


def test_langfuse_has_21_generations_in_traces_and_22_in_all(data_dir, read):
    folder = data_dir / "langfuse"
    with (folder / "generations_expected.csv").open(encoding="utf-8") as file:
        expected = {row["obs_id"]: row for row in csv.DictReader(file)}
    in_traces, everywhere, renderings = {}, {}, 0
    for path in sorted(folder.glob("*.json")):
        for item in read(json.loads(path.read_text(encoding="utf-8")), form="langfuse"):
            if isinstance(item, Rejected):
                renderings += "ChatML" in item.reason
                assert item.benign or "ChatML" in item.reason
                continue
            everywhere[item.source_record] = item
            if path.name.endswith(".trace.json"):
                in_traces[item.source_record] = item
    assert len(everywhere) == 22
    assert renderings == len(list(folder.glob("*.chatml.json")))
    assert in_traces.keys() == expected.keys()
    for name, row in expected.items():
        event, usage = in_traces[name], json.loads(row["usage"])
        assert event.model == row["model"]
        assert (tokens_in(event), tokens_out(event)) == (usage.get("input"), usage.get("output"))
        assert event.warnings is None
        reported = event.cost_reported_usd
        assert (Decimal(reported) if reported else None) == (Decimal(row["cost_total"]) if row["cost_total"] else None)


def test_recorded_responses_are_read_by_their_own_api_and_add_up(data_dir, read):
    counts = {}
    for record in lines(data_dir / "provider_responses" / "openai_anthropic.jsonl"):
        (item,) = read(record, form="openai_chat")
        assert isinstance(item, UsageEvent), item.reason
        counts[item.operation] = counts.get(item.operation, 0) + 1
        assert item.warnings is None
        usages = [entry["usage"] for entry in record["usage"]]
        assert (tokens_in(item) or 0) == max(reported_input(usage) for usage in usages)
        assert (tokens_out(item) or 0) == max(reported_output(usage) for usage in usages)
    assert counts == {"chat": 313 + 16, "completion": 33, "embedding": 29}  # 16 are Assistants runs


def reported_input(usage):
    if "prompt_tokens" in usage or "input_tokens_details" in usage:
        return usage.get("prompt_tokens", usage.get("input_tokens")) or 0
    cache = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
    return (usage.get("input_tokens") or 0) + cache


def reported_output(usage):
    return usage.get("completion_tokens") or usage.get("output_tokens") or 0


def test_mooncake_has_its_requests_and_blocks(data_dir, read):
    events = read(*lines(data_dir / "mooncake" / "synthetic_trace.jsonl"))
    assert len(events) == 3993
    assert sum(len(event.prefix_hashes) for event in events) == 121_877


def test_lmcache_sessions_keep_their_text(data_dir, read):
    for path in sorted((data_dir / "lmcache").rglob("*.jsonl")):
        records = lines(path)
        if not records:
            continue
        events = read(*records)
        assert [event.prompt[0].text for event in events] == [record["input"] for record in records]
        assert all(event.start_us == record["timestamp"] for event, record in zip(events, records, strict=True))


@pytest.mark.parametrize(
    ("name", "requests", "tokens"),
    [("code", 8_819, (18_059_974, 245_896)), ("conv", 19_366, (22_361_870, 4_088_665))],
)
def test_an_unknown_table_reads_right_through_the_proposed_map(data_dir, name, requests, tokens):
    path = data_dir / "azure_llm_2023" / f"AzureLLMInferenceTrace_{name}.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    form = generic_rows.with_map(propose(list(rows[0]), rows[:50]))
    events = [event for row in rows for event in form.parse(row, None)]
    assert len(events) == requests
    assert (sum(event.tok_input for event in events), sum(event.tok_output for event in events)) == tokens


def test_samples_have_the_classes_that_their_makers_gave_them(sample, one):
    chat = one(*sample("openai_chat_completion"))
    assert (chat.tok_input, chat.tok_cache_read, chat.tok_cache_write_30m) == (176, 2560, 384)
    assert (chat.tok_output, chat.tok_reasoning, chat.service_tier) == (92, 320, "flex")
    message = one(*sample("anthropic_message"))
    row = one(*sample("litellm_spend_logs"))
    for name in TOKEN_CLASSES:  # the same call, seen by the API and by the gateway
        assert getattr(message, name) == getattr(row, name), name
    observed, exported = one(*sample("langfuse_observation_v2")), one(*sample("langfuse_blob_observation"))
    assert [getattr(observed, name) for name in TOKEN_CLASSES] == [getattr(exported, name) for name in TOKEN_CLASSES]


def test_claude_code_sample_is_one_call_whose_last_snapshot_is_fullest(sample, read):
    (call,) = fullest(read(*sample("claude_code"), form=format_named("claude_code")))
    assert (call.tok_input, call.tok_cache_read, call.tok_cache_write_1h, call.tok_output) == (12, 41000, 900, 340)
