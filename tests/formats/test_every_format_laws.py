"""Laws of every format in the tuple: classes add up, order and repetition change nothing, no record breaks a parser."""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from damage import check_item, damaged
from every_format import STREAMS, UNITS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.usage import Rejected
from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest import install_key
from ingest.formats import FORMATS, detect_format
from ingest.formats.bills import BILLS
from ingest.formats.format import Format, Origin
from ingest.pipeline import ingest_paths
from ingest.quarantine import quarantined

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.summary import Summary

EVERY = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
# Their records carry no id: two equal ones are two calls, so only their order may change nothing.
NAMELESS = {"prefix_hash_trace", "text_trace", "ollama", "ollama_stream"}  # their records have no id: each is one
BILLED = {form.name for form in BILLS}
FACTS = """
    SELECT * EXCLUDE (origin_file, origin_line) REPLACE (
        CASE WHEN source_record LIKE '~%' THEN 0 ELSE request_key END AS request_key,
        CASE WHEN source_record LIKE '~%' THEN NULL ELSE source_record END AS source_record,
        CASE WHEN source_record LIKE '~%' THEN 0 ELSE fullness END AS fullness
    ) FROM requests ORDER BY ALL
"""


def read_by(form: Format, records: list[Any]) -> Iterator[Any]:
    parse = form.parser()
    numbered = list(enumerate(records, 1))
    for line, record in form.gather(numbered) if form.gather is not None else numbered:
        yield from parse(record, Origin("s", "f.jsonl", line))


def lines_of(name: str) -> list[Any]:
    return [record for unit in UNITS[name] for record in unit]


@EVERY
def test_every_format_has_made_records_and_knows_them_by_their_content(form: Format) -> None:
    assert detect_format(lines_of(form.name)) is form
    items = list(read_by(form, lines_of(form.name)))
    assert sum(not isinstance(item, Rejected) for item in items) >= len(UNITS[form.name])


@EVERY
def test_classes_of_whole_records_add_up_and_nothing_is_flagged(form: Format) -> None:
    flagged = []
    for item in read_by(form, lines_of(form.name)):
        check_item(item)
        flagged += [one for one in getattr(item, "warnings", None) or [] if one.startswith(("sum_", "inconsistent"))]
    assert flagged == []


@EVERY
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_no_damage_to_a_record_breaks_its_format(form: Format, data: st.DataObject) -> None:
    units = UNITS[form.name] + STREAMS.get(form.name, [])
    unit = data.draw(st.sampled_from(units))
    records = [data.draw(damaged(record)) if data.draw(st.booleans()) else record for record in unit]
    for record in records:
        assert 0.0 <= form.detect(record) <= 1.0
    for item in read_by(form, records):
        check_item(item)


def wrapped(levels: int, *wraps: Any) -> Any:
    """A number inside that many levels of nesting."""
    value: Any = 1
    for level in range(levels):
        value = wraps[level % len(wraps)](value)
    return value


def in_list(value: Any) -> Any:
    return [value]


def in_data(value: Any) -> Any:
    return {"data": value}


def in_other(value: Any) -> Any:
    return {"a": value}


def test_records_as_deep_as_the_stack_are_read_or_named(tmp_path: Path) -> None:
    paths, depth = [], 900
    for name, units in UNITS.items():
        record = units[0][-1]
        lines = [json.dumps(one) for one in units[0]]
        for wraps in ((in_list,), (in_data,), (in_list, in_data), (in_other,)):
            depth = 900 + (depth + 7) % 97  # up to where lines are not decoded any more
            deep = wrapped(depth, *wraps)
            lines += as_json(deep, *({**record, key: deep} for key in record), *deeper(record, deep))
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    store = Store(tmp_path / "store")
    assert store.ingest(paths).stored > len(UNITS)
    assert "JSON nested too deeply" in {place.reason for place in quarantined(store.warehouse)}
    store.warehouse.close()


def as_json(*records: Any) -> list[str]:
    """Their lines, also where they are deeper than can be written from here."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 500)
    try:
        return [msgspec.json.encode(record).decode() for record in records]
    finally:
        sys.setrecursionlimit(before)


def deeper(record: dict[str, Any], deep: Any) -> Iterator[dict[str, Any]]:
    """The record with the deep value in each place one level further in."""
    for key, value in record.items():
        if isinstance(value, dict):
            for inner in value:
                yield {**record, key: {**value, inner: deep}}


class Store:
    """A warehouse without prices in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / install_key.NAME).write_bytes(bytes(install_key.SIZE))  # equal texts have equal hashes in all stores
        self.warehouse = Warehouse(folder, memory_limit="256MB")
        migrate(self.warehouse)

    def ingest(self, paths: list[Path]) -> Summary:
        summary = ingest_paths(
            paths, warehouse=self.warehouse, pricer=Unpriced(), data_dir=self.folder, workers=0, text="none"
        )
        outcomes = (summary.stored, summary.updated, summary.merged, summary.benign, summary.rejected)
        assert summary.read == sum(outcomes), summary
        return summary

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.warehouse.session() as session:
            return session.connection.execute(sql).fetchall()

    def facts(self) -> list[tuple[Any, ...]]:
        bills = "SELECT source, day, provider, model, class, quantity, cost FROM billed ORDER BY ALL"
        return self.rows(FACTS) + self.rows(bills)


