"""Two price books that disagree, and made requests that both sides of every rule meet."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
from hypothesis import strategies as st

from app.core.hashing import hash64
from app.core.usage import COST_PARTS, TOKEN_CLASSES
from app.pricing import pricefile
from app.warehouse import ledger, reprice, rollup
from app.warehouse.priced import Pricer
from app.warehouse.reprice import AsOf, PricedBy
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.pricing.book import PriceBook
    from app.warehouse.reprice import Difference, Source
    from app.warehouse.store import Session, Warehouse

DAY_US = 86_400_000_000
START_US = 1_793_491_200_000_000  # 2026-11-01T00:00:00Z

A = """
rates:
  - {provider: openai, model: made-1, input: "1", cache_read: "0.1", output: "3.3333333"}
  - {provider: openai, model: made-2, input: "2"}
  - {provider: openai, model: made-3, input: "0.5", output: "1"}
  - {provider: openai, model: made-5, input: "1"}
"""
B = """
rates:
  - {provider: openai, model: made-1, input: "1.5", cache_read: "0.1", output: "3.3333333"}
  - {provider: openai, model: made-2, input: "2", output: "4"}
  - {provider: openai, model: made-4, input: "7", output: "9"}
  - {provider: openai, model: made-5, input: "2", from: "2026-10-01"}
"""
FIGURES = (
    "model_id", *COST_PARTS, "cost_list_pusd", "cost_pusd", "price_row", "cost_state", "warnings",
)  # fmt: skip
SCHEMA: dict[str, Any] = {
    "request_key": pl.Int64, "source": pl.String, "account": pl.String, "provider": pl.String, "model": pl.String,
    "model_id": pl.String, "operation": pl.String, "status": pl.String, "is_batch": pl.Boolean, "start_us": pl.Int64,
    **dict.fromkeys(TOKEN_CLASSES, pl.Int64), "units": pl.String, "price_context": pl.String,
    "cost_reported_pusd": pl.Int64, "cost_state": pl.String, "warnings": pl.String, "fullness": pl.Int64,
    "service_tier": pl.String, "tok_total_reported": pl.Int64, "calls_summed": pl.Int32,
}  # fmt: skip
DEFAULTS = {
    "source": "log", "provider": "openai", "operation": "chat", "status": "ok", "is_batch": False, "fullness": 1,
    "cost_state": "unpriced",
}  # fmt: skip


@cache
def book(text: str) -> PriceBook:
    """The book of a price file; its version is what makes another text another book."""
    made = book_with(pricefile.parse("made.yml", text.encode(), "contract"))
    return dataclasses.replace(made, version=f"made-{hash64(text.encode())}")


def by(text: str) -> PricedBy:
    return PricedBy(Pricer(book(text)))


def add(session: Session, rows: Sequence[dict[str, Any]], parts: Sequence[dict[str, Any]] = ()) -> None:
    full = [{**dict.fromkeys(SCHEMA), **DEFAULTS, "request_key": key, **row} for key, row in enumerate(rows, 1)]
    session.register("made", pl.DataFrame(full, schema=SCHEMA))
    session.connection.execute("INSERT INTO requests BY NAME SELECT * FROM made")
    if parts:
        session.register("made_parts", pl.DataFrame(list(parts)))
        session.connection.execute("INSERT INTO request_parts BY NAME SELECT * FROM made_parts")


def figures(session: Session) -> list[tuple[Any, ...]]:
    """Every figure of the facts, parts and roll-ups included; the book that says the same row apart."""
    names = ", ".join(FIGURES)
    found = session.connection.execute(f"SELECT request_key, {names} FROM requests ORDER BY 1").fetchall()
    parts = session.connection.execute(
        "SELECT request_key, part, model_id, cost_pusd, price_row FROM request_parts ORDER BY 1, 2"
    ).fetchall()
    return [*found, *parts]


def change(
    warehouse: Warehouse, source: Source, *, kind: Any = "reprice", from_us: int = 0, to_us: int = ledger.END_OF_TIME,
    restores: int | None = None, most: int = 5,
) -> Difference:  # fmt: skip
    """A whole version in slices of `most` requests; the roll-ups are checked after it."""
    order = ledger.Order(kind, from_us, to_us, "UTC", "test", "", restores=restores)
    with warehouse.writing() as session:
        version = ledger.one(session, ledger.begin(session, order, 1))
        spans = reprice.slices(session, from_us, to_us, most=most)
    done = []
    for span in spans:
        with warehouse.writing() as session:
            done.append(ledger.advance(session, version, source, span, 2))
    with warehouse.writing() as session:
        ledger.end(session, version.version, "whole", 3)
        assert rollup.differences(session) == []
    return reprice.added(done)


def back_to(warehouse: Warehouse, version: int) -> Difference:
    return change(warehouse, AsOf(version), kind="rollback", restores=version)


_tokens = st.none() | st.integers(0, 3_000)
made_requests = st.lists(
    st.fixed_dictionaries(
        {
            "model": st.sampled_from(["made-1", "made-2", "made-3", "made-4", "made-5", "nobody-knows-9", "gpt-4o"]),
            "provider": st.sampled_from(["openai", None]),
            "start_us": st.none() | st.integers(0, 5).map(lambda day: START_US + day * DAY_US + day * 1_000),
            "tok_input": _tokens,
            "tok_cache_read": _tokens,
            "tok_output": _tokens,
            "is_batch": st.booleans(),
            "units": st.sampled_from([None, '{"web_search": 2}']),
            "cost_reported_pusd": st.none() | st.integers(0, 10**10),
            "price_context": st.sampled_from([None, None, '{"charge": "reported"}']),
            "cost_state": st.sampled_from(["unpriced", "unpriced", "not_billed"]),
            "warnings": st.sampled_from([None, "sum_mismatch b_first a_second"]),
        }
    ),
    min_size=1,
    max_size=12,
)
