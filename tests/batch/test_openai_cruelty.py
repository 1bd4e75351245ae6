"""What networks and OpenAI-like servers do to a batch: each time every item is there once, charged once, not stuck."""

from __future__ import annotations

import pytest
from peers.openai_peer import failed_at
from world import SECOND_US, World, chat, chats

from app import batch
from app.control import batches


def bodies(peer):
    return sorted(body["messages"][0]["content"] for _, body in peer.sent())


def questions(count):
    return sorted(f"question {number}" for number in range(1, count + 1))


@pytest.mark.parametrize("trouble", ["drop_after", "500_after"])
def test_an_accepted_batch_whose_answer_got_lost_is_found_and_not_sent_again(world, openai, trouble):
    openai.troubles["create"].append(trouble)
    openai.listed_after_s = 2
    job = world.submit(chats(4), base_url=openai.url)
    world.advance()
    assert world.view(job).status == "submitting"
    view = world.until_settled(job, every_s=1)
    assert view.job.outcome == "completed"
    assert bodies(openai) == questions(4)
    assert openai.calls["create"] == 1
    assert len(world.requests("request_key")) == 4


@pytest.mark.parametrize("trouble", ["drop_before", "500_before"])
def test_a_batch_that_was_never_accepted_is_sent_again_only_after_the_listing_delay(world, openai, trouble):
    openai.troubles["create"].append(trouble)
    job = world.submit(chats(2), base_url=openai.url)
    world.advance(times=11, every_s=10)
    assert openai.calls["create"] == 1, "the list may still be behind"
    assert world.until_settled(job, every_s=10).job.outcome == "completed"
    assert openai.calls["create"] == 2
    assert bodies(openai) == questions(2)


def test_a_failed_upload_is_tried_again_without_a_search(world, openai):
    openai.troubles["upload"].extend(["500_before", "drop_after"])
    job = world.submit(chats(2), base_url=openai.url)
    assert world.until_settled(job, every_s=10).job.outcome == "completed"
    assert (openai.calls["upload"], openai.calls["create"], openai.calls["list"]) == (3, 1, 0)


def test_a_429_waits_as_long_as_it_asks_and_longer_than_a_500(world, openai):
    openai.troubles["create"].append("429")
    job = world.submit(chats(1), base_url=openai.url)
    world.advance()
    part = world.view(job).parts[0]
    assert part.state == "queued"
    assert part.next_us - world.clock() >= 70 * SECOND_US
    world.advance(times=6, every_s=10)
    assert openai.calls["create"] == 1
    assert world.until_settled(job, every_s=10).job.outcome == "completed"


@pytest.mark.parametrize(
    "asks",
    ["inf", "1e400", "Sun, 06 Nov 2094 08:49:37 GMT", "Sun, 06 Nov 2094 08:49:37 +99999999999999", "later"],
)
def test_a_pause_that_nobody_can_wait_for_puts_a_job_off_for_a_day_at_most(world, openai, asks):
    openai.asks = asks
    openai.troubles["create"].append("429")
    job = world.submit(chats(1), base_url=openai.url)
    world.advance()
    part = world.view(job).parts[0]
    assert part.state == "queued"
    assert 0 < part.next_us - world.clock() <= 86_400 * SECOND_US
    assert world.until_settled(job, every_s=7200).job.outcome == "completed"


def test_a_spent_account_waits_for_quota(world, openai):
    openai.troubles["create"].append("quota")
    job = world.submit(chats(1), base_url=openai.url)
    world.advance()
    assert world.view(job).status == "waiting_for_quota"
    assert world.until_settled(job, every_s=60).job.outcome == "completed"


@pytest.mark.parametrize("trouble", ["400", "401"])
def test_a_refusal_is_final_and_never_repeated(world, openai, trouble):
    openai.troubles["create"].append(trouble)
    job = world.submit(chats(3), base_url=openai.url)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.failed) == ("failed", 3)
    assert openai.calls["create"] == 1
    assert [line["error"]["code"] for line in world.results(job)] == [view.top_errors[0][0]] * 3
    assert world.requests("request_key") == []


def test_only_failed_items_are_sent_again_and_4xx_never(world, openai):
    tries: dict[str, int] = {}

    def fate(_safe_id, body):
        text = body["messages"][0]["content"]
        tries[text] = tries.get(text, 0) + 1
        return {"question 2": "400", "question 3": "500" if tries[text] == 1 else "ok"}.get(text, "ok")

    openai.fate = fate
    job = world.submit(chats(4), base_url=openai.url)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.succeeded, view.counts.failed) == ("partly", 3, 1)
    assert tries == {"question 1": 1, "question 2": 1, "question 3": 2, "question 4": 1}
    assert [line["response"]["status_code"] for line in world.results(job)] == [200, 400, 200, 200]
    charged = world.requests("status", "tok_input")
    assert sum(tokens or 0 for _, tokens in charged) == 3000
    assert len([one for one in charged if one[0] == "error"]) == 2, "each failed attempt is a request of its own"


