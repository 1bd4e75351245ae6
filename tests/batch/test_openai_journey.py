"""A job with the real OpenAI SDK against a server that speaks its protocol: from a file to charged results."""

from __future__ import annotations

from world import NOW_US, chats


def test_a_job_comes_back_whole_charged_once_and_under_the_callers_ids(world, openai):
    job = world.submit(chats(5), base_url=openai.url, feature="tagging")
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.succeeded, view.counts.open) == ("completed", 5, 0)
    assert [line["custom_id"] for line in world.results(job)] == [f"row-{number}" for number in range(1, 6)]
    assert len(openai.batches) == 1
    rows = world.requests("is_batch", "model", "tok_input", "tok_output", "tags", "cost_state")
    assert len(rows) == 5
    assert {row[:4] for row in rows} == {(True, "gpt-4o-mini", 1000, 100)}
    assert openai.keys == {"sk-of-the-tests"}


def test_nothing_is_sent_before_its_time(world, openai):
    job = world.submit(chats(2), base_url=openai.url, start_us=NOW_US + 3_600_000_000)
    world.advance(times=3, every_s=600)
    assert openai.calls == {}
    assert world.view(job).status == "scheduled"
    world.clock.pass_s(3600)
    assert world.until_settled(job).job.outcome == "completed"
