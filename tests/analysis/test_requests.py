"""Lists of requests are bounded, sorted and filtered like every other view; one request shows all that is known."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from app.analysis import requests as listing
from app.analysis.attribution import attribute
from app.analysis.request_detail import request_detail
from app.analysis.rules import load
from app.core.errors import NotFoundError, UsageError
from app.core.view import Filter, Period, View
from app.warehouse import rollup
from tests.analysis.facts import add_prompts, add_requests, add_source, open_warehouse

if TYPE_CHECKING:
    from app.warehouse.store import Warehouse

START = 1_793_527_200_000_000
VIEW = View(Period("day", START, START + 86_400_000_000, "UTC"))


def filled() -> Warehouse:
    warehouse = open_warehouse()
    rows = [
        {
            "request_key": number,
            "start_us": START + number * 60_000_000,
            "first_token_us": START + number * 60_000_000 + 500_000,
            "end_us": START + number * 60_000_000 + 2_500_000,
            "provider": "openai",
            "model_id": "gpt-4.1",
            "session_id": "talk" if number % 2 else None,
            "tok_input": 100 * number,
            "tok_cache_read": 50,
            "tok_output": 81,
            "tok_reasoning": 20,
            "input_pusd": 1000 * number,
            "cache_read_pusd": 25,
            "output_pusd": 648,
            "reasoning_pusd": 160,
            "cost_pusd": 1000 * number + 833,
            "tags": f'{{"feature": "f{number % 3}"}}',
        }
        for number in range(1, 10)
    ]
    rows.append({"request_key": 10, "start_us": START + 30, "cost_state": "unpriced", "model_id": "own"})
    with warehouse.writing() as session:
        add_requests(session, rows)
        add_source(session, "log", "api")
        add_prompts(session, {3: [("system", "Be brief."), ("user", "Why?")]})
        attribute(session, load(), now_us=1)
        rollup.rebuild(session)
    return warehouse


def test_pages_are_sorted_with_unknown_values_last() -> None:
    with filled().session() as session:
        first = listing.page(session, VIEW, sort="cost", limit=4)
        rest = listing.page(session, VIEW, sort="cost", limit=20, offset=4)
        rising = listing.page(session, VIEW, sort="cost", descending=False, limit=20)
    assert first.total == 10
    assert [row.request_key for row in first.rows + rest.rows] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 10]
    assert [row.request_key for row in rising.rows] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    top = first.rows[0]
    assert (top.tokens_in, top.tokens_out, top.ttft_us, top.duration_us) == (950, 101, 500_000, 2_500_000)
    assert rest.rows[-1].tokens_in is None


def test_pages_take_the_filters_of_the_view() -> None:
    view = View(VIEW.period, filters=(Filter("is", "feature", ("f0", "f1")), Filter("not", "feature", ("f1",))))
    with filled().session() as session:
        found = listing.page(session, view, sort="time", descending=False)
        assert [row.request_key for row in found.rows] == [3, 6, 9]
        assert {row.feature for row in found.rows} == {"f0"}
        spread = listing.distribution(session, view)
    assert (spread.requests, spread.cost_p50_pusd, spread.cost_max_pusd) == (3, 6833, 9833)
    assert spread.ttft_p95_us == 500_000


def test_a_page_out_of_bounds_or_an_unknown_sort_is_refused() -> None:
    with filled().session() as session:
        for wrong in ({"limit": 0}, {"limit": 10_000}, {"offset": -1}, {"sort": "cost; DROP TABLE requests"}):
            with pytest.raises(UsageError):
                listing.page(session, VIEW, **wrong)


def test_one_request_shows_why_it_cost_what_it_cost() -> None:
    with filled().session() as session:
        detail = request_detail(session, 3)
    assert detail.billing == "api"
    assert sum(value or 0 for value in detail.parts.values()) == detail.row.cost_pusd == 3833
    assert {charge.token_class: (charge.tokens, charge.amount_pusd) for charge in detail.charges} == {
        "tok_input": (300, 3000), "tok_cache_read": (50, 25), "tok_output": (81, 648), "tok_reasoning": (20, 160),
    }  # fmt: skip
    assert (detail.phases.prefill_pusd, detail.phases.ttft_us, detail.phases.tokens_in) == (3025, 500_000, 350)
    assert (detail.phases.decode_pusd, detail.phases.decode_us, detail.phases.tokens_out) == (808, 2_000_000, 101)
    assert detail.phases.tpot_us == 20_000
    assert detail.phases.tokens_per_second == 50.5
    assert [(part.role, part.bytes) for part in detail.segments] == [("system", 1), ("user", 1)]
    assert detail.assignment is not None
    assert (detail.assignment.feature, detail.assignment.rule) == ("f0", "tag")
    assert [row.request_key for row in detail.before] == [1]
    assert [row.request_key for row in detail.after] == [5, 7, 9]


def test_a_request_without_usage_or_times_has_unknowns_and_no_zeros() -> None:
    with filled().session() as session:
        detail = request_detail(session, 10)
    assert detail.charges == ()
    assert detail.phases.prefill_pusd is None
    assert detail.phases.tokens_per_second is None
    assert set(detail.parts.values()) == {None}


def test_an_unknown_request_is_not_found() -> None:
    with filled().session() as session, pytest.raises(NotFoundError, match="No request 404"):
        request_detail(session, 404)


def test_each_charge_names_the_rate_of_its_price_row() -> None:
    warehouse = filled()
    with warehouse.writing() as session:
        session.connection.execute("UPDATE requests SET price_row = 'openai/gpt-4.1 standard', price_book = 'b2'")
        session.connection.execute(
            "INSERT INTO price_rates BY NAME SELECT 'b1' AS book, 1 AS rate_key, 'openai' AS provider, "
            "'openai/gpt-4.1 standard' AS price_row, 'gpt-4.1' AS price_model, '' AS ctx, "
            "0 AS valid_from_us, 9 AS valid_to_us, "
            "0 AS minute_from, 1440 AS minute_to, 0 AS weekday_from, 6 AS weekday_to, -1 AS tier_gt, 99 AS tier_le, "
            "99 AS r_input, 'old list' AS source, 'confirmed' AS status"
        )
        session.connection.execute(
            "INSERT INTO price_rates BY NAME SELECT * REPLACE ('b2' AS book, 10 AS r_input, 0.5 AS r_cache_read, "
            "8 AS r_output, 7 AS r_request, 'list' AS source) FROM price_rates"
        )
        detail = request_detail(session, 3)
    assert detail.price is not None
    assert (detail.price.book, detail.price.source, detail.price.fees) == ("b2", "list", {"request": Decimal(7)})
    rates = {charge.token_class: charge.rate_pusd for charge in detail.charges}
    # the row has no own rate for reasoning: unknown, not zero
    assert rates == {
        "tok_input": Decimal(10), "tok_cache_read": Decimal("0.5"), "tok_output": Decimal(8), "tok_reasoning": None,
    }  # fmt: skip
