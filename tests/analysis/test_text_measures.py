"""Measures of kept texts: bytes by class, tokens of the vocabulary, each text once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.text_measures import CLASSES, MEASURES, measure_texts, measured
from tests.analysis.facts import open_warehouse
from tests.analysis.mixed_texts import Prompts


def test_bytes_are_told_apart_by_class() -> None:
    found = dict(zip(MEASURES, measured("Ab1 23\t\r\n\x00~é{"), strict=True))
    assert found.pop("vocabulary_tokens") > 0
    assert found == {
        "bytes": 14, "letters": 2, "digits": 3, "spaces": 4, "newlines": 1, "punctuation": 2, "high_bytes": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("hello world", 2), ("1234567", 3), ("    ", 1), ("你好，世界", 3), ("🙂", 1)]
)
def test_tokens_are_those_of_the_published_vocabulary(text: str, tokens: int) -> None:
    assert measured(text)[-1] == tokens


def test_a_spelled_out_special_token_is_ordinary_text() -> None:
    assert measured("<|endoftext|>")[-1] > 1


@given(st.text())
def test_classes_add_up_to_the_bytes_and_tokens_never_exceed_them(text: str) -> None:
    found = dict(zip(MEASURES, measured(text), strict=True))
    assert sum(found[name] for name in CLASSES) == found["bytes"] == len(text.encode())
    assert found["vocabulary_tokens"] <= found["bytes"]


def test_each_text_is_measured_once_and_its_measure_outlives_it() -> None:
    warehouse = open_warehouse()
    first = Prompts(len)
    first.add([f"text {number}" for number in range(700)])
    first.load(warehouse)
    assert measure_texts(warehouse) == 700
    assert measure_texts(warehouse) == 0

    later = Prompts(len)
    later.add(["text 3", "a new one"])
    later.load(warehouse)
    assert measure_texts(warehouse) == 1
    with warehouse.writing() as session:
        session.connection.execute("DELETE FROM texts.contents")
    assert measure_texts(warehouse) == 0
    with warehouse.session() as session:
        rows = session.connection.execute("SELECT count(*), count(DISTINCT seg_hash), sum(bytes) FROM text_measures")
        assert rows.fetchall() == [(701, 701, sum(len(f"text {n}") for n in range(700)) + len("a new one"))]
