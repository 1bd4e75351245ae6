"""The report on its way: through a real mail server on loopback, once, whatever happens in between."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from email import message_from_bytes
from typing import TYPE_CHECKING, Any

import pytest
from dashboard_company import DAY_US, NOW_US, ZONE, Company, company, requests
from report_office import WEEK, Clock, Mailbox, runtime_of, settings_of
from report_post import TO, letters, settings

from app.control import batches, open_control, outbox
from app.core.money import usd_text
from app.main import reporting
from reports import archive, post, weeks

if TYPE_CHECKING:
    from pathlib import Path

    from app.main.runtime import Runtime


def test_the_report_of_last_week_arrives_at_everybody_once(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    for _ in range(3):
        reporting.send_due(runtime, settings(runtime, box), now=clock)
        clock.us += 3_600_000_000
    assert box.envelopes == [("halve@acme.example", [name]) for name in TO.split()]
    assert [mail["To"] for mail in box.received] == TO.split()
    assert len({mail["Message-ID"] for mail in box.received}) == 2
    for mail in box.received:
        text = mail.get_body(("plain",))
        assert text is not None
        assert text.get_content().startswith("LLM spend 9–15 Nov 2026: $")
    assert [(item.state, item.attempts, item.period, item.is_late) for item in letters(runtime)] == [
        ("sent", 1, WEEK, False),
        ("sent", 1, WEEK, False),
    ]


def test_what_arrives_is_what_the_archive_keeps(runtime: Runtime, box: Mailbox) -> None:
    reporting.send_due(runtime, settings(runtime, box), now=Clock())
    kept = archive.file_of(runtime.data_dir, letters(runtime)[0])
    assert message_from_bytes(kept).as_bytes() == message_from_bytes(box.raw[0]).as_bytes()


def test_a_restart_sends_nothing_twice(runtime: Runtime, box: Mailbox, made: Company) -> None:
    reporting.send_due(runtime, settings(runtime, box), now=Clock())
    again = open_control(runtime.data_dir)
    try:
        reporting.send_due(replace(runtime, control=again), settings(runtime, box), now=Clock(NOW_US + DAY_US))
    finally:
        again.dispose()
    assert len(box.received) == 2


def test_a_crash_before_the_server_had_it_repeats_the_very_same_mail(runtime: Runtime, box: Mailbox) -> None:
    """The process dies between writing the archive and sending: the next one sends that file."""
    clock = Clock()
    office = reporting.office(runtime, settings(runtime, box, mail_to="ana@acme.example"), now=clock)

    class Died(BaseException):
        pass

    def die(_message: object) -> None:
        raise Died

    post.queue_due(office, clock())
    with pytest.raises(Died):
        post.deliver_due(replace(office, deliver=die), clock)
    [held] = letters(runtime)
    assert held.state == "sending"
    kept = archive.file_of(runtime.data_dir, held)

    assert post.deliver_due(office, clock) == [], "the dead one's claim still stands"
    clock.us += outbox.LEASE_US
    post.deliver_due(office, clock)
    assert [message_from_bytes(raw).as_bytes() for raw in box.raw] == [message_from_bytes(kept).as_bytes()]
    assert letters(runtime)[0].state == "sent"


def test_a_crash_after_the_server_had_it_repeats_it_with_the_same_message_id(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    office = reporting.office(runtime, settings(runtime, box, mail_to="ana@acme.example"), now=clock)
    deliver = office.deliver
    assert deliver is not None

    class Died(BaseException):
        pass

    def deliver_and_die(message: Any) -> None:
        deliver(message)
        raise Died

    post.queue_due(office, clock())
    with pytest.raises(Died):
        post.deliver_due(replace(office, deliver=deliver_and_die), clock)
    clock.us += outbox.LEASE_US
    post.deliver_due(office, clock)
    first, second = box.received
    assert first["Message-ID"] == second["Message-ID"] == letters(runtime)[0].message_id


def test_a_server_that_is_busy_is_asked_again_and_the_page_says_why(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    box.answers = ["451 come back later"]
    wanted = settings(runtime, box, mail_to="ana@acme.example")
    reporting.send_due(runtime, wanted, now=clock)
    [waiting] = letters(runtime)
    assert (waiting.state, waiting.attempts) == ("queued", 1)
    assert "451 come back later" in (waiting.error or "")
    assert waiting.subject is not None

    reporting.send_due(runtime, wanted, now=clock)
    assert box.received == []
    assert not reporting.mail_waits(runtime.control, clock)
    clock.us += outbox.BACK_OFF_US[0]
    assert reporting.mail_waits(runtime.control, clock)
    reporting.send_due(runtime, wanted, now=clock)
    [sent] = letters(runtime)
    assert (sent.state, sent.attempts, sent.error) == ("sent", 2, None)
    assert len(box.received) == 1


def test_a_server_that_is_away_is_tried_with_growing_pauses_and_then_given_up(runtime: Runtime) -> None:
    clock = Clock()
    wanted = settings(runtime, smtp_url="smtp://127.0.0.1:9", mail_to="ana@acme.example")
    for pause in (*outbox.BACK_OFF_US, 0):
        reporting.send_due(runtime, wanted, now=clock)
        clock.us += pause
    [given_up] = letters(runtime)
    assert (given_up.state, given_up.attempts) == ("failed", len(outbox.BACK_OFF_US) + 1)
    assert "did not take the mail" in (given_up.error or "")


def test_a_refusal_for_good_ends_the_tries(runtime: Runtime, box: Mailbox) -> None:
    box.answers = ["554 not wanted here"]
    reporting.send_due(runtime, settings(runtime, box), now=Clock())
    states = [(item.recipient, item.state) for item in letters(runtime)]
    assert states == [("ana@acme.example", "failed"), ("ben@acme.example", "sent")], "one refusal keeps nobody waiting"


def test_a_mistake_of_ours_is_visible_and_leaves_the_mail_waiting(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    office = reporting.office(runtime, settings(runtime, box), now=clock)

    def broken(_letter: outbox.Letter) -> Any:
        raise ZeroDivisionError

    post.queue_due(office, clock())
    with pytest.raises(ZeroDivisionError):
        post.deliver_due(replace(office, compose=broken), clock)
    first = letters(runtime)[0]
    assert (first.state, first.error) == ("queued", post.UNFORESEEN)


def test_without_a_mail_server_the_archive_is_the_destination(runtime: Runtime) -> None:
    reporting.send_due(runtime, settings_of(runtime.data_dir), now=Clock())
    [kept] = letters(runtime)
    assert (kept.state, kept.recipient) == ("archived", "")
    assert archive.path_of(runtime.data_dir, kept).is_file()
    assert [path.suffix for path in (runtime.data_dir / "reports").iterdir()] == [".eml"]


def test_trying_waiting_mail_again_makes_no_new_report(runtime: Runtime, box: Mailbox) -> None:
    assert reporting.send_waiting(runtime, settings(runtime, box), now=Clock()) == []
    assert letters(runtime) == []


def test_an_empty_store_reports_nothing(tmp_path: Path) -> None:
    runtime = runtime_of(company([]), tmp_path)
    assert reporting.send_due(runtime, settings_of(tmp_path), now=Clock()) == []
    assert letters(runtime) == []


def test_missed_weeks_are_caught_up_each_once_and_say_that_they_are_late(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock(NOW_US - 14 * DAY_US)
    wanted = settings(runtime, box, mail_to="ana@acme.example")
    reporting.send_due(runtime, wanted, now=clock)
    clock.us = NOW_US
    for _ in range(2):
        reporting.send_due(runtime, wanted, now=clock, due=[monday_at_eight(week) for week in ("2026-W45", WEEK)])
    assert [(item.period, item.is_late) for item in letters(runtime)] == [
        ("2026-W44", False),
        ("2026-W45", True),
        (WEEK, True),
    ]
    text = box.received[1].get_body(("plain",))
    assert text is not None
    assert "This report was due 9 Nov 2026 08:00 and comes late" in " ".join(text.get_content().split())


@pytest.mark.data
def test_llmc_110_a_report_that_was_due_while_the_service_was_down(
    tmp_path: Path, box: Mailbox, data_dir: Path
) -> None:
    lines = (data_dir.parent / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(case for line in lines if (case := json.loads(line))["id"] == "LLMC-110")
    [expected] = case["expected"]["runs"]
    down_until = _micros(case["minimal_input"]["service_down"][1])
    shift = NOW_US - down_until
    rows = [row | {"start_us": row["start_us"] - shift, "end_us": row["end_us"] - shift} for row in requests()]
    runtime = runtime_of(company(rows, planned=False), tmp_path)
    wanted = settings(runtime, box, mail_to="ana@acme.example")

    on_time = monday_at_eight("2026-W08")
    reporting.send_due(runtime, wanted, now=Clock(on_time), due=[on_time])
    assert [item.is_late for item in letters(runtime)] == [False]

    for minutes in range(0, 48 * 60, 30):
        missed = [monday_at_eight("2026-W09")] if minutes == 0 else []
        reporting.send_due(runtime, wanted, now=Clock(down_until + minutes * 60_000_000), due=missed)
    runs = letters(runtime)[1:]
    assert len(runs) == case["expected"]["run_count"]
    week = weeks.named(runs[0].period, ZONE)
    days = [
        week.first.isoformat(),
        (week.last + timedelta(days=1)).isoformat(),
    ]
    assert days == expected["for_period"]
    assert runs[0].done_us is not None
    assert runs[0].done_us >= _micros(expected["sent_at_after"])
    assert runs[0].is_late is (expected["marked"] == "late")
    assert len(box.received) == 2


def monday_at_eight(week: str) -> int:
    """When the default schedule wants the report of a week."""
    return weeks.named(week, ZONE).period.to_us + 8 * 3_600_000_000


def _micros(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp()) * 1_000_000


def test_the_batch_jobs_of_the_week_come_with_what_they_saved(tmp_path: Path) -> None:
    week = weeks.named(WEEK, ZONE).period
    rows = requests()
    for row in rows:
        if row["feature"] == "ticket-classify" and week.from_us <= row["start_us"] < week.to_us:
            halves = {name: row[name] // 2 for name in ("input_pusd", "output_pusd", "cost_pusd")}
            row |= {"is_batch": True, "tags": json.dumps({"batch_job": "j1"}), **halves}
    charged = sum(row["cost_pusd"] for row in rows if row["is_batch"])
    runtime = runtime_of(company(rows), tmp_path)
    job = batches.Job(
        id="j1",
        provider="openai",
        label="nightly",
        zone=ZONE,
        created_us=week.from_us,
        start_us=week.from_us,
        state="settled",
        outcome="completed",
        items=170,
        bytes=1,
        tokens_est=1,
        max_attempts=2,
        next_us=batches.NEVER_US,
        feature="ticket-classify",
    )
    for one in (job, replace(job, id="j0", created_us=week.from_us - 1)):
        part = batches.Part(
            one.id, 0, "/v1/chat/completions", 1, "settled", 1, 1, 1, f"mark-{one.id}", batches.NEVER_US, "gpt-5-mini"
        )
        batches.add(runtime.control, one, (part,), (batches.Item(0, "a", 0, 0, "succeeded", 1, 0, 1, 1),))

    found = reporting.document(runtime, settings(runtime), WEEK, now=Clock())
    table = next(item.table for item in found.sections if item.title == "Batch jobs")
    assert table is not None
    [row] = table.rows
    assert [cell.value for cell in row] == [
        "nightly",
        "ticket-classify",
        "completed",
        170,
        0,
        usd_text(charged),
        usd_text(charged),
    ]
    assert row[0].href == "/batch/jobs/j1"