def write_all(folder: Path, chance: random.Random | None) -> list[Path]:
    """A file of every format; with `chance` its units are repeated and in any order, and so are the files."""
    folder.mkdir()
    paths = []
    files = {**UNITS, **{f"{name}_stream": units for name, units in STREAMS.items()}}
    for name, units in files.items():
        chosen = list(units)
        if chance is not None:
            if name not in NAMELESS | BILLED:
                chosen += chance.choices(units, k=2)
            chance.shuffle(chosen)
        paths.append(folder / f"{name}.jsonl")
        lines = (json.dumps(record) + "\n" for unit in chosen for record in unit)
        paths[-1].write_text("".join(lines), encoding="utf-8")
    if chance is not None:
        chance.shuffle(paths)
    return paths


@pytest.mark.parametrize("seed", [1, 2])
def test_order_and_repetition_of_records_change_nothing(tmp_path: Path, seed: int) -> None:
    plain, mixed = Store(tmp_path / "plain"), Store(tmp_path / "mixed")
    assert plain.ingest(write_all(tmp_path / "logs", None)).rejected == 0
    chance = random.Random(seed)
    mixed.ingest(write_all(tmp_path / "mixed-logs", chance))
    assert mixed.facts() == plain.facts()
    again = mixed.ingest([path for path in write_all(tmp_path / "again", chance) if path.stem not in NAMELESS | BILLED])
    assert (again.stored, again.updated) == (0, 0)
    assert mixed.facts() == plain.facts()
    for store in (plain, mixed):
        store.warehouse.close()


HARD_LINES = [
    b'{"a":' * 5000 + b"1" + b"}" * 5000,
    b"[" * 100_000,
    b"[" * 950 + b"]" * 950,
    b'{"id": "x", "usage": {"prompt_tokens": NaN, "completion_tokens": Infinity}}',
    b'{"id": "\xff\xfe", "model": "\xc3"}',
    b'{"id": "\\ud800", "model": "a\\u0000b"}',
    b"\x00\x00\x00",
    b'{"usage": {"prompt_tokens": 1' + b"0" * 5000 + b"}}",
    b'"text"',
    b"{}",
    b"[]",
    b"null",
    b'{"id": 1}{"id": 2}',
    b'{"torn": ',
]


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_bad_records_of_every_format_are_in_quarantine_with_their_place(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    paths = []
    for name, units in UNITS.items():
        sound = [json.dumps(record).encode() for record in units[0]]
        worse = [json.dumps(data.draw(damaged(record))).encode() for unit in units for record in unit]
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_bytes(b"\n".join([*sound, *worse, *HARD_LINES]) + b"\n")
    store = Store(folder / "store")
    summary = store.ingest(paths)
    places = quarantined(store.warehouse)
    assert summary.rejected == len(places) > len(paths)
    assert all(place.file and place.line > 0 and place.reason for place in places)
    store.warehouse.close()


def texts_of(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a record has a text."""
    if isinstance(value, str):
        yield place
    elif isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_of(inner, (*place, key))


def put(value: Any, place: tuple[Any, ...], text: str) -> Any:
    """The record with another text in one place."""
    if not place:
        return text
    copy = value.copy()
    copy[place[0]] = put(value[place[0]], place[1:], text)
    return copy


def test_half_a_surrogate_pair_in_any_text_costs_no_file(tmp_path: Path) -> None:
    """Wherever a log spells it by an escape: no store can hold it, and no hash must fail at it."""
    paths = []
    for name, units in UNITS.items():
        odd = [
            put(record, place, text)
            for record in units[0]
            for place in texts_of(record)
            for text in ("\ud800", "msg_\udc00" + "x" * 20)
        ]
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(record) + "\n" for record in (*units[0], *odd)))
    store = Store(tmp_path / "store")
    summary = store.ingest(paths)
    assert summary.files == len(paths)
    assert summary.read >= sum(len(units[0]) for units in UNITS.values())
    store.warehouse.close()
