"""One bill in several cuts: by account and for the payer as a whole, as days and as months. Each day counts once."""

from __future__ import annotations

import json
import os
from datetime import datetime
from decimal import Decimal
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import NOV_27
from made_bills import Books, open_books

from app.warehouse.migrate import migrate

if TYPE_CHECKING:
    from pathlib import Path

Export = tuple[int, list[dict[str, Any]]]
"""The age of a file in seconds and its rows."""


def row(cost: str, first: str, ends: str, account: str | None = None, payer: str = "org") -> dict[str, Any]:
    return {
        "BilledCost": cost,
        "BillingAccountId": payer,
        "BillingCurrency": "USD",
        "ChargeCategory": "Usage",
        "ChargePeriodStart": f"{first}T00:00:00Z",
        "ChargePeriodEnd": f"{ends}T00:00:00Z",
        "ConsumedQuantity": "1000",
        "ConsumedUnit": "Tokens",
        "ProviderName": "OpenAI",
        "ServiceCategory": "AI and Machine Learning",
        "ServiceSubcategory": "Generative AI",
        "SkuPriceDetails": {"x_Model": "made-large", "x_TokenClass": "input"},
        "SubAccountId": account,
    }


def days(cost: str, first: int, last: int, account: str | None = None, payer: str = "org") -> list[dict[str, Any]]:
    return [row(cost, f"2026-03-{day:02}", f"2026-03-{day + 1:02}", account, payer) for day in range(first, last + 1)]


def month(cost: str, account: str | None = None, payer: str = "org") -> dict[str, Any]:
    return row(cost, "2026-03-01", "2026-04-01", account, payer)


BY_PROJECT = [*days("1", 1, 30, "a"), *days("2", 1, 30, "b")]
CASES = {
    "days by project, then the month of the payer": (((60, BY_PROJECT), (30, [month("95")])), "95"),
    "the month of the payer, then its days by project": (((60, [month("95")]), (30, BY_PROJECT)), "90"),
    "months by project, then days of the payer": (
        ((60, [month("40", "a"), month("50", "b")]), (30, days("3", 1, 30))),
        "90",
    ),
    "days by project, then days of the payer": (((60, BY_PROJECT), (30, days("3.5", 1, 30))), "105"),
    "days of the payer, then some by project": (((60, days("3", 1, 30)), (30, days("2", 11, 30, "a"))), "70"),
    "one export with charges of no project": (((60, [*BY_PROJECT, *days("0.5", 1, 30)]),), "105"),
    "projects in files of their own": (((60, days("1", 1, 30, "a")), (30, days("2", 1, 30, "b"))), "90"),
    "a payer that is an account too": (((60, days("1", 1, 30, "org")), (30, days("2", 1, 30, "b"))), "90"),
    "another payer": (((60, BY_PROJECT), (30, [month("9", None, "organic")])), "99"),
}


def read(books: Books, exports: tuple[Export, ...]) -> Decimal:
    for age_s, rows in exports:
        path = books.folder / f"bill of {age_s}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
        os.utime(path, (NOV_27 - age_s, NOV_27 - age_s))
        books.read_file(path)
    return Decimal(books.sql("SELECT sum(cost) FROM bill_lines WHERE doubled_by IS NULL")[0][0])


@pytest.mark.parametrize("case", CASES)
def test_a_bill_in_two_cuts_counts_once_as_the_newest_says_it(tmp_path: Path, case: str) -> None:
    exports, expected = CASES[case]
    for number, order in enumerate(permutations(exports)):
        books = open_books(tmp_path / str(number))
        assert read(books, order) == Decimal(expected)
        books.warehouse.close()


def page(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The same days as a page of OpenAI's costs."""
    by_day: dict[str, list[dict[str, Any]]] = {}
    for one in rows:
        result = {
            "object": "organization.costs.result",
            "amount": {"value": one["BilledCost"], "currency": "usd"},
            "line_item": "made-large, input",
            "project_id": one["SubAccountId"],
        }
        by_day.setdefault(one["ChargePeriodStart"], []).append(result)
    buckets = [
        {
            "object": "bucket",
            "start_time": int(datetime.fromisoformat(day).timestamp()),
            "end_time": int(datetime.fromisoformat(day).timestamp()) + 86_400,
            "results": results,
        }
        for day, results in by_day.items()
    ]
    return {"object": "page", "data": buckets, "has_more": False, "next_page": None}


PAGES = {
    "projects in files of their own": (((60, days("1", 1, 30, "a")), (30, days("2", 1, 30, "b"))), "90"),
    "a newer export of one project of two": (((60, BY_PROJECT), (30, days("4", 1, 30, "a"))), "180"),
    "days by project, then days of all": (((60, BY_PROJECT), (30, days("3.5", 1, 30))), "105"),
    "days of all, then by project": (((60, days("3.5", 1, 30)), (30, BY_PROJECT)), "90"),
    "the same again": (((60, BY_PROJECT), (30, BY_PROJECT)), "90"),
}


@pytest.mark.parametrize("case", PAGES)
def test_openai_costs_of_one_project_leave_the_others(tmp_path: Path, case: str) -> None:
    exports, expected = PAGES[case]
    for number, order in enumerate(permutations(exports)):
        books = open_books(tmp_path / str(number))
        for age_s, rows in order:
            path = books.folder / f"costs of {age_s}.json"
            path.write_text(json.dumps(page(rows)), encoding="utf-8")
            os.utime(path, (NOV_27 - age_s, NOV_27 - age_s))
            books.read_file(path)
        total = books.sql("SELECT sum(cost) FROM bill_lines WHERE doubled_by IS NULL")[0][0]
        assert Decimal(total) == Decimal(expected)
        books.warehouse.close()


def test_what_was_read_before_is_replaced_by_project_too(tmp_path: Path) -> None:
    books = open_books(tmp_path)
    path = books.folder / "costs.json"
    path.write_text(json.dumps(page(BY_PROJECT)), encoding="utf-8")
    os.utime(path, (NOV_27 - 60, NOV_27 - 60))
    books.read_file(path)
    with books.warehouse.writing() as session:  # as stores of before have it
        session.connection.execute("UPDATE billed SET scope = ''")
        session.connection.execute("DELETE FROM warehouse_version WHERE version = 27")
    assert migrate(books.warehouse) == [27]
    newer = books.folder / "newer.json"
    newer.write_text(json.dumps(page(days("4", 1, 30, "a"))), encoding="utf-8")
    os.utime(newer, (NOV_27 - 30, NOV_27 - 30))
    books.read_file(newer)
    assert Decimal(books.sql("SELECT sum(cost) FROM bill_lines WHERE doubled_by IS NULL")[0][0]) == Decimal(180)
    books.warehouse.close()
