"""Pages of Anthropic's flat analytics items: a day that several pages part is whole, and an item again counts once."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import NOV_27

if TYPE_CHECKING:
    from made_bills import Books


def cost(model: str, cents: str, hour: int = 0) -> dict[str, Any]:
    amount = {"amount": cents, "currency": "USD", "token_type": "output_tokens"}
    return {"starting_at": f"2026-11-27T{hour:02}:00:00Z", "group": {"model": model}, "cost": amount}


def usage(model: str, tokens: int, hour: int = 0) -> dict[str, Any]:
    group = {"model": model, "workspace_id": None}
    return {"starting_at": f"2026-11-27T{hour:02}:00:00Z", "group": group, "usage": {"output_tokens": tokens}}


def page(*items: dict[str, Any], more: bool = False) -> dict[str, Any]:
    return {"data": list(items), "has_more": more, "next_page": "n" if more else None}


def read(books: Books, name: str, age_s: int, *records: Any) -> None:
    path = books.folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    os.utime(path, (NOV_27 - age_s, NOV_27 - age_s))
    books.read_file(path)


def counted(books: Books, column: str) -> Decimal:
    found: Decimal = books.sql(f"SELECT sum({column}) FROM bill_lines WHERE doubled_by IS NULL")[0][0]
    return found


@pytest.mark.parametrize(("made", "column", "scale"), [(cost, "cost", 100), (usage, "quantity", 1)])
@pytest.mark.parametrize("in_one_file", [True, False])
def test_a_day_that_pages_part_is_whole(books: Books, made: Any, column: str, scale: int, in_one_file: bool) -> None:
    pages = [page(made("a", 100), made("b", 200), more=True), page(made("c", 400), made("b", 800, 13))]
    if in_one_file:
        read(books, "pages.jsonl", 60, *pages)
    else:
        for number, one in enumerate(pages):
            read(books, f"page {number}.json", 60 - number, one)
    assert counted(books, column) * scale == 1_500


def test_an_item_that_comes_again_is_replaced_though_its_page_is_cut_elsewhere(books: Books) -> None:
    read(books, "old.jsonl", 60, page(cost("a", "100"), cost("b", "200"), more=True), page(cost("c", "400")))
    read(books, "new.jsonl", 30, page(cost("a", "101"), more=True), page(cost("b", "201"), cost("c", "401")))
    assert counted(books, "cost") == Decimal("7.03")
    read(books, "late.jsonl", 50, page(cost("a", "1")))
    assert counted(books, "cost") == Decimal("7.03"), "an older export that is read later"


@pytest.mark.parametrize("items_first", [True, False])
def test_items_and_whole_pages_of_one_day_count_once_from_the_newest(books: Books, items_first: bool) -> None:
    result = {"currency": "USD", "amount": "700", "model": "a", "token_type": "output_tokens"}
    whole = {"data": [{"starting_at": "2026-11-27T00:00:00Z", "results": [result]}], "has_more": False}
    items = (page(cost("a", "100"), more=True), page(cost("b", "200")))
    exports = [("items.jsonl", 60, *items), ("whole.jsonl", 30, whole)]
    for export in exports if items_first else exports[::-1]:
        read(books, *export)
    assert counted(books, "cost") == 7


def aside_of(books: Books) -> list[tuple[str, str, int | None]]:
    return [(aside.what, aside.name, aside.pusd) for aside in books.reconciled().asides]


GONE = "items that a newer export no longer has"


@pytest.mark.parametrize("new_first", [True, False])
@pytest.mark.parametrize("in_one_file", [True, False])
def test_an_item_that_a_newer_whole_export_no_longer_has_does_not_count(
    books: Books, new_first: bool, in_one_file: bool
) -> None:
    old = [page(cost("a", "100"), cost("b", "200"), more=True), page(cost("c", "400"))]
    new = [page(cost("a", "101"), more=True), page(cost("c", "401"))]
    hour = 3_600

    def exports() -> list[tuple[str, int, list[dict[str, Any]]]]:
        if in_one_file:
            return [("old.jsonl", 30 * hour, old), ("new.jsonl", 6 * hour, new)]
        parts = [(f"old {n}.json", 30 * hour - n, [one]) for n, one in enumerate(old)]
        return [*parts, *((f"new {n}.json", 6 * hour - n, [one]) for n, one in enumerate(new))]

    for name, age_s, pages in exports()[::-1] if new_first else exports():
        read(books, name, age_s, *pages)
    assert counted(books, "cost") == Decimal("5.02")
    assert aside_of(books) == [(GONE, "anthropic_costs of anthropic_cost_report, 2026-11-27", 2 * 10**12)]


def test_a_day_of_which_the_newer_export_has_nothing_any_more_is_empty(books: Books) -> None:
    def on(day: int, cents: str) -> dict[str, Any]:
        return cost("a", cents) | {"starting_at": f"2026-11-{day}T00:00:00Z"}

    read(books, "old.jsonl", 90_000, page(on(25, "100"), on(26, "200"), on(27, "400"), on(28, "800")))
    read(books, "new.jsonl", 60, page(on(25, "101"), on(27, "401")))
    assert counted(books, "cost") == Decimal("13.02"), "the 28th lies behind the newer export, the 26th in it"


def test_items_stay_where_the_newer_pages_are_not_all_there(books: Books) -> None:
    read(books, "old.jsonl", 90_000, page(cost("a", "100"), cost("b", "200")))
    read(books, "new.jsonl", 60, page(cost("a", "101"), more=True))
    assert counted(books, "cost") == Decimal("3.01")


def test_an_export_of_items_that_is_grouped_otherwise_takes_the_place_of_the_older_one(books: Books) -> None:
    def of(workspace: str, cents: str) -> dict[str, Any]:
        item = cost("a", cents)
        return item | {"group": {"workspace_id": workspace}}

    read(books, "by model.jsonl", 90_000, page(cost("a", "100"), cost("b", "200")))
    read(books, "by workspace.jsonl", 60, page(of("w1", "120"), of("w2", "180")))
    assert counted(books, "cost") == 3


def test_pages_of_one_export_that_are_written_within_an_hour_are_one(books: Books) -> None:
    for number, (one, more) in enumerate((("a", True), ("b", True), ("c", False))):
        read(books, f"page {number}.json", 9_000 - 1_000 * number, page(cost(one, "100"), more=more))
    assert counted(books, "cost") == 3
