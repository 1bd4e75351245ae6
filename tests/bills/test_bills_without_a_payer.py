"""Two bills of the same days that name no payer: amounts tell whether they are one bill or two organisations'."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from made_bills import Books, open_books

from app.analysis import spend
from app.core.money import usd
from app.core.view import View

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TWICE, BOTH = "the same bill twice", "both bills of the same days count"
DAYS = ("2026-03-02", "2026-03-03", "2026-03-04")
LATER = datetime(2026, 4, 20, tzinfo=UTC)


def page(amounts: Mapping[tuple[str, str], str], project: str | None = None, **said: Any) -> dict[str, Any]:
    """A page of OpenAI's costs: USD by day and line item."""
    buckets = []
    for day in sorted({day for day, _ in amounts}):
        start = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
        results = [
            {
                "object": "organization.costs.result",
                "amount": {"value": value, "currency": "usd"},
                "line_item": item,
                "project_id": project,
            }
            for (at, item), value in amounts.items()
            if at == day
        ]
        buckets.append({"object": "bucket", "start_time": start, "end_time": start + 86_400, "results": results})
    return {"object": "page", **said, "data": buckets, "has_more": False, "next_page": None}


def changed(amounts: Mapping[tuple[str, str], str], factor: str) -> dict[tuple[str, str], str]:
    return {key: str(Decimal(value) * Decimal(factor)) for key, value in amounts.items()}


def told(books: Books, older: Any, newer: Any, *, written: datetime = LATER) -> tuple[Decimal, list[str]]:
    """What counts of two sources' bills, the second written an hour after the first; and what is said beside it."""
    for number, (name, record) in enumerate((("one", older), ("two", newer))):
        path = books.folder / f"{name}.json"
        path.write_text(json.dumps(record), encoding="utf-8")
        at = written.timestamp() + 3_600 * number
        os.utime(path, (at, at))
        books.read_file(path, source=name)
    counted = Decimal(books.sql("SELECT sum(cost) FROM bill_lines WHERE doubled_by IS NULL")[0][0])
    with books.warehouse.session() as session:
        spent = spend.totals(session, View(spend.whole_period(session, "UTC"))).cost_pusd or 0
    assert usd(spent) == counted
    return counted, [aside.what for aside in books.reconciled().asides]


def of(model: str, first: str) -> dict[tuple[str, str], str]:
    """Input and output of each day, no two days alike."""
    return {
        (day, f"{model}, {name}"): f"{int(first) + number}.{number}7"
        for number, day in enumerate(DAYS)
        for name in ("input", "output")
    }


LARGE, SMALL = of("gpt-4o-2024-08-06", "3"), of("gpt-4o-mini-2024-07-18", "2")
WHOLE = {**LARGE, **SMALL}
FAR = {**WHOLE, (DAYS[0], "gpt-4o-2024-08-06, input"): "30"}
FEWER_DAYS = {key: WHOLE[key] for key in WHOLE if key[0] != DAYS[2]}
BY_DAY = {(day, "Total"): str(sum(Decimal(value) for (at, _), value in WHOLE.items() if at == day)) for day in DAYS}


def total(amounts: Mapping[tuple[str, str], str]) -> Decimal:
    return sum(map(Decimal, amounts.values()), Decimal(0))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        pytest.param(WHOLE, WHOLE, id="identical"),
        pytest.param(WHOLE, FAR, id="one amount was corrected by far"),
        pytest.param(WHOLE, changed(WHOLE, "0.98"), id="every amount was corrected a little"),
        pytest.param(LARGE, WHOLE, id="a subset of the newer one"),
        pytest.param(WHOLE, FEWER_DAYS, id="of fewer days"),
        pytest.param(WHOLE, BY_DAY, id="cut otherwise"),
    ],
)
def test_bills_that_agree_are_one_and_the_newest_counts(books: Books, older: Any, newer: Any) -> None:
    days = {day for day, _ in newer}
    beside = {key: value for key, value in older.items() if key[0] not in days}
    assert told(books, page(older), page(newer)) == (total(newer) + total(beside), [TWICE])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(WHOLE, changed(WHOLE, "2"), id="every amount is double"),
        pytest.param(LARGE, SMALL, id="models that the other has not at all"),
        pytest.param(WHOLE, changed(dict(zip(WHOLE, reversed(WHOLE.values()), strict=True)), "3.3"), id="all unlike"),
    ],
)
def test_bills_that_agree_in_nothing_are_of_two_payers_and_both_count(tmp_path: Path, one: Any, other: Any) -> None:
    for number, pair in enumerate(permutations((one, other))):
        books = open_books(tmp_path / str(number))
        assert told(books, *map(page, pair)) == (total(one) + total(other), [BOTH])
        books.warehouse.close()


def test_it_is_said_what_both_count_for_and_how_to_say_that_they_are_one(books: Books) -> None:
    told(books, page(LARGE), page(SMALL))
    (aside,) = books.reconciled().asides
    assert aside.name.startswith("one beside two: no payer is named and they agree in nothing")
    assert "organization_id" in aside.name
    assert usd(aside.pusd or 0) == total(LARGE)
    again = page(LARGE, organization_id="org"), page(SMALL, organization_id="org")
    assert told(books, *again, written=LATER + timedelta(days=1)) == (total(SMALL), [TWICE])


def test_a_day_that_was_not_over_when_it_was_first_read_only_grew(books: Books) -> None:
    morning = {key: LARGE[key] for key in LARGE if key[0] == DAYS[0]}
    evening = changed(morning, "2.4")
    written = datetime.fromisoformat(DAYS[0]).replace(hour=11, tzinfo=UTC)
    assert told(books, page(morning), page(evening), written=written) == (total(evening), [TWICE])


def test_a_day_that_was_not_over_does_not_shrink(books: Books) -> None:
    morning = {key: LARGE[key] for key in LARGE if key[0] == DAYS[0]}
    written = datetime.fromisoformat(DAYS[0]).replace(hour=11, tzinfo=UTC)
    other = changed(morning, "0.4")
    assert told(books, page(morning), page(other), written=written) == (total(morning) + total(other), [BOTH])


def test_a_project_is_of_one_organisation_whatever_two_exports_say_of_it(books: Books) -> None:
    pages = page(WHOLE, "proj_a1"), page(changed(WHOLE, "0.5"), "proj_a1")
    assert told(books, *pages) == (total(changed(WHOLE, "0.5")), [TWICE])


def test_projects_of_the_same_free_name_may_be_of_two_organisations(books: Books) -> None:
    pages = page(WHOLE, "production"), page(changed(WHOLE, "0.5"), "production")
    assert told(books, *pages) == (total(WHOLE) + total(changed(WHOLE, "0.5")), [BOTH])
