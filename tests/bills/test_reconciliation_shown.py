"""Reconciliation as people and machines get it: the page and its twins, the command, the Spend page, the analysis."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from dashboard_company import FORMULA, MARKUP, company
from made_bills import BOOK, RATES, Bill, charged, month
from starlette.testclient import TestClient

from app.analysis import bills
from app.cli import main
from app.warehouse.priced import Pricer
from app.web.commands import Progress
from app.web.server import create_app
from ingest.pipeline import ingest_paths
from reports import reconciliation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOV_10 = 1_794_268_800
LARGE, SMALL = sorted(RATES)


def costs(*items: tuple[str, float]) -> dict[str, Any]:
    results = [
        {
            "object": "organization.costs.result",
            "amount": {"value": value, "currency": "usd"},
            "line_item": item,
            "project_id": None,
        }
        for item, value in items
    ]
    bucket = {"object": "bucket", "start_time": NOV_10, "end_time": NOV_10 + 86_400, "results": results}
    return {"object": "page", "data": [bucket], "has_more": False, "next_page": None}


@pytest.fixture(scope="module")
def billed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The made company with a bill of one day, whose names are hostile."""
    made = company(no_access_control=True, demo=True)
    folder = tmp_path_factory.mktemp("bill")
    path = folder / "costs.jsonl"
    page = costs(("gpt-5, input", 12.5), (f"{MARKUP}, output", 3), (f"{FORMULA}, output", 2), ("credit", -1))
    path.write_text(json.dumps(page), encoding="utf-8")
    ingest_paths([path], warehouse=made.deps.warehouse, pricer=Pricer(BOOK), data_dir=folder / "data")
    with made.deps.warehouse.writing() as session:
        bills.settle(session, BOOK)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        yield reader


def test_the_page_names_the_reasons_and_what_to_do(billed: TestClient) -> None:
    page = billed.get("/reconciliation")
    assert page.status_code == 200
    for said in (
        "What the difference is made of",
        "Not logged",
        "Credit or fee",
        "Not on the bill",
        "Only on the bill",
    ):
        assert said in page.text
    assert "<img src=x" not in page.text


def test_the_twins_add_up_to_the_difference(billed: TestClient) -> None:
    reasons = billed.get("/reconciliation.json?table=reasons").json()["rows"]
    residuals = billed.get("/reconciliation.json?table=residuals").json()["rows"]
    cells = billed.get("/reconciliation.json?table=cells").json()["rows"]
    provider = next(
        row for row in billed.get("/reconciliation.json?table=providers").json()["rows"] if row["provider"] == "openai"
    )
    whole = Decimal(provider["difference_usd"])
    assert Decimal(provider["bill_usd"]) == Decimal("16.5")
    rounding = sum(Decimal(row["amount_usd"]) for row in reasons if row["reason"] == "rounding")
    assert sum(Decimal(row["amount_usd"]) for row in reasons) == whole
    assert sum(Decimal(row["amount_usd"]) for row in residuals) + rounding == whole
    assert sum(Decimal(row["difference_usd"]) for row in cells) == whole
    assert all(row["evidence"] for row in residuals if row["reason"] in ("not logged", "credit or fee"))


def test_a_formula_in_a_bill_is_defused_in_the_table(billed: TestClient) -> None:
    text = billed.get("/reconciliation.csv?table=residuals").text
    assert FORMULA[:12].lower() in text.lower()
    assert not any(cell.startswith("=") for line in text.splitlines() for cell in line.split(","))


def test_spend_says_what_is_not_reconciled_and_leads_there(billed: TestClient) -> None:
    page = billed.get("/?period=2026-11").text
    assert "Not reconciled" in page
    assert "/reconciliation?period=2026-11" in page
    assert "/reconciliation" in billed.get("/sources").text