def test_an_item_that_always_fails_ends_after_its_attempts(world, openai):
    openai.fate = lambda _safe_id, _body: "500"
    job = world.submit(chats(1), base_url=openai.url, max_attempts=2)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.failed, len(openai.batches)) == ("failed", 1, 2)


def test_expiry_keeps_what_is_done_and_sends_the_rest_again(world, openai):
    openai.ends.append({"status": "expired", "finished": 3})
    job = world.submit(chats(5), base_url=openai.url)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.succeeded) == ("completed", 5)
    assert len(openai.charged()) == 5
    assert sum(tokens or 0 for (tokens,) in world.requests("tok_input")) == 5000


def test_results_are_matched_by_id_in_any_order(world, openai):
    openai.tokens = lambda body: len(body["messages"][0]["content"])
    order = range(50, 0, -1)
    job = world.submit([chat(f"row-{number}", "x" * number) for number in order], base_url=openai.url)
    world.until_settled(job)
    found = [(line["custom_id"], line["response"]["body"]["usage"]["prompt_tokens"]) for line in world.results(job)]
    assert found == [(f"row-{number}", number) for number in order]


@pytest.mark.parametrize("trouble", ["torn", "cut", "short", "500_before", "drop_before"])
def test_a_broken_download_is_repeated_and_nothing_is_lost_or_charged_twice(world, openai, trouble):
    openai.troubles["content"].extend([trouble] * 2)
    job = world.submit(chats(6), base_url=openai.url)
    view = world.until_settled(job, every_s=20)
    assert (view.job.outcome, view.counts.succeeded) == ("completed", 6)
    assert len(world.requests("request_key")) == 6
    assert len(openai.batches) == 1


def test_a_line_that_stays_torn_costs_that_line_alone(world, openai):
    openai.shuffle = False
    openai.troubles["content"].extend(["torn"] * 60)
    job = world.submit(chats(3), base_url=openai.url)
    view = world.until_settled(job, every_s=600)
    assert (view.counts.succeeded, view.counts.failed) == (2, 1)
    assert openai.calls["create"] == 1, "the torn answer may be paid: it is not bought again"
    assert world.results(job)[2]["error"]["code"] == "no_result"


def test_results_that_never_come_whole_are_not_bought_again(world, openai):
    openai.shuffle = False
    openai.troubles["content"].extend(["short"] * 60)
    job = world.submit(chats(3), base_url=openai.url)
    view = world.until_settled(job, every_s=600)
    assert (view.counts.succeeded, view.counts.failed) == (2, 1)
    assert openai.calls["create"] == 1


def test_an_answer_about_another_batch_settles_nothing(world, openai):
    job = world.submit(chats(3), base_url=openai.url)
    shown, crossed = openai.shown, []

    def crosswise(batch):
        told = shown(batch)
        if openai.calls["retrieve"] == 1 and not crossed:
            crossed.append(told)
            return {**told, "id": "batch_other", "status": "failed"}
        return told

    world.advance(2)
    openai.shown = crosswise
    view = world.until_settled(job, every_s=20)
    assert crossed
    assert (view.job.outcome, view.counts.succeeded) == ("completed", 3)
    assert openai.calls["create"] == 1


def test_slow_bytes_are_waited_for(world, openai):
    openai.slow_s = 0.4
    job = world.submit(chats(3), base_url=openai.url)
    assert world.until_settled(job).job.outcome == "completed"


def test_results_wait_at_the_provider_until_they_are_here_and_the_reader_is_warned(world, openai):
    openai.troubles["content"].extend(["400"] * 4)
    job = world.submit(chats(2), base_url=openai.url)
    while world.view(job).status != "results_pending":
        world.advance(every_s=61)
    for _ in range(60):
        world.advance(every_s=30)
        if world.view(job).job.warning:
            break
    view = world.view(job)
    assert view.status == "results_pending"
    assert "keeps them until" in view.job.warning
    assert view.job.results_until_us > world.clock()
    assert world.until_settled(job).counts.succeeded == 2
    assert world.view(job).job.warning is None


def test_a_refused_file_costs_the_lines_that_the_provider_names_alone(world, openai):
    openai.ends.append(failed_at(2))
    job = world.submit(chats(3), base_url=openai.url)
    view = world.until_settled(job)
    assert (view.counts.succeeded, view.counts.failed) == (2, 1)
    assert [one[:2] for one in view.top_errors] == [("invalid_json_line", 1)]


def test_a_job_that_was_cancelled_while_it_waits_is_never_sent(world, openai):
    job = world.submit(chats(2), base_url=openai.url, start_us=world.clock() + 3600 * SECOND_US)
    batch.cancel(world.desk, job.id)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.cancelled) == ("cancelled", 2)
    assert openai.calls == {}
    assert [line["error"]["code"] for line in world.results(job)] == ["batch_cancelled"] * 2


