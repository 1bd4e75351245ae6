"""What bills alone know stands in sums and in no list: pages say so, and their totals differ by just that."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

from dashboard_company import company
from made_bills import BOOK, Bill, charged, month
from starlette.testclient import TestClient

from app.analysis import bills
from app.warehouse.priced import Pricer
from app.web.server import create_app
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from pathlib import Path


def test_spend_and_costs_differ_by_what_bills_alone_know_and_say_it(tmp_path: Path) -> None:
    made = company(no_access_control=True, demo=True)
    bill = Bill(charged(month(days=2)))
    for name, page in (("usage", bill.usage_page()), ("costs", bill.costs_page())):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(page), encoding="utf-8")
        ingest_paths([path], warehouse=made.deps.warehouse, pricer=Pricer(BOOK), data_dir=tmp_path / "data")
    with made.deps.warehouse.writing() as session:
        bills.settle(session, BOOK)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:

        def added(path: str) -> tuple[Decimal, int]:
            rows = reader.get(path).json()["rows"]
            return sum(Decimal(row["cost_usd"] or 0) for row in rows), sum(row["requests"] for row in rows)

        spent, own = added("/spend.json?period=all"), added("/costs.json?period=all")
        listed = len(reader.get("/requests.json?period=all").json()["rows"])
        spend, costs = reader.get("/?period=all").text, reader.get("/costs?period=all").text
        nothing_billed = reader.get("/costs?period=28d").text
    assert (spent[0] - own[0], own[1]) == (bill.total(), listed)
    assert spent[1] - listed == 24
    assert "24 of them counted by a bill alone" in spend
    assert f"Spend counts ${bill.total().quantize(Decimal('0.01'))} and 24 requests more" in costs
    assert "Spend counts" not in nothing_billed