def test_without_a_bill_the_page_says_how_to_get_one() -> None:
    made = company(no_access_control=True, demo=True)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        page = reader.get("/reconciliation").text
        assert "No bill was read yet" in page
        assert "Data Exports" in page
        assert "Not reconciled" not in reader.get("/").text


def test_a_period_without_a_bill_is_told_from_no_bill(billed: TestClient) -> None:
    page = billed.get("/reconciliation?period=2026-01").text
    assert "No bill of this period" in page


def test_spend_from_a_bill_alone_is_marked(tmp_path: Path) -> None:
    made = company([], planned=False, no_access_control=True, demo=True)
    path = tmp_path / "costs.jsonl"
    path.write_text(json.dumps(costs(("gpt-5, input", 12.5))), encoding="utf-8")
    from app.analysis.refresh import refresh
    from app.analysis.rules import load

    ingest_paths([path], warehouse=made.deps.warehouse, pricer=Pricer(BOOK), data_dir=tmp_path / "data")
    with made.deps.warehouse.writing() as session:
        refresh(session, load(), now_us=1, zone="UTC")
        bills.settle(session, BOOK)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        page = reader.get("/?period=2026-11").text
    assert "$12.50" in page
    assert "From the bill" in page


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Logs and a bill as files; three calls are not logged."""
    calls = month(days=3)
    bill = Bill(charged(calls))
    lines = {"calls.jsonl": [call.logged() for call in calls[3:]]}
    lines |= {"usage.jsonl": [bill.usage_page()], "costs.jsonl": [bill.costs_page()]}
    for name, records in lines.items():
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return tmp_path


def run(*words: str, data: Path) -> str:
    answer = CliRunner().invoke(main, words, env={"HALVE_DATA_DIR": str(data)})
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_the_command_compares_files_and_keeps_nothing(world: Path) -> None:
    data = world / "data"
    found = json.loads(run("reconcile", str(world), "--json", data=data))
    assert found["schema"] == reconciliation.SCHEMA
    assert list(found["by_kind"]) == ["not logged"]
    assert Decimal(found["by_kind"]["not logged"]) == Decimal(found["difference_usd"])
    assert Decimal(found["bill_usd"]) - Decimal(found["logged_usd"]) == Decimal(found["difference_usd"])
    assert 0.9 < found["reconciled_share"] < 1
    assert {item["evidence"][0]["file"].rpartition("/")[2] for item in found["residuals"]} == {"costs.jsonl"}
    assert not data.exists()


def test_the_command_reads_the_data_folder_and_says_it_in_words(world: Path) -> None:
    data = world / "kept"
    run("ingest", str(world / "calls.jsonl"), str(world / "usage.jsonl"), str(world / "costs.jsonl"), data=data)
    said = run("reconcile", data=data)
    assert said.startswith("Bill $")
    assert "Not logged" in said
    assert "Find the application or key" in said
    analysis = json.loads(run("analyze", "--json", data=data))
    assert 0.9 < analysis["coverage"]["reconciled_share"] < 1
    assert analysis["coverage"]["from_bills_usd"] is None
    assert "of the bill reconciled" in " ".join(run("analyze", data=data).split())


def test_bills_alone_can_be_analysed(world: Path) -> None:
    analysis = json.loads(run("analyze", "--json", str(world / "costs.jsonl"), data=world / "none"))
    assert analysis["coverage"]["from_bills_usd"] == analysis["cost_usd"] == analysis["paid_usd"]
    assert {row["name"] for row in analysis["by_model"]} == {"gpt-4o", "gpt-4o-mini"}
    window = analysis["window"]
    assert (window["from"], window["to"], window["days"]) == ("2026-03-02T00:00:00Z", "2026-03-05T00:00:00Z", 3)
    said = run("analyze", str(world / "costs.jsonl"), data=world / "none")
    assert "from bills alone" in said
    assert "gpt-4o" in said


def test_files_that_no_longer_count_are_named_beside_what_they_are_compared_with(tmp_path: Path) -> None:
    for name, cents, age_s in (("a", "2600", 60), ("b", "2500", 0)):
        result = {"currency": "USD", "amount": cents, "workspace_id": "wrkspc_one", "model": "claude-sonnet-4-5"}
        result |= {"token_type": "uncached_input_tokens", "cost_type": "tokens"}
        page = {"data": [{"starting_at": "2026-03-02T00:00:00Z", "results": [result]}], "has_more": False}
        (tmp_path / f"{name}.json").write_text(json.dumps(page), encoding="utf-8")
        os.utime(tmp_path / f"{name}.json", (1_790_000_000 - age_s, 1_790_000_000 - age_s))
    answer = CliRunner().invoke(
        main, ["reconcile", str(tmp_path), "--json"], env={"HALVE_DATA_DIR": str(tmp_path / "none")}
    )
    found = json.loads(answer.stdout)
    assert Decimal(found["bill_usd"]) == 25
    (problem,) = found["problems"]
    assert "a.json: its 26 USD of 2026-03-02 no longer count" in problem
    assert f"problem: {problem}" in answer.stderr


def test_without_a_bill_the_command_says_how_to_get_one(world: Path) -> None:
    data = world / "kept"
    run("ingest", str(world / "calls.jsonl"), data=data)
    assert run("reconcile", data=data).strip() == reconciliation.NO_BILL
    assert json.loads(run("reconcile", "--json", data=data))["bill_usd"] is None


def test_an_inspection_shows_lines_of_a_bill(world: Path) -> None:
    lines = [json.loads(line) for line in run("inspect", "--json", str(world / "costs.jsonl"), data=world).splitlines()]
    assert {line["kind"] for line in lines} == {"billed"}
    assert sum(Decimal(line["cost"]) for line in lines) == Bill(charged(month(days=3))).total()
    assert "BILL" in run("inspect", str(world / "costs.jsonl"), data=world)


def test_twins_hold_every_difference_where_the_page_shows_the_largest(tmp_path: Path) -> None:
    made = company(no_access_control=True, demo=True)
    path = tmp_path / "costs.jsonl"
    page = costs(*((f"made-model-{number}, input", number) for number in range(1, 31)))
    path.write_text(json.dumps(page), encoding="utf-8")
    ingest_paths([path], warehouse=made.deps.warehouse, pricer=Pricer(BOOK), data_dir=tmp_path / "data")
    with made.deps.warehouse.writing() as session:
        bills.settle(session, BOOK)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        found = reader.get("/reconciliation.json?table=residuals").json()
        shown = reader.get("/reconciliation").text
    named = [row for row in found["rows"] if (row["model"] or "").startswith("made-model-")]
    assert sum(Decimal(row["amount_usd"]) for row in named) == sum(range(1, 31))
    assert f"The 25 largest of {len(found['rows'])}; CSV and JSON have all of them." in shown


@pytest.mark.parametrize("others", [False, True])
def test_while_logs_are_taken_in_the_page_does_not_say_that_there_is_no_bill(tmp_path: Path, others: bool) -> None:
    made = company(no_access_control=True, demo=True)
    if others:
        path = tmp_path / "costs.jsonl"
        path.write_text(json.dumps(costs(("gpt-5, input", 12.5))), encoding="utf-8")
        ingest_paths([path], warehouse=made.deps.warehouse, pricer=Pricer(BOOK), data_dir=tmp_path / "data")
        with made.deps.warehouse.writing() as session:
            bills.settle(session, BOOK)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        idle = reader.get("/reconciliation?period=2026-01").text
        made.deeds.progress = Progress("reading logs", "taking new logs in")
        busy = reader.get("/reconciliation?period=2026-01").text
    assert ("No bill of this period" if others else "No bill was read yet") in idle
    assert "it appears here by itself" in busy
    assert "so far" in busy
    assert ("Show all time" in busy) == others
    assert "No bill was read yet" not in busy
