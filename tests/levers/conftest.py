"""The real price book, and a reader that takes logs through the real ingest, pricing and attribution."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.analysis import rules
from app.analysis.attribution import attribute
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    return PriceBook.load(tmp_path_factory.mktemp("prices"))


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
        ingest_paths([log], warehouse=warehouse, pricer=Pricer(book), data_dir=tmp_path / "data")
        with warehouse.writing() as session:
            attribute(session, rules.load(), now_us=1)
        return warehouse

    yield reader
    for warehouse in opened:
        warehouse.close()
