"""The reported cases about views that disagree or forget: each is driven by a named test."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.analysis import budgets, spend
from app.core.view import View, period
from app.warehouse.store import Warehouse
from tests.cases.driven import write_logs
from tests.cases.failure_cases import load
from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.data

TESTS = Path(__file__).resolve().parents[1]
CASES = load("d")
DAY_US = 86_400_000_000
RATES = "rates:\n  - {{provider: openai, model: {model}, input: 0, output: 1000}}\n"


def test_every_case_about_views_has_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    names = {name: (name, name.lower().replace("-", "_")) for name in CASES}
    assert CASES
    assert {name for name, words in names.items() if any(word in text for text in texts for word in words)} == set(
        CASES
    )


def test_llmc_101_a_trace_shows_what_its_calls_add_up_to(tmp_path: Path) -> None:
    """The span around the call is no call: list, detail and total are computed from the same rows."""
    expected = CASES["LLMC-101"]["expected"]["trace"]
    data, logs = tmp_path / "data", write_logs(CASES["LLMC-101"]["minimal_input"], tmp_path / "logs")
    detail = [line for line in inside(data, "inspect", logs, "--json").lines if "cost_usd" in line]
    total = inside(data, "analyze", logs, "--json").json
    assert (
        sum(Decimal(line["cost_usd"]) for line in detail) == Decimal(total["cost_usd"]) == Decimal(expected["cost_usd"])
    )
    assert (total["tokens"]["input"], total["tokens"]["output"]) == (expected["input"], expected["output"])
    assert total["requests"] == len(detail) == 1


def rows(count: int, model: str) -> list[Mapping[str, object]]:
    return [
        {
            "timestamp": "2026-02-01T00:00:00Z",
            "request_id": f"call-{number}",
            "model": model,
            "provider": "openai",
            "input_tokens": 10,
            "output_tokens": 3000,
            "team": "team-a",
            "api_key": "k1",
        }
        for number in range(count)
    ]


def test_llmc_103_a_look_at_a_budget_reads_sums_and_never_the_requests(tmp_path: Path) -> None:
    """However many requests there are: emptied behind the sums, the table of requests is not missed."""
    data = tmp_path / "data"
    prices = tmp_path / "prices.yml"
    prices.write_text(RATES.format(model="m-old"), encoding="utf-8")
    logs = write_logs({"records": rows(20, "m-old")}, tmp_path / "logs")
    assert inside(data, "ingest", logs, HALVE_PRICES=str(prices)).code == 0
    assert inside(data, "analyze", "--json", HALVE_PRICES=str(prices)).code == 0
    warehouse = Warehouse(data, memory_limit="256MB")
    now_us = 1_769_904_000_000_000 + DAY_US
    with warehouse.session() as session:
        before = budgets.month(session, "UTC", now_us)
        session.connection.execute("DELETE FROM requests")
        after = budgets.month(session, "UTC", now_us)
    warehouse.close()
    assert (before.figures, before.top) == (after.figures, after.top)
    assert before.spent_pusd == 60 * 10**12


def test_llmc_104_what_is_deleted_later_keeps_its_past(tmp_path: Path) -> None:
    """The price row, the key and the team are gone; what February cost stays what it was, under the old names."""
    expected = CASES["LLMC-104"]["expected"]
    data, prices, other = tmp_path / "data", tmp_path / "prices.yml", tmp_path / "later.yml"
    prices.write_text(RATES.format(model="m-old"), encoding="utf-8")
    other.write_text(RATES.format(model="m-new"), encoding="utf-8")
    logs = write_logs({"records": rows(1, "m-old")}, tmp_path / "logs")
    assert inside(data, "ingest", logs, HALVE_PRICES=str(prices)).code == 0
    found = inside(data, "analyze", "--json", HALVE_PRICES=str(other)).json
    assert Decimal(found["cost_usd"]) == Decimal(expected["total_usd"])
    assert {row["name"]: Decimal(row["cost_usd"]) for row in found["by_model"]} == {"m-old": 3}
    assert inside(data, "export", "csv", "--out", tmp_path / "out.csv", HALVE_PRICES=str(other)).code == 0
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["team"], row["model_id"], Decimal(row["cost_usd"])) == ("team-a", "m-old", 3)
    warehouse = Warehouse(data, memory_limit="256MB")
    with warehouse.session() as session:
        view = View(period("2026-02", "UTC", 1_769_904_000_000_000 + DAY_US))
        for by, name in (("model", "m-old"), ("team", "team-a"), ("api_key", None)):
            (one,) = spend.ranking(session, view, by=by).rows
            assert one.figures.cost_pusd == 3 * 10**12
            assert one.name != "unassigned"
            assert name in (None, one.name)
    warehouse.close()
