"""Roll-ups are what the facts say: filled whole or by the hour, and the standing check sees every planted lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from app.analysis.attribution import attribute
from app.analysis.rules import load
from app.core.errors import UsageError
from app.warehouse import rollup
from tests.analysis.facts import add_requests, open_warehouse

if TYPE_CHECKING:
    from app.warehouse.store import Session, Warehouse

HOUR = rollup.HOUR_US
START = 1_793_527_200_000_000  # 2026-11-01T10:00:00Z
RULES = load()


def traffic(hours: int) -> list[dict[str, object]]:
    return [
        {
            "request_key": number,
            "start_us": START + number * HOUR // 4,
            "first_token_us": START + number * HOUR // 4 + 300_000,
            "end_us": START + number * HOUR // 4 + 2_300_000,
            "model_id": f"m{number % 3}",
            "cost_pusd": number,
            "tok_input": 10,
            "tok_output": 21,
            "tags": f'{{"feature": "f{number % 2}"}}',
        }
        for number in range(hours * 4)
    ]


def filled() -> Warehouse:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, traffic(5))
        attribute(session, RULES, now_us=1)
        rollup.rebuild(session)
    return warehouse


def state(session: Session) -> list[tuple[object, ...]]:
    spend = session.connection.execute("SELECT * FROM spend_hour ORDER BY ALL").fetchall()
    return spend + session.connection.execute("SELECT * FROM latency_hour ORDER BY ALL").fetchall()


def test_filling_twice_changes_nothing() -> None:
    warehouse = filled()
    with warehouse.writing() as session:
        before = state(session)
        rollup.rebuild(session)
        assert state(session) == before
        assert rollup.differences(session) == []


def test_the_check_finds_what_was_planted_and_only_there() -> None:
    warehouse = filled()
    hour = START + HOUR
    lies = {
        "parts": f"UPDATE spend_hour SET input_pusd = 5 WHERE at_us = {hour} AND model_id = 'm1'",
        "cost_pusd": f"UPDATE spend_hour SET cost_pusd = cost_pusd + 1 WHERE at_us = {hour} AND model_id = 'm1'",
        "tokens": f"UPDATE spend_hour SET tok_input = tok_input + 1 WHERE at_us = {hour} AND model_id = 'm1'",
        "requests": f"UPDATE spend_hour SET requests = requests + 1 WHERE at_us = {hour} AND model_id = 'm1'",
        "groups": f"UPDATE spend_hour SET feature = 'elsewhere' WHERE at_us = {hour} AND model_id = 'm1'",
        "latency": f"DELETE FROM latency_hour WHERE at_us = {hour} AND metric = 'ttft' AND model_id = 'm1'",
    }
    for measure, lie in lies.items():
        with warehouse.writing() as session:
            session.connection.execute(lie)
            found = rollup.differences(session)
            # one class of tokens more is seen in the sum of tokens and in the checksum over the classes
            named = {item.measure for item in found} - ({"parts"} if measure == "tokens" else set())
            assert (named, {item.at_us for item in found}) == ({measure}, {hour})
            assert found[0].facts != found[0].rollup
            rollup.rebuild(session, from_us=hour, to_us=hour + 1)
            assert rollup.differences(session) == []


def test_new_requests_need_only_their_hours_filled() -> None:
    warehouse = filled()
    later = [{"request_key": 900 + n, "start_us": START + n * 3 * HOUR + 7, "cost_pusd": 5} for n in range(3)]
    late = [*later, {"request_key": 999, "cost_pusd": 9}]
    with warehouse.writing() as session:
        add_requests(session, late)
        attribute(session, RULES, now_us=2)
        assert len({item.at_us for item in rollup.differences(session)}) == 4
        rollup.rebuild_for(session, pl.Series([row.get("start_us") for row in late], dtype=pl.Int64))
        assert rollup.differences(session) == []


def test_another_bucket_width_needs_everything_filled() -> None:
    warehouse = filled()
    with warehouse.writing() as session:
        with pytest.raises(UsageError, match="bucket width"):
            rollup.rebuild(session, from_us=START, to_us=START + HOUR, bucket_us=HOUR // 4)
        rollup.rebuild(session, bucket_us=HOUR // 4)
        assert rollup.differences(session) == []
