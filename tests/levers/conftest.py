"""The real price book, and a reader that takes logs through the real ingest, pricing and attribution."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from app.analysis import rules
from app.analysis.attribution import attribute
from app.pricing.book import PriceBook
from app.warehouse import priced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from app.warehouse.store import Session


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    return PriceBook.load(tmp_path_factory.mktemp("prices"))


@dataclass(frozen=True, slots=True)
class Prices:
    """The price book as the merge asks for it."""

    book: PriceBook

    def prepare(self, session: Session, relation: str) -> None:
        priced.install(session, self.book, now_us=1)
        priced.resolve_new(session, relation, self.book)

    def price(self, session: Session, relation: str, into: str) -> None:
        seen = f"{into}_seen"
        session.connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {seen} AS "
            f"SELECT *, CASE WHEN not_billed THEN 'not_billed' ELSE 'unknown' END AS cost_state FROM {relation}"
        )
        priced.price(session, seen, self.book, into)


@pytest.fixture
def read(tmp_path, book):
    """Read records as a log file into a warehouse of its own."""
    opened: list[Warehouse] = []

    def reader(records: list[dict[str, Any]]) -> Warehouse:
        log = tmp_path / "log.jsonl"
        log.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
        warehouse = Warehouse(tmp_path / "data")
        opened.append(warehouse)
        migrate(warehouse)
        ingest_paths([log], warehouse=warehouse, pricer=Prices(book), data_dir=tmp_path / "data")
        with warehouse.writing() as session:
            attribute(session, rules.load(), now_us=1)
        return warehouse

    yield reader
    for warehouse in opened:
        warehouse.close()
