"""Exports of Anthropic's costs and usage that are of some workspaces alone: they say nothing of the others."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import NOV_27
from made_bills import Books, open_books
from test_bills_of_several_payers import costs

from app.warehouse.migrate import migrate

if TYPE_CHECKING:
    from pathlib import Path


def page_of(**cents: str) -> dict[str, Any]:
    """A page of a day's costs by workspace; `all` is of none: of the default workspace, or of all together."""
    pages = [costs(amount, workspace=None if name == "all" else name) for name, amount in cents.items()]
    return pages[0] | {"data": [bucket for page in pages for bucket in page["data"]]}


def row(usd: str, workspace: str) -> dict[str, Any]:
    """A row of the console's export."""
    said = {"usage_date_utc": "2026-03-02", "cost_usd": usd, "model": "claude-sonnet-4-5", "workspace": workspace}
    return {**said, "token_type": "input_no_cache"}


def usage(workspace: str, tokens: int) -> dict[str, Any]:
    result = {"uncached_input_tokens": tokens, "workspace_id": workspace, "model": "claude-sonnet-4-5"}
    return {"data": [{"starting_at": "2026-03-02T00:00:00Z", "results": [result]}], "has_more": False}


def read(books: Books, *exports: tuple[int, Any]) -> list[str]:
    """Read records as files of these ages in seconds; what is said about them."""
    problems: list[str] = []
    for age_s, records in exports:
        path = books.folder / f"bill of {age_s}.jsonl"
        lines = records if isinstance(records, list) else [records]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        os.utime(path, (NOV_27 - age_s, NOV_27 - age_s))
        problems += books.read_file(path).problems
    return problems


def counted(books: Books, column: str = "cost") -> Decimal:
    return Decimal(books.sql(f"SELECT sum({column}) FROM bill_lines WHERE doubled_by IS NULL")[0][0])


CASES = {
    "disjoint workspaces": (page_of(w1="100"), page_of(w2="250"), "3.5"),
    "disjoint workspaces of the console": ([row("1", "A")], [row("2.5", "B")], "3.5"),
    "a newer export of one workspace of two": (page_of(w1="100", w2="250"), page_of(w1="400"), "6.5"),
    "all workspaces apart, then together": (page_of(all="10", w1="100", w2="250"), page_of(all="365"), "3.65"),
    "all together, then apart": (page_of(all="355"), page_of(all="10", w1="100", w2="250"), "3.6"),
    "the same again": (page_of(all="10", w1="100"), page_of(all="10", w1="100"), "1.1"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_an_export_says_of_a_workspace_leaves_the_others(tmp_path: Path, case: str) -> None:
    older, newer, expected = CASES[case]
    for number, order in enumerate(permutations(((60, older), (30, newer)))):
        books = open_books(tmp_path / str(number))
        read(books, *order)
        assert counted(books) == Decimal(expected)
        books.warehouse.close()


def test_usage_of_two_workspaces_in_two_files_adds_up(books: Books) -> None:
    read(books, (60, usage("w1", 1_000)), (30, usage("w2", 200)))
    assert counted(books, "quantity") == 1_200


def test_what_was_read_before_is_replaced_by_workspace_too(books: Books) -> None:
    read(books, (60, page_of(w1="100", w2="250")))
    with books.warehouse.writing() as session:  # as stores of before have it
        session.connection.execute("UPDATE billed SET scope = ''")
        session.connection.execute("DELETE FROM warehouse_version WHERE version = 32")
    assert migrate(books.warehouse) == [32]
    read(books, (30, page_of(w1="400")))
    assert counted(books) == Decimal("6.5")


def test_a_workspace_that_a_newer_export_without_workspaces_leaves_out_is_named_where_that_says_less(
    books: Books,
) -> None:
    read(books, (60, page_of(w1="250")), (30, page_of(all="100")))
    (aside,) = books.reconciled().asides
    assert (aside.what, aside.pusd) == ("left out for a newer export that says less", 25 * 10**11)
    assert "anthropic_costs" in aside.name
    assert "2026-03-02" in aside.name


def test_a_workspace_that_a_newer_export_of_all_together_holds_is_not_named(books: Books) -> None:
    read(books, (60, page_of(w1="250", w2="50")), (30, page_of(all="310")))
    assert books.reconciled().asides == ()
