"""The outbox: one row a mail, one holder at a time, tries that end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from app.control import migrate, open_control, outbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Engine

NOW = 1_000_000_000


@pytest.fixture
def control(tmp_path: Path) -> Iterator[Engine]:
    engine = open_control(tmp_path)
    migrate(engine)
    yield engine
    engine.dispose()


def add(control: Engine, *to: str, **given: Any) -> int:
    recipients = {name: f"<{name}>" for name in to or ("ana@a.example",)}
    values: dict[str, Any] = {"report": "weekly", "period": "2026-W46", "now_us": NOW}
    return outbox.add(control, recipients, **(values | given))


def claimed(control: Engine, now_us: int = NOW) -> outbox.Letter:
    letter = outbox.claim(control, now_us)
    assert letter is not None
    return letter


def test_a_mail_is_queued_once_however_often_it_is_asked_for(control: Engine) -> None:
    assert add(control, "ana@a.example", "ben@a.example") == 2
    assert add(control, "ana@a.example", "ben@a.example", now_us=NOW + 9) == 0
    assert add(control, "ana@a.example", "cleo@a.example") == 1
    assert add(control, period="2026-W47") == 1
    assert add(control, occasion="asked 5") == 1
    assert len(outbox.newest(control)) == 5


def test_a_mail_that_is_sent_is_not_queued_again(control: Engine) -> None:
    add(control)
    outbox.done(control, claimed(control), "sent", subject="s", now_us=NOW + 1)
    assert add(control) == 0
    assert outbox.claim(control, NOW + 10**15) is None


def test_of_many_senders_each_mail_has_one(control: Engine) -> None:
    add(control, *(f"r{number}@a.example" for number in range(12)))
    got: list[int] = []

    def work() -> None:
        while (letter := outbox.claim(control, NOW)) is not None:
            got.append(letter.id)

    senders = [threading.Thread(target=work) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert sorted(got) == [letter.id for letter in reversed(outbox.newest(control))]


def test_a_sender_that_died_leaves_its_mail_to_the_next(control: Engine) -> None:
    add(control)
    dead = claimed(control)
    assert outbox.claim(control, NOW + outbox.LEASE_US - 1) is None
    again = claimed(control, NOW + outbox.LEASE_US)
    assert (again.id, again.message_id, again.attempts) == (dead.id, dead.message_id, 2)


def test_who_lost_the_claim_no_longer_decides(control: Engine) -> None:
    add(control)
    slow = claimed(control)
    quick = claimed(control, NOW + outbox.LEASE_US)
    outbox.done(control, quick, "sent", subject="s", now_us=NOW + outbox.LEASE_US)
    outbox.missed(control, slow, "too late", subject=None, final=False, now_us=NOW + outbox.LEASE_US + 1)
    assert outbox.one(control, slow.id).state == "sent"


def test_pauses_grow_and_end_in_given_up(control: Engine) -> None:
    add(control)
    now, pauses = NOW, []
    while True:
        letter = claimed(control, now)
        outbox.missed(control, letter, f"try {letter.attempts}", subject="s", final=False, now_us=now)
        stored = outbox.one(control, letter.id)
        if stored.state == "failed":
            break
        assert not outbox.waiting(control, stored.next_try_us - 1)
        assert outbox.waiting(control, stored.next_try_us)
        pauses.append(stored.next_try_us - now)
        now = stored.next_try_us
    assert tuple(pauses) == outbox.BACK_OFF_US
    assert list(pauses) == sorted(pauses)
    assert stored.error == f"try {len(pauses) + 1}"
    assert not outbox.waiting(control, now + 10**15)


def test_a_refusal_for_good_is_not_tried_again(control: Engine) -> None:
    add(control)
    outbox.missed(control, claimed(control), "no such mailbox", subject="s", final=True, now_us=NOW)
    [stored] = outbox.newest(control)
    assert (stored.state, stored.error) == ("failed", "no such mailbox")


def test_the_covered_period_is_that_of_the_schedule(control: Engine) -> None:
    assert outbox.last_period(control, "weekly") is None
    add(control, period="2026-W09")
    add(control, period="2026-W10")
    add(control, period="2026-W12", occasion="asked 7")
    assert outbox.last_period(control, "weekly") == "2026-W10"
    assert outbox.last_period(control, "monthly") is None


def test_late_is_what_was_made_long_after_its_time(control: Engine) -> None:
    add(control, "in@a.example", due_us=NOW - outbox.LATE_US)
    add(control, "late@a.example", due_us=NOW - outbox.LATE_US - 1, period="2026-W47")
    add(control, "asked@a.example", period="2026-W48")
    assert [letter.is_late for letter in reversed(outbox.newest(control))] == [False, True, False]
