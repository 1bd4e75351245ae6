"""Days and months of one report: the newest export counts for the days it covers, in whatever order they are read."""

from __future__ import annotations

import json
import os
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import NOV_27
from made_bills import Books, open_books

from app.analysis import spend
from app.core.money import usd
from app.core.view import View

if TYPE_CHECKING:
    from pathlib import Path

Export = tuple[int, list[dict[str, Any]]]
"""The age of a file in seconds and its rows."""


def row(cost: str, starts: str, ends: str) -> dict[str, Any]:
    return {
        "BilledCost": cost,
        "BillingAccountId": "org",
        "BillingCurrency": "USD",
        "ChargeCategory": "Usage",
        "ChargePeriodStart": starts,
        "ChargePeriodEnd": ends,
        "ConsumedQuantity": "1000",
        "ConsumedUnit": "Tokens",
        "ProviderName": "OpenAI",
        "ServiceCategory": "AI and Machine Learning",
        "ServiceSubcategory": "Generative AI",
        "SkuPriceDetails": {"x_Model": "made-large", "x_TokenClass": "input"},
    }


def day(number: int, cost: str = "1") -> dict[str, Any]:
    return row(cost, f"2026-03-{number:02}T00:00:00Z", f"2026-03-{number:02}T23:59:59Z")


def days(first: int, last: int, cost: str = "1") -> list[dict[str, Any]]:
    return [day(number, cost) for number in range(first, last + 1)]


def march(cost: str = "40") -> dict[str, Any]:
    return row(cost, "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")


def fee(charge: dict[str, Any]) -> dict[str, Any]:
    return charge | {"ChargeCategory": "Purchase"}


def read(books: Books, *exports: Export) -> Decimal:
    """Spend after the exports were read in this order."""
    for age_s, rows in exports:
        path = books.folder / f"bill of {age_s}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
        os.utime(path, (NOV_27 - age_s, NOV_27 - age_s))
        books.read_file(path)
    with books.warehouse.session() as session:
        return usd(spend.totals(session, View(spend.whole_period(session, "UTC"))).cost_pusd or 0)


CASES = {
    "days, then their month": (((60, days(1, 31)), (30, [march()])), "40"),
    "a month, then its days": (((60, [march()]), (30, days(1, 31))), "31"),
    "a month, then its days one by one": (((60, [march()]), *((50 - n, [day(n)]) for n in range(1, 32, 10))), "4"),
    "a month, then some days": (((60, [march()]), (30, days(12, 31))), "20"),
    "a month, then its first day": (((60, [march()]), (30, days(1, 1))), "1"),
    "days, a month, more days": (((60, days(1, 9)), (40, [march()]), (20, days(11, 20))), "19"),
    "a month anew": (((60, [march("40")]), (30, [march("41")])), "41"),
    "a month so far, then all of it": (
        ((60, [row("7", "2026-03-01T00:00:00Z", "2026-03-11T00:00:00Z")]), (30, [march()])),
        "40",
    ),
    "a month with a fee of one day": (
        ((60, [*days(1, 31), fee(day(5, "3"))]), (30, [march(), fee(day(5, "2"))])),
        "42",
    ),
    "days with a fee of the month": (
        (
            (60, [*days(1, 5), fee(march("9"))]),
            (30, [*days(6, 7), fee(march("9"))]),
        ),
        "15",
    ),
    "a month and a day that only touch": (
        ((60, [march()]), (30, [row("2", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z")])),
        "42",
    ),
    "days of another time zone": (
        tuple((60 - n, [row("1", f"2026-03-{n:02}T08:00:00Z", f"2026-03-{n + 1:02}T08:00:00Z")]) for n in range(1, 4)),
        "3",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_day_is_counted_once_as_the_newest_export_says_it(tmp_path: Path, case: str) -> None:
    exports, expected = CASES[case]
    for number, order in enumerate((exports, exports[::-1])):
        books = open_books(tmp_path / str(number))
        assert read(books, *order) == Decimal(expected)
        books.warehouse.close()


def test_what_a_partly_overtaken_month_says_of_other_days_is_named(books: Books) -> None:
    assert read(books, (60, [march()]), (30, days(12, 31))) == 20
    (aside,) = books.reconciled().asides
    assert aside.what == "a period of which a newer export says some days"
    assert aside.name == "focus of focus, 2026-03-01 to 2026-03-31: its other days are missing here"
    assert usd(aside.pusd or 0) == 40
    assert read(books, (20, days(1, 11))) == 31
    assert books.reconciled().asides == ()


def test_no_order_of_reading_days_and_months_changes_a_total(tmp_path: Path) -> None:
    rng = random.Random(4)
    for trial in range(2):
        exports: list[Export] = []
        for age_s in range(1, 6):
            first = rng.randrange(1, 20)
            last = rng.randrange(first, min(first + 12, 29))
            cost = f"{rng.randrange(1, 100)}"
            whole = row(cost, f"2026-03-{first:02}T00:00:00Z", f"2026-03-{last + 1:02}T00:00:00Z")
            exports.append((age_s, rng.choice([days(first, last, cost), [whole]])))
        totals = set()
        for number in range(3):
            books = open_books(tmp_path / f"{trial}-{number}")
            totals.add(read(books, *rng.sample(exports, len(exports))))
            books.warehouse.close()
        assert len(totals) == 1
