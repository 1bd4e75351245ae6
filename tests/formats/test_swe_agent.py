from __future__ import annotations

import json

import pytest

from app.core.usage import Rejected
from ingest.formats import format_named
from ingest.formats.format import Origin

STATS = {"instance_cost": 0.30000000000000004, "tokens_sent": 9000, "tokens_received": 70, "api_calls": 4}


def run(stats=STATS, **more):
    return {"environment": "main", "trajectory": [{"action": "ls"}], "history": [],
            "info": {"exit_status": "submitted", "model_stats": stats}, **more}  # fmt: skip


def one_run(record, file="runs/repo__issue-7.traj"):
    (item,) = format_named("swe_agent").parse(record, Origin("s", file, 1))
    return item


def configured(model):
    return {"agent": {"model": {"name": model}}}


def test_a_run_is_one_record_with_the_sum_of_its_calls():
    event = one_run(run())
    assert (event.tok_input, event.tok_output, event.cost_reported_usd) == (9000, 70, "0.3")
    assert (event.operation, event.calls_summed, event.source_record) == ("agent_run", 4, "repo__issue-7")
    assert (event.model, event.start_us) == (None, None)


@pytest.mark.parametrize(("api_calls", "summed"), [(4, 4), (1, None), (0, 0), (None, 0), ("many", 0)])
def test_a_run_of_a_configured_model_is_the_sum_of_its_calls(api_calls, summed):
    stats = {**STATS, "tokens_sent": 900_000, "api_calls": api_calls}
    many = one_run(run(stats, replay_config=configured("gpt-4o")))
    assert (many.model, many.calls_summed, many.warnings) == ("gpt-4o", summed, ["cache_not_logged"])


@pytest.mark.parametrize("record", [None, [], {"trajectory": 5}, {"trajectory": [], "info": {}}])
def test_a_run_without_counts_is_named(record):
    item = one_run(record)
    assert isinstance(item, Rejected)
    assert not item.benign


def test_it_is_found_by_content(read):
    (event,) = read(run())
    assert event.tags["agent"] == "swe_agent"


@pytest.mark.data
def test_the_published_runs(data_dir):
    found = {}
    for path in sorted((data_dir / "swe_agent").glob("*.traj")):
        event = one_run(json.loads(path.read_text(encoding="utf-8")), str(path))
        found[event.cost_reported_usd] = (event.tok_input, event.tok_output)
    assert found == {"1.26719": (122_612, 1_369), "0.53839": (52_861, 326), "0.01952": (7_141, 243)}
