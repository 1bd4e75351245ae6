"""`imported.yml`: rates taken over from a table of somebody else, each import under its own heading of provenance.

The file only grows: an import appends, later entries win, and what an earlier one said of an earlier time stays. The
tables themselves are kept beside it, for `halve prices check`.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from app.core.errors import UnavailableError
from app.pricing import rule_text
from app.pricing.context import parse, selectors
from app.pricing.rates import DAY_US
from app.pricing.tables.table import PriceTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.pricing.difference import Difference, Item

NAME: Final = "imported.yml"
TABLES: Final = "tables"
_HEAD: Final = (
    "# Rates taken over with `halve prices import --apply`. Later entries win; nothing here is ever replaced.\nrates:\n"
)


@dataclass(frozen=True, slots=True)
class Taken:
    """What an import wrote: how many rates were added and changed, and where."""

    added: int
    changed: int
    path: Path


@dataclass(frozen=True, slots=True)
class Import:
    """The difference as it was before anything was taken over, and what was; `version` is the book's afterwards."""

    difference: Difference
    taken: Taken | None
    version: str


def file_in(folder: Path) -> Path | None:
    """The file of imported rates in the folder of prices; None where nothing was imported yet."""
    path = folder / NAME
    return path if path.is_file() else None


def apply(folder: Path, difference: Difference, *, now_us: int) -> Taken:
    """Append what a table adds and changes, and keep the table.

    A changed rate without a date holds from the day of the table on, an added one always: no earlier one is known.

    Raises:
        UnavailableError: the folder cannot be written.
    """
    table = difference.table
    added, changed = difference.of("added"), difference.of("changed")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            if added or changed:
                path = folder / NAME
                before = path.read_text(encoding="utf-8") if path.is_file() else _HEAD
                heading = (
                    f"  # {rule_text.moment(now_us // 1_000_000 * 1_000_000)}: {table.kind}, {_one_line(table.name)} "
                    f"as of {_day(table.as_of_us)}: {len(added)} added, {len(changed)} changed\n"
                )
                # later entries win: of two open-ended rates of one model, the newer one has to be the last
                taken = sorted((*added, *changed), key=lambda item: item.row.from_us or 0)
                entries = "".join(f"{_entry(table, item)}\n" for item in taken)
                _write(path, (before + heading + entries).encode())
            (folder / TABLES).mkdir(exist_ok=True)
            _write(folder / TABLES / f"{table.kind}.json", msgspec.json.encode(table))
    except OSError as error:
        raise UnavailableError(
            f"Nothing was imported: {folder} cannot be written ({error.strerror}). See that it exists, can be written "
            "and has room, then repeat the command."
        ) from error
    return Taken(len(added), len(changed), folder / NAME)


def tables_in(folder: Path) -> list[PriceTable]:
    """Every table that was imported, the newest of its kind; one that cannot be read is left out."""
    found = []
    for path in sorted((folder / TABLES).glob("*.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=PriceTable))
        except (OSError, msgspec.MsgspecError):
            continue
    return found


def _entry(table: PriceTable, item: Item) -> str:
    day = _day(table.as_of_us)
    provider, model, ctx = item.target
    undated = table.as_of_us // DAY_US * DAY_US if item.kind == "changed" else None
    # What is equal keeps the source that it has; a tier is stated whole, because it takes the place of its factor.
    whole = item.kind == "added" or bool(selectors(parse(ctx)))
    differs = {change.name for change in item.changes}
    prices = {name: steps for name, steps in item.row.prices.items() if whole or name in differs}
    seen = "" if item.row.from_us is not None else f", first observed {day}"
    return rule_text.line(
        provider,
        model,
        prices,
        ctx=ctx,
        from_us=item.row.from_us if item.row.from_us is not None else undated,
        to_us=item.row.to_us,
        status="estimated",
        source=f"{table.kind} of {day}{seen}" + (f" ({_one_line(item.row.source)})" if item.row.source else ""),
    )


def _day(at_us: int) -> str:
    return rule_text.moment(at_us // DAY_US * DAY_US)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / f".{NAME}.lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
