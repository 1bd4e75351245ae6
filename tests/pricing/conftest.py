"""A price book and a warehouse to price rows in: the real ones, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from app.core.usage import TOKEN_CLASSES
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate
from app.warehouse.priced import Pricer
from app.warehouse.store import Session, Warehouse

SCHEMA: dict[str, Any] = {
    "request_key": pl.Int64,
    **dict.fromkeys(("provider", "model", "service_tier"), pl.String),
    "is_batch": pl.Boolean,
    **dict.fromkeys(("region", "price_context", "account"), pl.String),
    "start_us": pl.Int64,
    **dict.fromkeys(TOKEN_CLASSES, pl.Int64),
    **dict.fromkeys(("units", "cost_state"), pl.String),
    "calls_summed": pl.Int32,
}
Rows = Sequence[Mapping[str, Any]]
PriceRows = Callable[..., list[dict[str, Any]]]


def frame_of(rows: Rows) -> pl.DataFrame:
    """Rows as a relation of requests; left-out columns are NULL, keys are counted from 0."""
    full = [{**dict.fromkeys(SCHEMA), "is_batch": False, "request_key": key, **row} for key, row in enumerate(rows)]
    return pl.DataFrame(full, schema=SCHEMA)


@pytest.fixture(scope="session")
def book() -> PriceBook:
    return PriceBook.load(None)


@pytest.fixture
def session() -> Iterator[Session]:
    warehouse = Warehouse(None)
    migrate(warehouse)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


@pytest.fixture
def price_rows(session: Session, book: PriceBook) -> PriceRows:
    """Price rows as ingest does; returns one dict a row, in the order given."""

    def run(rows: Rows, with_book: PriceBook = book) -> list[dict[str, Any]]:
        session.register("given", frame_of(rows))
        pricer = Pricer(with_book)
        pricer.prepare(session, "given")
        pricer.price(session, "given", "priced")
        priced = session.frame("pricing.all", {"table": "priced"})
        return priced.sort("request_key").to_dicts()

    return run
