"""The reported failures of batch jobs, one test each, replayed by a peer that says what the report says."""

from __future__ import annotations

import json
import os
import re
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from peers.openai_peer import OpenAIPeer
from world import World, chat, message

from app import batch
from app.batch.provider import Limits
from app.batch.split import Line, in_order, shares
from app.core.money import usd

pytestmark = pytest.mark.data

CASES = Path(os.environ.get("HALVE_DATA", "/nonexistent")).parent / "cases" / "cases.jsonl"


def case(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is given and what is right."""
    with CASES.open(encoding="utf-8") as file:
        found = next(one for line in file if (one := json.loads(line))["id"] == name)
    return found["minimal_input"], found["expected"]


class ReportedPeer(OpenAIPeer):
    """Answers polls with the reported batch objects, one after the other, and downloads with the reported files.

    Items are known by their text, which is the caller's id, so that reported rows come back under the ids of the batch.
    """

    def report(self, polls: list[dict[str, Any]], files: dict[str, list[dict[str, Any]]]) -> None:
        self.polls, self.reported = list(polls), files

    def shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        number = min(self.calls["retrieve"], len(self.polls))
        said = {"status": "in_progress", "output_file_id": None, "error_file_id": None}
        if number:
            said = self.polls[number - 1]
        return {**self.polls[-1], **said, "id": batch["id"], "metadata": batch["metadata"]}

    def _content(self, file_id: str) -> list[bytes]:
        ids = {body["messages"][0]["content"]: safe for safe, body in self.sent()}
        return [json.dumps({**row, "custom_id": ids[row["custom_id"]]}).encode() for row in self.reported[file_id]]


@pytest.fixture
def reported(world):
    peer = ReportedPeer(world.clock.seconds)
    yield peer
    peer.close()


def run(world: World, peer: ReportedPeer, given: dict[str, Any], ids: list[str], **order: Any) -> batch.JobView:
    peer.report([given["batch"]], given.get("files", {}))
    job = world.submit([chat(one, one) for one in ids], base_url=peer.url, max_attempts=1, **order)
    return world.until_settled(job)


def cost(world: World) -> Decimal:
    """What the warehouse says the job cost; requests that were not billed have no cost and add nothing."""
    rows = world.requests("cost_pusd", "cost_state")
    assert {state for _, state in rows} <= {"priced", "not_billed", "unknown"}
    return usd(sum(amount or 0 for amount, _ in rows))


def buckets(world: World) -> dict[str, int]:
    rows = world.requests("tok_input", "tok_output")
    return {"input_uncached": sum(row[0] or 0 for row in rows), "output": sum(row[1] or 0 for row in rows)}


def test_llmc_115_completed_without_an_output_file_is_a_failed_job(world, reported):
    given, right = case("LLMC-115")
    view = run(world, reported, given, ["row-1", "row-2"])
    assert view.job.outcome == right["job_state"]
    assert (view.counts.succeeded, view.counts.failed) == (right["succeeded"], right["failed"])
    assert cost(world) == Decimal(right["cost_usd"])
    code, count, _ = view.top_errors[0]
    assert f"{code} ({count})" == right["top_error"]
    assert view.job.error == right["top_error"]


def test_llmc_116_an_empty_file_id_is_no_file(world, reported):
    given, right = case("LLMC-116")
    view = run(world, reported, given, [row["custom_id"] for row in given["files"]["file-out"]])
    assert (view.counts.succeeded, view.counts.failed) == (right["succeeded"], right["failed"])
    assert buckets(world) == right["buckets"]
    assert cost(world) == Decimal(right["cost_usd"])
    assert not [path for path in reported.paths if right["no_request_to"] in path]


def test_llmc_118_a_cancelled_batch_is_settled_from_its_output(world, reported):
    given, right = case("LLMC-118")
    view = run(world, reported, given, given["input_ids"])
    states = world.states(view.job)
    assert [one for one, state in states.items() if state == "succeeded"] == right["succeeded"]
    assert sorted(one for one, state in states.items() if state == "cancelled") == right["cancelled"]
    assert buckets(world) == right["buckets"]
    assert cost(world) == Decimal(right["cost_usd"])


def test_llmc_119_polls_before_the_end_and_at_once_settle_once(world, reported):
    given, right = case("LLMC-119")
    polls = [step["poll"] for step in given["steps"] if "poll" in step]
    reported.report(polls, given["files"])
    ids = [row["custom_id"] for row in given["files"]["file-out"]]
    job = world.submit([chat(one, one) for one in ids], base_url=reported.url)
    other = World(world.data, world.clock)
    while world.view(job).job.state != "settled":
        both = [threading.Thread(target=batch.advance, args=(one.desk,)) for one in (world, other)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        world.clock.pass_s(61)
    other.close()
    assert len(world.sunk) + len(other.sunk) == right["settlements"]
    assert len(world.requests("request_key")) == right["requests"]
    assert buckets(world) == right["buckets"]
    assert cost(world) == Decimal(right["cost_usd"])


def test_llmc_121_a_full_queue_is_later_and_smaller_not_a_failure(world, reported):
    given, right = case("LLMC-121")
    reported.report([given["batch"]], {})
    job = world.submit([chat(f"row-{number}", "x" * 4000) for number in range(8)], base_url=reported.url)
    before = world.view(job).parts
    for _ in range(3):
        world.advance(every_s=61)
    view = world.view(job)
    assert view.status == right["job_state"]
    assert view.counts.open == 8
    assert max(part.tokens_est for part in view.parts[1:]) < before[0].tokens_est
    assert sum(part.items for part in view.parts[1:]) == 8
    assert len(reported.batches) == right["attempt_counted"]
    assert cost(world) == Decimal(right["cost_usd"])
    waits_us = min(part.next_us for part in view.parts[1:]) - world.clock()
    assert waits_us > 0


def test_llmc_122_results_are_matched_by_id_not_by_place(world, reported):
    given, right = case("LLMC-122")
    view = run(world, reported, given, given["input_ids"])
    found = {
        line["custom_id"]: {"prompt_tokens": line["response"]["body"]["usage"]["prompt_tokens"]}
        for line in world.results(view.job)
    }
    assert found == right["by_custom_id"]


def test_llmc_124_ids_of_any_kind_travel_as_safe_ones_and_come_back(world, anthropic):
    given, right = case("LLMC-124")
    lines = [message(one["custom_id"], **one["params"] | {"text": "x"}) for one in _plain(given["requests"])]
    job = world.submit(lines, "anthropic", base_url=anthropic.url)
    world.until_settled(job)
    assert all(re.fullmatch(right["sent_ids_match"], safe) for safe, _ in anthropic.sent())
    assert [line["custom_id"] for line in world.results(job)] == right["caller_ids_restored_in_results"]


def _plain(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The case's requests without the prompt, which the line's maker adds."""
    kept = ("model", "max_tokens")
    return [{**one, "params": {name: one["params"][name] for name in kept}} for one in requests]


def test_llmc_125_a_file_is_split_by_bytes_too():
    given, right = case("LLMC-125")
    limits = Limits(rows=given["limits"]["max_requests"], bytes=given["limits"]["max_bytes"], one_model=True)
    size = given["bytes_each"]
    lines = [
        Line(seq, "m", "/v1/chat/completions", b"", seq * (size + 1), size, size // 4, f"row-{seq}")
        for seq in range(given["requests"])
    ]
    made = list(shares(in_order(lines, limits), limits, None))
    assert len(made) == right["files"]
    assert all(share.bytes < right["each_bytes_below"] for share in made)
    assert sum(len(share.lines) for share in made) == right["total_requests"]


def test_llmc_127_malformed_lines_are_refused_here_with_their_numbers(world, openai):
    given, right = case("LLMC-127")
    lines = given["raw_files"]["in.jsonl"].encode().splitlines()
    with pytest.raises(batch.RefusedLinesError) as caught:
        world.submit(lines, base_url=openai.url)
    assert [{"line": one.line, "reason": one.reason} for one in caught.value.problems] == right["errors"]
    world.advance()
    assert openai.calls == {}


def test_llmc_128_a_crash_after_the_provider_accepted_adopts_its_batch(world, openai, monkeypatch):
    _, right = case("LLMC-128")
    job = world.submit([chat("row-1")], base_url=openai.url)

    class Killed(BaseException):
        pass

    def die(*_arguments, **_named):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("app.batch.submission.accept", die)
        with pytest.raises(Killed):
            world.advance()
    assert len(openai.batches) == 1
    restarted = World(world.data, world.clock)
    view = restarted.until_settled(job)
    restarted.close()
    assert len(openai.batches) == right["provider_batches_total"]
    assert [part.batch_id for part in view.parts] == list(openai.batches)
    assert view.job.outcome == "completed"


def test_llmc_130_ready_at_the_provider_is_not_stored_here(world, openai):
    _, right = case("LLMC-130")
    openai.troubles["content"].extend(["400"] * 4)
    job = world.submit([chat("row-1"), chat("row-2")], base_url=openai.url)
    world.advance(times=2, every_s=61)
    assert world.view(job).status == right["job_state_until_downloaded"]
    warned = False
    while world.view(job).job.state != "settled":
        world.advance(every_s=30)
        warned = warned or world.view(job).job.warning is not None
    assert warned == right["alert_before_retention_ends"]
    assert len(world.results(job)) == right["results"]


def test_llmc_131_submitted_is_not_succeeded(world, reported):
    given, right = case("LLMC-131")
    reported.report([given["batch"]], given["files"])
    job = world.submit([chat(one, one) for one in given["input_ids"]], base_url=reported.url, max_attempts=2)
    world.advance()
    assert world.view(job).counts.succeeded == 0
    world.advance(every_s=61)
    world.advance()
    view = world.view(job)
    assert (view.counts.total, view.counts.succeeded) == (right["submitted"], right["succeeded"])
    assert (view.counts.failed, view.to_retry) == (right["failed"], right["to_retry"])
    assert view.counts.total == view.counts.succeeded + view.counts.failed + view.counts.open
