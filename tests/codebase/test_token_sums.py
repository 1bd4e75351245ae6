"""Sums of token classes in queries: written from the one list, so that a new class is in all of them."""

from __future__ import annotations

import re

import duckdb
import pytest

from app.core.errors import UsageError
from app.core.usage import INPUT_CLASSES, OUTPUT_CLASSES, TOKEN_CLASSES
from app.warehouse import catalogue
from app.warehouse.fragments import filled


def summed(name: str, values: dict[str, int]) -> int | None:
    columns = ", ".join(f"cast({values.get(column, 'NULL')} AS BIGINT) AS {column}" for column in TOKEN_CLASSES)
    wanted = filled("{{" + name + " of r}}")
    row = duckdb.connect().execute(f"SELECT {wanted} FROM (SELECT {columns}) AS r").fetchone()
    assert row is not None
    return None if row[0] is None else int(row[0])


def test_the_sums_of_a_call_are_of_all_its_classes_each_once() -> None:
    values = {column: 10**place for place, column in enumerate(TOKEN_CLASSES)}
    parts = [summed(f"{name}_tokens", values) or 0 for name in ("input", "cache_read", "cache_write", "answer")]
    assert sum(parts) == summed("all_tokens", values) == sum(values.values())
    assert sum(parts[:3]) == summed("prompt_tokens", values) == sum(values[column] for column in INPUT_CLASSES)
    assert parts[3] == sum(values[column] for column in OUTPUT_CLASSES)


@pytest.mark.parametrize("name", ["prompt_tokens", "answer_tokens", "all_tokens"])
def test_what_is_not_known_is_told_from_nothing(name: str) -> None:
    assert summed(name, {}) == 0
    assert summed(f"any_{name}", {}) is None
    assert summed(f"any_{name}", dict.fromkeys(TOKEN_CLASSES, 0)) == 0


def test_a_sum_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no sum of tokens called 'some_tokens'"):
        filled("SELECT {{some_tokens}}")


@pytest.mark.parametrize("name", ["billed.logged", "billed.doubles", "overlap.calls", "overlap.alike_logs"])
def test_queries_that_compare_tokens_count_every_class(name: str) -> None:
    text = catalogue.text(name)
    assert "{{" not in text
    assert all(re.search(rf"\b{column}\b", text) for column in TOKEN_CLASSES)
