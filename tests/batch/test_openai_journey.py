"""A job with the real OpenAI SDK against a server that speaks its protocol: from a file to charged results."""

from __future__ import annotations

import json

import pytest
from world import NOW_US, chat, chats

from app import batch
from app.core.errors import NotFoundError


def test_a_job_comes_back_whole_charged_once_and_under_the_callers_ids(world, openai):
    job = world.submit(chats(5), base_url=openai.url, feature="tagging")
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.succeeded, view.counts.open) == ("completed", 5, 0)
    assert [line["custom_id"] for line in world.results(job)] == [f"row-{number}" for number in range(1, 6)]
    assert len(openai.batches) == 1
    rows = world.requests("is_batch", "model", "tok_input", "tok_output", "cost_state", "cost_pusd")
    assert len(rows) == 5
    # $0.15 and $0.60 per million, halved: 1,000 x 0.075 + 100 x 0.3 millionths
    assert set(rows) == {(True, "gpt-4o-mini", 1000, 100, "priced", 105_000_000)}
    assert openai.keys == {"sk-of-the-tests"}


def test_nothing_is_sent_before_its_time(world, openai):
    job = world.submit(chats(2), base_url=openai.url, start_us=NOW_US + 3_600_000_000)
    world.advance(times=3, every_s=600)
    assert openai.calls == {}
    assert world.view(job).status == "scheduled"
    world.clock.pass_s(3600)
    assert world.until_settled(job).job.outcome == "completed"


def test_no_secret_and_no_key_is_kept_anywhere(world, openai):
    world.until_settled(world.submit(chats(2), base_url=openai.url))
    world.requests("request_key")
    kept = [path for path in world.data.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"sk-of-the-tests" in path.read_bytes()]


def test_requests_carry_the_feature_the_job_and_the_callers_id(world, openai):
    job = world.submit([chat("order/17")], base_url=openai.url, feature="tagging", tags={"team": "search"})
    world.until_settled(job)
    ((tags,),) = world.requests("tags")
    assert (json.loads(tags) if isinstance(tags, str) else dict(tags)) == {
        "feature": "tagging",
        "team": "search",
        "batch_job": job.id,
        "batch_label": "tagging",
        "custom_id": "order/17",
    }


def test_only_the_answers_are_kept_and_not_for_ever(world, openai):
    job = world.submit(chats(2), base_url=openai.url)
    world.until_settled(job)
    folder = world.desk.folder / job.id
    assert [path.name for path in folder.iterdir()] == ["results.jsonl"]
    assert batch.prune(world.control, world.desk.folder, world.clock() - 3600_000_000) == 0
    assert batch.prune(world.control, world.desk.folder, world.clock() + 1) == 1
    with pytest.raises(NotFoundError, match="no longer kept"):
        world.results(job)
    assert world.view(job).counts.succeeded == 2
