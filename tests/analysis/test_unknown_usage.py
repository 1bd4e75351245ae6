"""Requests that say no usage: how many tokens they took is unknown, and so is their share of the dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.analysis import coverage as cover
from app.analysis import spend
from app.analysis.attribution import attribute
from app.analysis.rules import load
from app.core.view import Period, View
from app.warehouse import rollup
from tests.analysis.facts import add_requests, open_warehouse

if TYPE_CHECKING:
    from app.warehouse.store import Session, Warehouse

HOUR_US = 3_600_000_000
SPEND = View(Period("days", 0, 24 * HOUR_US, "UTC"))
LOST = {"start_us": 1, "status": "error", "cost_state": "unknown", "model": "lost", "provider": "p"}
EMPTY = {"start_us": 1, "tok_input": 0, "tok_output": 0, "cost_pusd": 0, "model": "empty", "provider": "p"}
PRICED = {"start_us": 1, "tok_input": 30, "tok_output": 10, "cost_pusd": 8, "model": "known", "provider": "p"}
TAGGED = {"tags": '{"feature":"chat"}'}


def filled(*rows: dict[str, Any]) -> Warehouse:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows)
        attribute(session, load(), now_us=1)
        rollup.rebuild(session)
    return warehouse


def by_model(session: Session) -> dict[str, spend.RankRow]:
    return {row.name: row for row in spend.ranking(session, SPEND, by="model").rows}


def test_the_tokens_of_calls_without_usage_are_unknown_and_those_of_empty_calls_none() -> None:
    with filled(LOST, LOST, EMPTY, PRICED).session() as session:
        rows = {name: row.figures for name, row in by_model(session).items()}
        assert (rows["lost"].tokens_all, rows["lost"].tokens_per_request) == (None, None)
        assert (rows["empty"].tokens_all, rows["empty"].tokens_per_request) == (0, 0)
        assert (rows["known"].tokens_all, rows["known"].tokens_per_request) == (40, 40)
        assert spend.totals(session, SPEND).tokens_all == 40


def test_a_day_of_calls_without_usage_has_no_known_tokens() -> None:
    with filled(LOST, {**PRICED, "start_us": 25 * HOUR_US}).session() as session:
        view = View(Period("days", 0, 72 * HOUR_US, "UTC"))
        assert spend.daily(session, view, by="model", measure="tokens").totals == (None, 40, 0)


def test_no_requests_took_no_tokens() -> None:
    with filled().session() as session:
        assert spend.totals(session, SPEND).tokens_all == 0


def test_what_has_no_price_says_its_tokens_only_where_it_knows_them() -> None:
    priceless = {**PRICED, "cost_pusd": None, "cost_state": "unpriced"}
    with filled(LOST, priceless).session() as session:
        assert {one.model: one.tokens for one in cover.coverage(session, SPEND).unpriced} == {"lost": None, "known": 40}


def test_what_untagged_requests_of_unknown_cost_took_of_the_spend_is_unknown() -> None:
    with filled({**PRICED, **TAGGED}, LOST, LOST).session() as session:
        covered = cover.coverage(session, SPEND)
    assert (covered.untagged_requests, covered.untagged_pusd) == (2, None)
    assert (covered.cost_pusd, covered.untagged_share) == (8, None)


def test_nothing_untagged_is_no_dollar() -> None:
    with filled({**PRICED, **TAGGED}).session() as session:
        covered = cover.coverage(session, SPEND)
    assert (covered.untagged_requests, covered.untagged_pusd, covered.untagged_share) == (0, 0, 0)


def test_where_no_cost_is_known_the_untagged_share_is_one_of_requests() -> None:
    with filled(LOST, {**LOST, **TAGGED}).session() as session:
        covered = cover.coverage(session, SPEND)
    assert (covered.cost_pusd, covered.untagged_pusd, covered.untagged_share) == (None, None, 0.5)
