"""Responses billed in several parts: each part at its own model's price, the request as their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from app.pricing.rules import overlay_from_rows
from app.warehouse.priced import Pricer
from tests.pricing.conftest import frame_of
from tests.pricing.moments import us
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from app.pricing.book import PriceBook
    from app.warehouse.store import Session

PART: dict[str, Any] = {
    "request_key": pl.Int64, "part": pl.Int32, "model_id": pl.String, "tok_input": pl.Int64,
    "tok_cache_read": pl.Int64, "tok_cache_write_5m": pl.Int64, "tok_cache_write_30m": pl.Int64,
    "tok_cache_write_1h": pl.Int64, "tok_cache_write_12h": pl.Int64, "tok_output": pl.Int64,
    "tok_reasoning": pl.Int64, "cost_pusd": pl.Int64, "price_row": pl.String,
}  # fmt: skip


def price_with_parts(
    session: Session, book: PriceBook, parts: list[dict[str, Any]], **named: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    whole = {"start_us": us("2026-10-20"), "tok_input": 3000, "tok_output": 300}
    whole |= {"provider": "anthropic", "model": "claude-opus-5", **named}
    requests = [{**whole, "units": '{"web_search": 1}'}, whole]
    session.register("given", frame_of(requests))
    session.register("given_parts", pl.DataFrame([{**dict.fromkeys(PART), **part} for part in parts], schema=PART))
    pricer = Pricer(book)
    pricer.prepare(session, "given")
    pricer.price(session, "given", "priced")
    pricer.price_parts(session, "given_parts", "given", "priced", "priced_parts")
    found = [session.frame("pricing.all", {"table": name}) for name in ("priced_parts", "priced")]
    return found[0].sort("request_key", "part").to_dicts(), found[1].sort("request_key").to_dicts()


def test_request_costs_the_sum_of_its_parts_and_its_fees(session: Session, book: PriceBook) -> None:
    parts, requests = price_with_parts(
        session,
        book,
        [
            {"request_key": 0, "part": 0, "model_id": "claude-opus-5", "tok_input": 1000, "tok_output": 100},
            {"request_key": 0, "part": 1, "model_id": "claude-haiku-4-5", "tok_input": 2000, "tok_output": 200},
        ],
    )
    assert [part["cost_pusd"] for part in parts] == [7_500_000_000, 3_000_000_000]
    split, plain = requests
    assert split["cost_pusd"] == 10_500_000_000 + 10_000_000_000
    assert (split["input_pusd"], split["output_pusd"], split["other_pusd"]) == (
        7_000_000_000,
        3_500_000_000,
        10_000_000_000,
    )
    assert split["price_row"].endswith("and 1 more")
    assert plain["cost_pusd"] == 3000 * 5_000_000 + 300 * 25_000_000


def test_request_with_an_unpriced_part_is_priced_partly(session: Session, book: PriceBook) -> None:
    _, (split, _) = price_with_parts(
        session,
        book,
        [
            {"request_key": 0, "part": 0, "model_id": "claude-opus-5", "tok_input": 1000},
            {"request_key": 0, "part": 1, "model_id": "claude-next-9", "tok_input": 2000},
        ],
    )
    assert (split["cost_state"], split["input_pusd"]) == ("partly", 5_000_000_000)


def test_a_fee_that_nobody_knows_leaves_a_call_in_parts_partly_priced(session: Session) -> None:
    """Every part has a price, the search beside them has none: what stands is a lower bound and says so."""
    rates = [{"provider": "made", "model": name, "input": "1", "output": "2"} for name in ("made-1", "made-2")]
    parts = [
        {"request_key": key, "part": part, "model_id": name, "tok_input": 1000, "tok_output": 100}
        for key in (0, 1)
        for part, name in enumerate(("made-1", "made-2"))
    ]
    _, (searched, plain) = price_with_parts(
        session, book_with(overlay_from_rows(rates)), parts, provider="made", model="made-1"
    )
    assert (plain["cost_state"], plain["cost_pusd"]) == ("priced", 2_400_000_000)
    assert (searched["cost_state"], searched["cost_pusd"], searched["other_pusd"]) == ("partly", 2_400_000_000, None)
