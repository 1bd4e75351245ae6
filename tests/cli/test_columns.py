"""Tables of the command line: columns never run into each other, whatever names come from logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from reports import batch_jobs, ledger, reconciliation, tables
from reports.columns import LONGEST, aligned, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = st.text(st.characters(exclude_categories=("C", "Z", "M")), min_size=1, max_size=60)


def cut(line: str, at: int) -> str:
    """The text from cell `at` of a terminal on."""
    place = next((number for number in range(len(line) + 1) if cell_len(line[:number]) >= at), len(line))
    return line[place:]


@given(st.lists(st.tuples(NAMES, NAMES, st.integers(0, 10**15)), min_size=1, max_size=8))
def test_every_value_stands_under_its_heading(found: list[tuple[str, str, int]]) -> None:
    rows = [("name", "kind", "count"), *((name, kind, f"{count:,}") for name, kind, count in found)]
    lines = [line for line in aligned(rows, right={2}) if line not in {row[0] for row in rows if cell_len(row[0]) > 28}]
    assert len(lines) == len(rows)
    kinds = cell_len(lines[0][: lines[0].index("kind")])
    assert {cell_len(line) for line in lines} == {cell_len(lines[0])}
    for line, row in zip(lines, rows, strict=True):
        assert cut(line, kinds).startswith(row[1])
        assert line.endswith(f" {row[2]}")
        assert cell_len(line[: len(line) - len(cut(line, kinds))].rstrip()) <= min(kinds - 2, LONGEST)


def source(name: str, state: str | None, **given: Any) -> dict[str, Any]:
    return {
        "name": name, "kind": "litellm" if state else "read", "state": state, "records": 1_234, "error": None,
        "fresh_us": None, "complete_us": None, "last_run_us": 1_790_000_000_000_000,
    } | given  # fmt: skip


LONG = "customer-onboarding-assistant-for-enterprise-accounts"


@pytest.mark.parametrize("name", ["short", "anthropic_usage_report", "日本語の機能の名前", LONG])
def test_a_name_of_a_source_never_touches_the_next_column(name: str) -> None:
    text = tables.sources([source(name, "ok", error="refused"), source("b", "ok"), source(name, None)])
    lines = text.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    assert sum(name in line.split() for line in lines) == 2
    rows = [line.split() for line in lines if "1,234" in line]
    assert [row[-5:-3] for row in rows[:2]] == [["litellm", "ok"]] * 2
    assert rows[2][-4:-2] == ["read", "1,234"]
    assert text.count("fresh until never, complete until never") == 2
    assert "    refused" in lines


def test_a_long_label_of_a_batch_job_is_whole_and_pushes_no_column_aside() -> None:
    job = {
        "id": "batch_79fc630d1cde45e2215b715e", "label": LONG, "provider": "openai", "status": "settled",
        "outcome": "completed", "submitted": 1_234, "succeeded": 1_234, "failed": 0, "expired": 0, "cancelled": 0,
        "open": 0, "start_us": 1_790_000_000_000_000, "zone": "UTC",
    }  # fmt: skip
    head, row, label = batch_jobs.table([job]).splitlines()
    assert label.strip().endswith(f"UTC  {LONG}")
    assert max(map(len, (head, row))) <= 80
    assert head.index("provider") == row.index("openai")
    assert head.index("items") + len("items") == row.index("1,234") + len("1,234")


def test_amounts_of_a_reconciliation_stand_under_each_other() -> None:
    def provider(name: str, bill: str, logged: str | None) -> dict[str, Any]:
        days = {"first_day": "2026-11-01", "last_day": "2026-11-30"}
        return {
            "provider": name,
            "bill_usd": bill,
            "logged_usd": logged,
            "bill_is": "",
            "reconciled_share": None,
        } | days

    rows: Sequence[dict[str, Any]] = [provider("openai", "1512010.24", "3"), provider("azure-foundry-eu", "1", None)]
    made = {
        "bill_usd": "1512011.24", "logged_usd": "3", "difference_usd": "1512008.24", "reconciled_share": 0.1,
        "providers": rows, "by_kind": {"not logged": "1512008.24", "price": "0.5"}, "residuals": [],
        "cost_not_on_bill": [], "not_compared": [],
    }  # fmt: skip
    lines = reconciliation.text(made).splitlines()
    head, first, second = lines[2:5]
    assert head.index("bill") + 4 == first.index("$1,512,010.24") + 13 == second.index("$1.00") + 5
    assert head.index("logged") + 6 == first.index("$3.00") + 5 == second.index("n/a ") + 3
    worth = [line for line in lines if line.startswith("  ") and "$" in line]
    assert len({len(line) for line in worth}) == 1


ROWS = st.lists(st.tuples(NAMES, NAMES, NAMES, st.integers(0, 10**15)), min_size=1, max_size=6)


@given(ROWS, st.integers(20, 120))
def test_a_table_wider_than_the_terminal_is_folded_and_loses_nothing(
    found: list[tuple[str, str, str, int]], width: int
) -> None:
    heading = ("name", "kind", "where", "count")
    rows = [heading, *((name, kind, where, f"{count:,}") for name, kind, where, count in found)]
    lines = list(aligned(rows, right={3}, width=width))
    widest = max(4 + len("where ") + cell_len(cell) for row in rows for cell in row)
    assert all(cell_len(line) <= max(width, widest) for line in lines)
    text = "\n".join(lines)
    for row in rows[1:]:
        assert all(cell in text for cell in row)
    assert list(aligned(rows, right={3}, width=0)) == list(aligned(rows, right={3}, width=10_000))


@given(st.text("ab c", max_size=300), st.integers(10, 60))
def test_a_wrapped_sentence_keeps_its_words_and_its_width(text: str, width: int) -> None:
    lines = list(wrapped(text, indent="  ", width=width))
    assert " ".join(lines).split() == text.split()
    assert lines[0].startswith(text[: len(text) - len(text.lstrip())])
    assert all(
        cell_len(line) <= max(width, 2 + max(map(len, text.split()), default=0)) or not line.strip() for line in lines
    )


@pytest.mark.parametrize("width", ["80", "60"])
def test_commands_fold_what_the_window_cannot_hold(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    rows = [
        {
            "version": 12, "started": "2026-11-30T12:00:00Z", "state": "whole", "changed": 1_234_567,
            "difference_usd": "-123456.123456789012", "kind": "reprice", "price_book": "e47a47d89705865f",
            "prices": "negotiated.yml", "from": None, "to": None, "who": "ann", "why": "new contract",
        }
    ]  # fmt: skip
    lines = ledger.versions_text(rows).splitlines()
    assert lines[0] == "12  2026-11-30T12:00:00"
    assert "    state whole · changed 1,234,567 · difference, USD -123456.123456789012" in lines or width == "60"
    assert all(cell_len(line) <= int(width) or line.startswith("    what ") for line in lines)
