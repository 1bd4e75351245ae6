"""Rows that sum calls are no calls: no lever moves, repeats, routes or replays them; each says how many it passed."""

from __future__ import annotations

from app.plan.analyse import analyse
from tests.levers.logged import FROM_US, TO_US
from tests.plan.planted import DAY, HOUR, START, Stream

SECOND = 1_000_000
NIGHTS, ROWS = 10, 40
LEVERS = {"batch", "response_cache", "smaller_model", "waste"}


def planned(book, **fields):
    """A job at three o'clock that asks half of its questions twice and throws every tenth answer away."""
    stream = Stream(book)
    for night in range(NIGHTS):
        for place in range(ROWS):
            failed = place % 10 == 0
            key = night * 1000 + (place // 2 if place % 4 < 2 else place) + 1
            stream.add(
                START + night * DAY + 3 * HOUR + place * 20 * SECOND,
                **{"model": "gpt-5", "tok_input": 20_000, "tok_output": 500, "temperature": 0.0, "exact_key": key,
                   "api_key_hash": 1, "stream": False, "status": "error" if failed else "ok"} | fields,
            )  # fmt: skip
    warehouse = stream.store()
    result = analyse(warehouse, book, None, from_us=FROM_US, to_us=TO_US, zone="UTC")
    warehouse.close()
    return result


def test_no_lever_acts_on_rows_that_sum_calls_and_each_counts_them(book):
    alone, summed, counted = planned(book), planned(book, calls_summed=0), planned(book, calls_summed=7)
    assert {finding.lever for finding in alone.findings} >= LEVERS
    assert all("rows_that_sum_calls_passed_over" not in said for said in alone.levers_data.values())
    for result in (summed, counted):
        assert result.findings == ()
        assert result.before_usd == alone.before_usd, "what they cost stays in what was paid"
        assert {said["rows_that_sum_calls_passed_over"] for said in result.levers_data.values()} == {NIGHTS * ROWS}
