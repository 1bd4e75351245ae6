"""Message batches with the real Anthropic SDK: a lost batch is known by time and size, and proved by its ids."""

from __future__ import annotations

import pytest
from world import message, messages

from app import batch


def questions(peer):
    return sorted(params["messages"][0]["content"] for _, params in peer.sent())


def test_a_job_comes_back_whole_and_is_charged_at_the_batch_price(world, anthropic):
    job = world.submit(messages(4), "anthropic", base_url=anthropic.url, feature="summaries")
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.succeeded) == ("completed", 4)
    assert [line["custom_id"] for line in world.results(job)] == [f"row-{number}" for number in range(1, 5)]
    rows = world.requests("is_batch", "model", "tok_input", "tok_output", "cost_pusd", "start_us")
    assert {row[:4] for row in rows} == {(True, "claude-sonnet-4-5", 1000, 100)}
    # $3 and $15 per million, halved: 1,000 x 1.5 + 100 x 7.5 millionths
    assert {row[4] for row in rows} == {2_250_000_000}
    assert all(row[5] for row in rows), "a request without a time would be in no month"
    assert anthropic.keys == {"sk-ant-of-the-tests"}


@pytest.mark.parametrize("trouble", ["drop_after", "500_after"])
def test_a_lost_answer_is_found_by_size_and_time(world, anthropic, trouble):
    anthropic.troubles["create"].append(trouble)
    anthropic.listed_after_s = 2
    anthropic.works_s = 30
    job = world.submit(messages(3), "anthropic", base_url=anthropic.url)
    assert world.until_settled(job, every_s=1).job.outcome == "completed"
    assert (anthropic.calls["create"], questions(anthropic)) == (1, ["question 1", "question 2", "question 3"])
    assert len(world.requests("request_key")) == 3


def test_somebody_elses_batch_of_the_same_size_is_given_back(world, anthropic):
    anthropic.troubles["create"].append("500_before")
    job = world.submit(messages(3), "anthropic", base_url=anthropic.url)
    world.advance()
    theirs = anthropic.add_foreign(3)
    view = world.until_settled(job, every_s=5)
    assert view.job.outcome == "completed"
    assert [part.batch_id for part in view.parts] != [theirs]
    assert theirs in view.parts[0].not_ours
    assert questions(anthropic) == ["question 1", "question 2", "question 3"]
    assert len(world.requests("request_key")) == 3


def test_a_batch_that_may_be_somebody_elses_is_never_cancelled(world, anthropic):
    anthropic.troubles["create"].append("500_before")
    anthropic.works_s = 600
    job = world.submit(messages(3), "anthropic", base_url=anthropic.url)
    world.advance()
    anthropic.add_foreign(3)
    world.advance(every_s=5, times=3)
    batch.cancel(world.desk, job.id)
    assert world.until_settled(job).job.outcome == "cancelled"
    assert anthropic.calls["cancel"] == 0


def test_no_second_batch_is_sent_while_one_is_lost(world, anthropic):
    anthropic.troubles["create"].append("500_before")
    first = world.submit(messages(2), "anthropic", base_url=anthropic.url)
    world.advance()
    second = world.submit(messages(2), "anthropic", base_url=anthropic.url)
    world.advance(every_s=20, times=5)
    assert anthropic.calls["create"] == 1
    assert world.until_settled(first).job.outcome == "completed"
    assert world.until_settled(second).job.outcome == "completed"
    assert len(world.requests("request_key")) == 4


def test_errors_of_the_server_are_tried_again_and_bad_requests_are_not(world, anthropic):
    tries: dict[str, int] = {}

    def fate(_safe_id, params):
        text = params["messages"][0]["content"]
        tries[text] = tries.get(text, 0) + 1
        first = tries[text] == 1
        return {
            "question 1": "errored:invalid_request_error",
            "question 2": "errored:api_error" if first else "succeeded",
            "question 3": "expired" if first else "succeeded",
        }.get(text, "succeeded")

    anthropic.fate = fate
    job = world.submit(messages(4), "anthropic", base_url=anthropic.url)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.succeeded, view.counts.failed) == ("partly", 3, 1)
    assert tries == {"question 1": 1, "question 2": 2, "question 3": 2, "question 4": 1}
    assert sum(tokens or 0 for (tokens,) in world.requests("tok_input")) == 3000


def test_a_cancelled_job_settles_from_its_results(world, anthropic):
    anthropic.works_s = 600
    job = world.submit(messages(2), "anthropic", base_url=anthropic.url)
    world.advance(every_s=5)
    batch.cancel(world.desk, job.id)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.cancelled) == ("cancelled", 2)
    assert [line["result"]["type"] for line in world.results(job)] == ["canceled", "canceled"]


def test_models_may_be_mixed_in_one_batch(world, anthropic):
    lines = [message("a", model="claude-sonnet-4-5"), message("b", model="claude-haiku-4-5")]
    job = world.submit(lines, "anthropic", base_url=anthropic.url)
    assert world.until_settled(job).counts.succeeded == 2
    assert len(anthropic.batches) == 1


def test_requests_travel_as_they_were_written(world, anthropic):
    odd = message("a", text="“é\u2028 and 🙂", temperature=0.30000000000000004)
    world.until_settled(world.submit([odd], "anthropic", base_url=anthropic.url))
    ((_, params),) = anthropic.sent()
    assert params["messages"][0]["content"] == "“é\u2028 and 🙂"
    assert params["temperature"] == 0.30000000000000004