def test_a_job_that_is_cancelled_at_work_is_stopped_at_the_provider(world, openai):
    openai.works_s = 3600
    job = world.submit(chats(2), base_url=openai.url)
    world.advance(every_s=10)
    batch.cancel(world.desk, job.id)
    view = world.until_settled(job)
    assert (view.job.outcome, view.counts.cancelled, openai.calls["cancel"]) == ("cancelled", 2, 1)
    assert len(openai.batches) == 1


def test_cancelling_while_the_answer_is_lost_stops_the_batch_once_it_is_found(world, openai):
    openai.works_s = 3600
    openai.troubles["create"].append("drop_after")
    job = world.submit(chats(2), base_url=openai.url)
    world.advance(every_s=1)
    batch.cancel(world.desk, job.id)
    view = world.until_settled(job, every_s=5)
    assert (view.job.outcome, openai.calls["create"], openai.calls["cancel"]) == ("cancelled", 1, 1)


def test_a_missing_key_holds_up_its_own_job_and_no_other(world, openai, monkeypatch):
    stuck = world.submit(chats(1), base_url=openai.url, key_ref="env:NO_SUCH_KEY")
    fine = world.submit(chats(1), base_url=openai.url)
    found = batch.advance(world.desk)
    assert len(found.errors) == 1
    assert "NO_SUCH_KEY" in world.view(stuck).job.error
    while world.view(fine).job.state != "settled":
        batch.advance(world.desk)
        world.clock.pass_s(61)
    monkeypatch.setenv("NO_SUCH_KEY", "sk-late")
    assert world.until_settled(stuck).job.outcome == "completed"


def test_a_host_that_is_not_allowed_is_never_called(world, openai):
    job = world.submit(chats(1), base_url=openai.url.replace("127.0.0.1", "localhost"))
    found = batch.advance(world.desk)
    assert "HALVE_ALLOW_HOSTS" in found.errors[0]
    assert openai.calls == {}
    assert batches.job(world.control, job.id).state == "queued"


def test_two_advances_at_once_do_the_work_once(world, openai, tmp_path):
    from app.batch.folder import alone

    job = world.submit(chats(2), base_url=openai.url)
    with alone(world.desk.folder) as mine:
        assert mine
        assert batch.advance(world.desk).busy
    assert openai.calls == {}
    assert world.until_settled(job).job.outcome == "completed"


def test_models_and_endpoints_go_in_batches_of_their_own(world, openai):
    lines = [chat("a", model="gpt-4o"), chat("b", model="gpt-4o-mini"), chat("c", model="gpt-4o")]
    job = world.submit(lines, base_url=openai.url)
    assert world.until_settled(job).counts.succeeded == 3
    assert sorted(len(openai.rows(one["input_file_id"])) for one in openai.batches.values()) == [1, 2]


def test_a_part_that_fits_the_queue_alone_waits_for_the_one_before(tmp_path, monkeypatch, world, openai):
    openai.works_s = 1000
    lines = [chat(f"row-{number}", "x" * 4000) for number in range(4)]
    job = world.submit(lines, base_url=openai.url, queued_tokens=2100)
    assert len(world.view(job).parts) == 2
    world.advance(times=5, every_s=61)
    assert len(openai.batches) == 1
    assert world.view(job).status == "waiting_for_quota"
    assert world.until_settled(job, every_s=120).counts.succeeded == 4
    assert len(openai.batches) == 2


def test_a_crash_after_the_sink_charges_nothing_twice(world, openai, monkeypatch):
    class Killed(BaseException):
        pass

    job = world.submit(chats(3), base_url=openai.url)
    world.advance(every_s=61)
    real = batches.record_outcomes

    def die(*_arguments):
        monkeypatch.setattr(batches, "record_outcomes", real)
        raise Killed

    monkeypatch.setattr(batches, "record_outcomes", die)
    with pytest.raises(Killed):
        world.advance()
    assert world.until_settled(job).counts.succeeded == 3
    assert [count for _, count in world.sunk] == [3, 3]
    assert len(world.requests("request_key")) == 3


def test_a_new_process_goes_on_where_the_old_one_stopped(world, openai):
    job = world.submit(chats(2), base_url=openai.url)
    world.advance(every_s=61)
    world.close()
    other = World(world.data, world.clock)
    assert other.until_settled(job).counts.succeeded == 2
    assert openai.calls["create"] == 1
    other.close()


def test_a_batch_that_the_provider_knows_no_more_ends_when_it_is_cancelled(world, openai):
    openai.works_s = 3600
    job = world.submit(chats(2), base_url=openai.url)
    world.advance(every_s=61)
    openai.batches.clear()
    world.advance(times=3, every_s=1800)
    assert "404" in world.view(job).job.error
    batch.cancel(world.desk, job.id)
    view = world.until_settled(job)
    assert (view.job.outcome, view.top_errors[0][0]) == ("failed", "results_lost")
    assert openai.calls["create"] == 1
