"""Latency: quantiles as counted by hand from the same times, whichever way they are read; the unknown is left out."""

from __future__ import annotations

import random
from math import ceil
from typing import TYPE_CHECKING, Any

import pytest

from app.analysis.attribution import attribute
from app.analysis.latency import latency
from app.analysis.rules import load
from app.core.errors import UsageError
from app.core.view import Filter, Period, View
from app.warehouse import rollup
from tests.analysis.facts import add_requests, open_warehouse

if TYPE_CHECKING:
    from app.warehouse.store import Warehouse

HOUR = rollup.HOUR_US
START = 1_793_527_200_000_000  # 2026-11-01T10:00:00Z
DAY = Period("day", START, START + 24 * HOUR, "UTC")
UNEVEN = Period("part", START + 17, START + 20 * HOUR + 11, "UTC")
RULES = load()


def calls(number: int, seed: int = 3) -> list[dict[str, Any]]:
    """Requests that know all, some or none of their times; some failed, some of a batch, some without a time."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for key in range(1, number + 1):
        start = START + rng.randrange(24 * HOUR)
        first = start + round(rng.lognormvariate(13, 1))
        row: dict[str, Any] = {
            "request_key": key,
            "start_us": rng.choice([start] * 9 + [None]),
            "first_token_us": rng.choice([first, first, None]),
            "end_us": rng.choice([first + round(rng.lognormvariate(14, 1))] * 4 + [None, start]),
            "provider": rng.choice(["p0", "p1"]),
            "model_id": f"m{rng.randrange(3)}",
            "status": rng.choice(["ok"] * 6 + ["error", "aborted"]),
            "is_batch": rng.random() < 0.1,
            "tok_output": rng.choice([None, 1, 21, 400]),
            "cost_pusd": rng.choice([None, rng.randrange(10**9)]),
            "api_key_alias": rng.choice(["alice", "bob"]),
        }
        feature = rng.choice(["f0", "f1", "untimed"])
        if feature == "untimed":
            row |= {"first_token_us": None, "end_us": None}
        rows.append(row | {"tags": f'{{"feature": "{feature}"}}', "feature": feature})
    return rows


def stored(rows: list[dict[str, Any]]) -> Warehouse:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows)
        attribute(session, RULES, now_us=1)
        rollup.rebuild(session)
    return warehouse


def times(row: dict[str, Any]) -> dict[str, float]:
    """The metrics that a request knows."""
    start, first, end, out = row["start_us"], row["first_token_us"], row["end_us"], row["tok_output"] or 0
    known: dict[str, float] = {}
    if start is not None and first is not None and first > start:
        known["ttft"] = first - start
    if start is not None and end is not None and end > start:
        known["duration"] = end - start
    if first is not None and end is not None and end > first and out > 1:
        known["tpot"] = (end - first) / (out - 1)
    return known


def at(values: list[float], share: float) -> float:
    """The smallest value that so large a share of them does not exceed."""
    return sorted(values)[ceil(share * len(values)) - 1]


FILTERS = (
    (),
    (Filter("is", "feature", ("f0",)),),
    (Filter("not", "model", ("m1",)),),
    (Filter("is", "provider", ("p0",)), Filter("not", "feature", ("f1",))),
    (Filter("is", "api_key", ("bob",)),),
)
COLUMNS = {"model": "model_id", "api_key": "api_key_alias"}


@pytest.mark.parametrize("period", [DAY, UNEVEN], ids=["by the hour", "between hours"])
@pytest.mark.parametrize("by", ["feature", "model", "provider", "api_key", "status"])
@pytest.mark.parametrize("filters", FILTERS, ids=["all", "feature", "not model", "provider and feature", "key"])
def test_every_figure_is_that_of_the_calls_themselves(by: str, filters: tuple[Filter, ...], period: Period) -> None:
    rows = calls(600)

    def passes(row: dict[str, Any]) -> bool:
        return all(
            (row[COLUMNS.get(item.dimension, item.dimension)] in item.values) == (item.op == "is") for item in filters
        )

    seen = [row for row in rows if passes(row) and row["start_us"] and period.from_us <= row["start_us"] < period.to_us]
    with stored(rows).session() as session:
        found = latency(session, View(period, by=by, filters=filters))
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in seen:
        groups.setdefault(row[COLUMNS.get(by, by)], []).append(row)
    assert {row.name for row in found.rows} == set(groups)
    assert [row.calls for row in found.rows] == sorted((row.calls for row in found.rows), reverse=True)
    for item, group in (*((row, groups[row.name]) for row in found.rows), (found.overall, seen)):
        answered = [row for row in group if row["status"] == "ok" and not row["is_batch"]]
        costs = [row["cost_pusd"] for row in answered if row["cost_pusd"] is not None]
        assert (item.calls, item.costed, item.cost_pusd) == (len(answered), len(costs), sum(costs) if costs else None)
        assert item.batched == sum(row["is_batch"] for row in group)
        assert item.calls + item.failed + item.batched == len(group)
        for metric in ("ttft", "duration", "tpot"):
            known = [value for row in answered if (value := times(row).get(metric)) is not None]
            spread = item.metrics.get(metric)
            assert (0 if spread is None else spread.n) == len(known)
            if spread is not None:
                for share, said in ((0.5, spread.p50_us), (0.95, spread.p95_us), (0.99, spread.p99_us)):
                    assert said == pytest.approx(at(known, share), rel=0.0248)


def test_a_feature_without_times_has_calls_and_no_quantile() -> None:
    with stored(calls(200)).session() as session:
        found = latency(session, View(DAY))
    untimed = next(row for row in found.rows if row.name == "untimed")
    assert untimed.calls > 10
    assert untimed.metrics == {}


def test_a_row_that_sums_calls_counts_for_them_and_times_none() -> None:
    one = {"start_us": START, "end_us": START + 10**6, "model_id": "m0", "tok_output": 9, "cost_pusd": 7}
    warehouse = stored([one | {"request_key": 1}, one | {"request_key": 2, "cost_pusd": 42}])
    with warehouse.writing() as session:
        session.connection.execute("UPDATE requests SET calls_summed = 6 WHERE request_key = 2")
        rollup.rebuild(session)
    with warehouse.session() as session:
        for by in ("feature", "provider"):
            overall = latency(session, View(DAY, by=by)).overall
            assert (overall.calls, overall.costed, overall.cost_per_call_pusd) == (7, 7, 7)
            assert overall.metrics["duration"].n == 1


def test_nothing_at_all_has_no_latency() -> None:
    with open_warehouse().session() as session:
        found = latency(session, View(DAY))
    assert (found.rows, found.overall.calls, found.overall.cost_per_call_pusd) == ((), 0, None)


def test_an_unknown_dimension_is_refused() -> None:
    with open_warehouse().session() as session, pytest.raises(UsageError, match="no dimension"):
        latency(session, View(DAY, by="colour"))
