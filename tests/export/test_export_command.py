"""`halve export` as a person meets it: files that other tools read, equal alone and beside the service."""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from html import unescape
from typing import TYPE_CHECKING, Any

import duckdb
import httpx2
import polars as pl
import pytest

from tests.cli.halve_command import halve, inside, service
from tests.ledger.test_reprice_command import CORRECTED, log_of, prices, reprice, spend, taken_in

if TYPE_CHECKING:
    from pathlib import Path


def exported(data: Path, *arguments: object) -> Any:
    answer = inside(data, "export", *arguments, "--json")
    assert answer.code == 0, answer
    return answer.json


def test_focus_files_are_read_back_by_duckdb_and_polars_with_the_total_of_spend(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    said = exported(data, "focus", "--out", tmp_path / "focus.csv")
    paid = spend(data)
    assert Decimal(said["cost_usd"]) == paid
    with (tmp_path / "focus.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == said["rows"] == 4, "two days of input and output"
    assert sum(Decimal(row["ContractedCost"]) for row in rows) == paid
    exported(data, "focus", "--parquet", "--by", "hour", "--out", tmp_path / "focus.parquet")
    ((total, kind),) = duckdb.sql(
        f"SELECT sum(ContractedCost), any_value(typeof(ContractedCost)) FROM '{tmp_path}/focus.parquet'"
    ).fetchall()
    assert (total, kind) == (paid, "DECIMAL(38,12)")
    frame = pl.read_parquet(tmp_path / "focus.parquet")
    assert frame.schema["ChargePeriodStart"] == pl.Datetime("us", "UTC")
    assert frame["ChargePeriodStart"].n_unique() == 48


def test_every_request_can_be_taken_along_with_typed_columns(tmp_path: Path) -> None:
    data = taken_in(tmp_path, 5)
    said = exported(data, "parquet", "--out", tmp_path / "all.parquet")
    frame = pl.read_parquet(tmp_path / "all.parquet")
    assert (frame.height, said["rows"]) == (5, 5)
    assert frame.schema["cost_usd"] == pl.Decimal(32, 12)
    assert Decimal(frame["cost_usd"].sum()) == spend(data) == Decimal(said["cost_usd"])
    assert frame.schema["start_time"] == pl.Datetime("us", "UTC")
    exported(data, "csv", "--from", "2026-07-01", "--to", "2026-07-01", "--out", tmp_path / "all.csv")
    assert pl.read_csv(tmp_path / "all.csv").height == 5


def test_the_running_service_hands_over_the_same_file(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    alone = exported(data, "focus", "--out", tmp_path / "alone.csv")
    with service(data):
        beside = halve(data, "export", "focus", "--json", "--out", tmp_path / "beside.csv")
        assert beside.code == 0, beside
        halve(data, "export", "focus", "--as-of", "4", "--out", tmp_path / "no.csv").failed(1, "no version 4")
    assert (tmp_path / "beside.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()
    assert {**beside.json, "path": ""} == {**alone, "path": ""}
    assert list((data / "exports").iterdir()) == [], "what was handed over is gone"
    assert not (tmp_path / "no.csv").exists()


def test_the_dashboard_hands_the_focus_rows_of_a_period_to_who_is_signed_in(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    exported(data, "focus", "--from", "2026-07-01", "--to", "2026-07-01", "--out", tmp_path / "alone.csv")
    with service(data) as link, httpx2.Client(base_url=link.partition("/enter")[0]) as reader:
        assert reader.get("/export/focus.csv", headers={"accept": "text/csv"}).status_code in (303, 401)
        reader.get(link)
        days = "2026-07-01..2026-07-01"
        page = reader.get(f"/costs?period={days}").text
        address = re.search(r'href="(/export/focus.csv[^"]*)"', page)
        assert address is not None
        file = reader.get(unescape(address.group(1)))
        assert file.headers["content-disposition"] == 'attachment; filename="halve-focus-2026-07-01-to-2026-07-01.csv"'
        assert file.content == (tmp_path / "alone.csv").read_bytes()
        assert reader.get("/export/focus.csv?period=soon").status_code == 400
        assert "/export/focus.csv" not in reader.get(f"/costs?period={days}&f=is,model,made-1").text
    assert list((data / "exports").iterdir()) == []


@pytest.mark.parametrize("kind", ["focus", "csv"])
@pytest.mark.parametrize("minutes", [(15, 45), (45,), (15, 29, 30, 59)])
def test_a_zone_whose_days_begin_at_half_past_loses_no_request(
    tmp_path: Path, kind: str, minutes: tuple[int, ...]
) -> None:
    """Midnight of Kolkata is 18:30 UTC; the store's own days are those of UTC, its sums stand by the hour."""
    calls = [
        {
            "timestamp": f"2026-11-10T18:{minute}:00Z",
            "request_id": f"call-{minute}",
            "provider": "openai",
            "model": "gpt-4o",
            "input_tokens": 1000,
            "output_tokens": 100,
        }
        for minute in minutes
    ]
    data = tmp_path / "data"
    assert inside(data, "ingest", log_of(tmp_path / "log.jsonl", calls)).code == 0
    said = exported(data, kind, "--zone", "Asia/Kolkata", "--out", tmp_path / "all.csv")
    assert Decimal(said["cost_usd"]) == Decimal("0.0035") * len(minutes)
    later = sum(minute >= 30 for minute in minutes)
    said = exported(
        data, kind, "--zone", "Asia/Kolkata", "--from", "2026-11-11", "--to", "2026-11-11", "--out", tmp_path / "11.csv"
    )
    assert Decimal(said["cost_usd"]) == Decimal("0.0035") * later


def test_an_earlier_version_of_the_costs_can_be_exported(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    before = exported(data, "focus", "--out", tmp_path / "before.csv")
    reprice(data, "--prices", prices(tmp_path, CORRECTED, "new.yml"), "--apply")
    now = exported(data, "focus", "--out", tmp_path / "now.csv")
    then = exported(data, "focus", "--as-of", "0", "--out", tmp_path / "then.csv")
    assert Decimal(now["cost_usd"]) > Decimal(then["cost_usd"]) == Decimal(before["cost_usd"])


def test_text_that_a_spreadsheet_would_run_is_defused(tmp_path: Path) -> None:
    calls = [{"timestamp": 1_782_864_000, "model": '=HYPERLINK("x")', "input_tokens": 5, "output_tokens": 1}]
    data = tmp_path / "data"
    assert inside(data, "ingest", log_of(tmp_path / "log.jsonl", calls)).code == 0
    for kind in ("csv", "focus"):
        exported(data, kind, "--out", tmp_path / f"{kind}.csv")
        with (tmp_path / f"{kind}.csv").open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert '\'=HYPERLINK("x")' in cells
        assert not [cell for cell in cells if cell.lstrip(" ").startswith("=")]


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    data = taken_in(tmp_path, 2)
    halve(data, "export", "csv", "--out", tmp_path / "none" / "a.csv").failed(2, "There is no folder")
    (tmp_path / "a.csv").write_text("older")
    answer = inside(data, "export", "csv", "--as-of", "9", "--out", tmp_path / "a.csv")
    assert answer.code == 1
    assert (tmp_path / "a.csv").read_text() == "older"
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("kind", ["focus", "csv", "parquet"])
def test_a_time_without_requests_gives_a_file_with_its_header_alone(tmp_path: Path, kind: str) -> None:
    data = taken_in(tmp_path, 1)
    said = exported(data, kind, "--from", "2020-01-01", "--to", "2020-01-02", "--out", tmp_path / "empty")
    assert (said["rows"], said["cost_usd"]) == (0, "0")
    read = pl.read_parquet if kind == "parquet" else pl.read_csv
    assert read(tmp_path / "empty").height == 0
    assert len(read(tmp_path / "empty").columns) > 50


@pytest.mark.parametrize("kind", ["focus", "csv", "parquet"])
def test_the_sum_of_rows_whose_cost_nobody_knows_is_unknown(tmp_path: Path, kind: str) -> None:
    call = {"timestamp": "2026-07-01T00:00:00Z", "input_tokens": 10, "output_tokens": 5}
    assert inside(tmp_path / "data", "ingest", log_of(tmp_path / "calls.jsonl", [call])).code == 0
    said = exported(tmp_path / "data", kind, "--out", tmp_path / "calls")
    assert said["rows"] == said["unpriced_rows"] > 0
    assert (said["cost_usd"], said["billed_usd"]) == (None, None)
    text = inside(tmp_path / "data", "export", kind, "--out", tmp_path / "calls").out
    assert ", of unknown cost, in" in text
