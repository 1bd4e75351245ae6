"""Fixed fees: what a price file says and what a bill charges stand beside each other and are never added up."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dashboard_company import ZONE, company
from made_bills import BOOK
from starlette.testclient import TestClient

from app.analysis import bills
from app.main.price_books import Books
from app.main.prices import price_desk
from app.main.runtime import load_book
from app.settings import Settings
from app.warehouse.priced import Pricer
from app.web.server import create_app
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from pathlib import Path

FEES = """
fees:
  - {name: Capacity, billing: provisioned, amount: 10, per: day, provider: aws, account: "2"}
  - {name: Seats, billing: subscription, amount: 30, seats: 4, per: month, provider: anthropic}
"""
FEE: dict[str, Any] = {
    "line_item_line_item_type": "Fee",
    "line_item_product_code": "AmazonBedrock",
    "line_item_usage_type": "USE1-ProvisionedModelUnits",
    "line_item_usage_account_id": "2",
    "line_item_usage_start_date": "2026-11-10T00:00:00Z",
    "line_item_usage_end_date": "2026-11-11T00:00:00Z",
    "line_item_unblended_cost": "250.5",
    "line_item_currency_code": "USD",
}


def test_a_fee_of_the_price_file_and_of_a_bill_count_once(tmp_path: Path) -> None:
    own, bill = tmp_path / "own.yml", tmp_path / "bill.jsonl"
    own.write_text(FEES, encoding="utf-8")
    lines = [FEE, FEE | {"line_item_usage_account_id": "3", "line_item_unblended_cost": "99"}]
    bill.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    settings = Settings(data_dir=tmp_path, zone=ZONE, prices=str(own))
    made = company(no_access_control=True, demo=True)
    desk = price_desk(Books(lambda: load_book(settings)), settings)
    deps = replace(made.deps, commands=replace(made.deps.commands, prices=desk))
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:

        def spent() -> Decimal:
            found = reader.get("/spend.json?period=all").json()["rows"]
            return sum((Decimal(row["cost_usd"] or 0) for row in found), Decimal(0))

        before = spent()
        ingest_paths([bill], warehouse=deps.warehouse, pricer=Pricer(BOOK), data_dir=tmp_path / "data")
        with deps.warehouse.writing() as session:
            bills.settle(session, BOOK)
        capacity, seats = reader.get("/prices.json?table=fees").json()["rows"]
        assert (capacity["usd"], capacity["on_bills_usd"]) == ("300", "250.5")
        assert seats["on_bills_usd"] is None
        assert spent() - before == Decimal("349.5"), "the bill's two fees, and none of the price file"
