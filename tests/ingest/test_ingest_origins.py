"""One call that several sources told of is one row, whatever came first, and every source keeps its place."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest
from made_logs import call, make_store

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

RESPONSE = "chatcmpl-5b7c00000000000000000042"
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "total_tokens": 1100,
    "prompt_tokens_details": {"cached_tokens": 600},
}
PROVIDERS = call(1, response_id=RESPONSE, usage=USAGE, tags={"release": "7"})
GATEWAYS = {
    "id": RESPONSE,
    "call_type": "acompletion",
    "response_cost": 0.0004,
    "status": "success",
    "custom_llm_provider": "openai",
    "startTime": 1_760_000_001.0,
    "endTime": 1_760_000_001.6,
    "model": "gpt-4o-mini",
    "model_group": "mini",
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "total_tokens": 1100,
    "metadata": {"user_api_key_alias": "web", "user_api_key_team_alias": "Web", "usage_object": USAGE},
    "request_tags": ["feature:search"],
}
TRACERS = {
    "id": "obs-1",
    "traceId": "t-1",
    "type": "GENERATION",
    "startTime": "2025-10-09T08:53:21Z",
    "model": "gpt-4o-mini",
    "usageDetails": {"input": 400, "input_cached_tokens": 600, "output": 100, "total": 1100},
    "metadata": {"attributes": {"gen_ai.response.id": RESPONSE}, "environment": "prod"},
}
LOGS = {"provider": PROVIDERS, "gateway": GATEWAYS, "tracer": TRACERS}
SOURCES = {"provider": "openai_chat", "gateway": "litellm_standard_logging", "tracer": "langfuse"}
FACTS = (
    "SELECT tok_input, tok_cache_read, tok_output, tok_total_reported, api_key_alias, trace_id, prompt_bytes, tags, "
    "source, cost_reported_pusd FROM requests"
)


def write(folder: Path, *names: str) -> list[Path]:
    folder.mkdir()
    paths = []
    for name in names:
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text(json.dumps(LOGS[name]) + "\n")
    return paths


def origins(store: Store) -> list[str]:
    return [source for (source,) in store.rows("SELECT source FROM request_origins ORDER BY source")]


def test_a_call_of_a_gateway_a_tracer_and_its_provider_is_one_row_in_any_order(tmp_path: Path) -> None:
    found = set()
    for number, order in enumerate(itertools.permutations(LOGS)):
        store = make_store(tmp_path / f"store{number}")
        for path in write(tmp_path / f"logs{number}", *order):
            store.ingest(path)
        found.add(store.one(f"SELECT to_json(r) FROM ({FACTS}) AS r"))
        assert origins(store) == sorted(SOURCES.values())
        store.warehouse.close()
    assert len(found) == 1, found
    (row,) = (json.loads(text) for text in found)
    assert (row["tok_input"], row["tok_cache_read"], row["tok_output"], row["tok_total_reported"]) == (
        400,
        600,
        100,
        1100,
    )
    assert (row["api_key_alias"], row["trace_id"], row["cost_reported_pusd"]) == ("web", "t-1", 400_000_000)
    assert row["prompt_bytes"] is not None
    labels = json.loads(row["tags"])
    assert labels == {"feature": "search", "team": "Web", "environment": "prod", "release": "7"}


@pytest.mark.parametrize("names", list(itertools.permutations(LOGS)))
def test_read_together_they_are_one_row_too(store: Store, tmp_path: Path, names: tuple[str, ...]) -> None:
    summary = store.ingest(*write(tmp_path / "logs", *names))
    assert (summary.stored, summary.merged) == (1, 2)
    assert origins(store) == sorted(SOURCES.values())


def test_reading_again_adds_no_origin(store: Store, tmp_path: Path) -> None:
    paths = write(tmp_path / "logs", *LOGS)
    store.ingest(*paths)
    before = store.rows("SELECT * FROM request_origins ORDER BY source")
    for path in paths:
        path.touch()
    store.ingest(*paths)
    assert store.rows("SELECT * FROM request_origins ORDER BY source") == before


def test_a_call_of_one_source_has_its_place_in_its_own_row_alone(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(json.dumps(PROVIDERS) + "\n")
    store.ingest(log)
    (tmp_path / "copy.jsonl").write_text(log.read_text())
    store.ingest(tmp_path / "copy.jsonl")
    assert origins(store) == []


def test_an_answer_of_the_gateways_own_cache_stays_a_call_of_its_own(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "gateway.jsonl"
    again = {**GATEWAYS, "id": f"{RESPONSE}_cache_hit1760000009.5", "cache_hit": True, "response_cost": 0.0}
    log.write_text(json.dumps(GATEWAYS) + "\n" + json.dumps(again) + "\n")
    store.ingest(log)
    assert store.rows("SELECT cost_state = 'not_billed', count(*) FROM requests GROUP BY ALL ORDER BY ALL") == [
        (False, 1),
        (True, 1),
    ]
