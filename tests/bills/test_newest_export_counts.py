"""Exports in the store: the newest one counts, parts add up, and nothing is counted twice."""

from __future__ import annotations

import csv
import io
import json
import os
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import CUR, NOV_27, bucket

from ingest.billed_rows import export_of

if TYPE_CHECKING:
    from pathlib import Path

    from made_bills import Books


def test_a_bad_amount_costs_its_line_and_is_named(books: Books) -> None:
    good = {
        "object": "organization.costs.result",
        "amount": {"value": 2, "currency": "usd"},
        "line_item": "gpt-x, input",
    }
    bad = {**good, "amount": {"value": "two", "currency": "usd"}}
    summary = books.read("costs.jsonl", bucket(good, bad))
    assert (summary.read, summary.stored, summary.rejected) == (2, 1, 1)
    assert "amount is no number: 'two'" in summary.problems[0]
    assert books.sql("SELECT sum(cost) FROM billed") == [(Decimal(2),)]


def costs(value: float, item: str = "gpt-x, input") -> dict[str, Any]:
    amount = {"value": value, "currency": "usd"}
    return {"object": "organization.costs.result", "amount": amount, "line_item": item, "project_id": "p"}


def written(books: Books, name: str, age_s: int, *records: Any) -> Path:
    """A file of a known age, so that it is plain which export is the newer one."""
    path = books.folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    os.utime(path, (NOV_27 - age_s, NOV_27 - age_s))
    return path


def total(books: Books) -> Decimal:
    found: Decimal = books.sql("SELECT sum(cost) FROM billed")[0][0]
    return found


def test_the_same_export_again_changes_nothing(books: Books) -> None:
    first = books.read_file(written(books, "a.jsonl", 60, bucket(costs(2), costs(3, "gpt-x, output"))))
    again = books.read_file(written(books, "copy of a.jsonl", 30, bucket(costs(2), costs(3, "gpt-x, output"))))
    assert (first.stored, first.updated, first.merged) == (2, 0, 0)
    assert (again.stored, again.updated, again.merged) == (0, 0, 2)
    assert total(books) == 5


@pytest.mark.parametrize("older_first", [True, False])
def test_a_newer_export_replaces_its_days_in_whatever_order_it_is_read(books: Books, older_first: bool) -> None:
    older = written(books, "a.jsonl", 60, bucket(costs(2), costs(3, "provisional")))
    newer = written(books, "b.jsonl", 30, bucket(costs(4)))
    for path in (older, newer) if older_first else (newer, older):
        books.read_file(path)
    assert total(books) == 4


def test_an_export_that_only_drops_lines_is_an_update(books: Books) -> None:
    books.read_file(written(books, "a.jsonl", 60, bucket(costs(2), costs(3, "gpt-x, output"))))
    summary = books.read_file(written(books, "b.jsonl", 30, bucket(costs(2))))
    assert (summary.stored, summary.updated, summary.merged) == (0, 1, 0)
    assert total(books) == 2


def test_a_file_written_anew_forgets_what_it_said_before(books: Books) -> None:
    rows = [CUR | {"line_item_usage_type": f"USE1-Claude4.6Sonnet-{name}-tokens"} for name in ("input", "output")]
    books.read_file(written(books, "cur.jsonl", 60, *rows))
    books.read_file(written(books, "cur.jsonl", 30, rows[0] | {"line_item_usage_start_date": "2026-11-26T00:00:00Z"}))
    assert books.sql("SELECT cast(day AS VARCHAR), sum(cost) FROM billed GROUP BY day") == [
        ("2026-11-26", Decimal("0.0572"))
    ]


def test_a_page_that_is_pulled_again_under_the_same_name_counts_once(books: Books) -> None:
    for age_s in (60, 30):
        books.read_file(written(books, "page.jsonl", age_s, bucket(costs(2), costs(3, "gpt-x, output"))))
        assert total(books) == 5
    later = bucket(costs(1))
    later["data"][0]["start_time"] += 86_400
    books.read_file(written(books, "page.jsonl", 10, later))
    assert total(books) == 6, "the days that the new page does not speak of stand"


def test_the_parts_of_one_export_add_up(books: Books) -> None:
    rows = [CUR | {"line_item_usage_type": f"USE1-Claude4.6Sonnet-{name}-tokens"} for name in ("input", "output")]
    books.read_file(written(books, "acme-00001.jsonl", 60, rows[0]))
    books.read_file(written(books, "acme-00002.jsonl", 59, rows[1]))
    assert total(books) == 2 * Decimal("0.0572")


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("/b/acme-00001.csv.gz", "/b/acme-00002.csv.gz", True),
        ("/b/part-00000-x.parquet", "/b/part-00001-x.parquet", True),
        ("/b/part_0_0001.csv", "/b/part_1_0001.csv", True),
        ("/b/gcp-000000000000.json", "/b/gcp-000000000001.json", True),
        ("/b/costs-2026-11-28.csv", "/b/costs-2026-11-29.csv", False),
        ("/b/costs (1).csv", "/b/costs (2).csv", False),
        ("/b/1/acme-00001.csv", "/b/2/acme-00001.csv", False),
    ],
)
def test_only_the_numbers_of_parts_make_files_one_export(one: str, other: str, together: bool) -> None:
    assert (export_of(one) == export_of(other)) is together


def test_accounts_of_one_provider_are_exports_of_their_own(books: Books) -> None:
    row = CUR | {"line_item_usage_type": "USE1-Claude4.6Sonnet-input-tokens"}
    books.read_file(written(books, "one.jsonl", 60, row))
    books.read_file(written(books, "two.jsonl", 30, row | {"line_item_usage_account_id": "3"}))
    assert total(books) == 2 * Decimal("0.0572")


def test_a_table_is_read_like_its_records(books: Books) -> None:
    row = CUR | {"line_item_usage_type": "USE1-Claude4.6Sonnet-input-tokens"}
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(row))
    writer.writeheader()
    writer.writerows([row] * 3)
    path = books.folder / "bill.csv"
    path.write_text(out.getvalue(), encoding="utf-8")
    summary = books.read_file(path)
    assert (summary.read, summary.stored) == (3, 3)
    assert books.sql("SELECT lines, quantity, cost FROM billed") == [(3, Decimal(51_990), 3 * Decimal("0.0572"))]


def test_a_key_in_a_line_item_is_never_stored(books: Books) -> None:
    books.read("costs.jsonl", bucket(costs(1, "usage of sk-proj-abcdefghijklmnop1234")))
    assert books.sql("SELECT line_item FROM billed") == [("usage of ***",)]


@pytest.mark.data
def test_the_public_focus_sample_adds_up_exactly(books: Books, data_dir: Path) -> None:
    summary = books.read_file(data_dir / "focus/focus_sample.csv")
    assert (summary.read, summary.stored, summary.rejected) == (1_000, 1_000, 0)
    assert books.sql("SELECT sum(cost), sum(effective_cost) FROM billed") == [
        (Decimal("20.520226728990"), Decimal("14.976514185860"))
    ]
