"""Work that follows arrivals rests in proportion to what it took, and is never forgotten."""

from __future__ import annotations

import pytest

from app.main.pacing import Paced


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_short_work_is_done_at_once_and_long_work_rests_four_times_as_long() -> None:
    clock = Clock()
    paced = Paced(clock)
    assert paced.due(), "what was left before the start is owed"

    def lasting(seconds: float) -> None:
        clock.now += seconds

    paced.run(lambda: lasting(2))
    assert not paced.due()
    paced.owe()
    assert not paced.due()
    clock.now += 7.9
    assert not paced.due()
    clock.now += 0.2
    assert paced.due()
    paced.run(lambda: lasting(100))
    paced.owe()
    clock.now += 60.1
    assert paced.due(), "a minute is the longest rest"
    paced.run(lambda: lasting(0))
    paced.owe()
    assert paced.due()


def test_work_that_fails_stays_owed() -> None:
    paced = Paced(Clock())
    with pytest.raises(OSError, match="full"):
        paced.run(lambda: (_ for _ in ()).throw(OSError("full")))
    assert paced.due()


def test_catching_up_at_the_start_makes_nothing_wait() -> None:
    clock = Clock()
    paced = Paced(clock)

    def long() -> None:
        clock.now += 10

    paced.catch_up(long)
    assert not paced.due()
    paced.owe()
    assert paced.due()
