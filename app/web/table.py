"""A table of a page and its twins: what is shown, what CSV says and what JSON says come from the same cells."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from app.web.page import Context

BLOCK_ROWS = 1_000
PHONE_ROWS = 10
FEW_ROWS = 5
Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """`key` names the column in the twins, `label` on the page; `sort` is the page's sorting key, if it sorts.

    A `twin_only` column is for machines (an identifier that a page carries in a link). In one of the width `label` the
    notes stand below the values, in one of the width `dates` too; one of the width `address` breaks long words.
    On a card of a phone one that `leads` stands first, a number beside the name; a `minor` one comes on demand.
    """

    key: str
    label: str
    kind: Literal["text", "number"] = "text"
    help: str = ""
    width: Literal["", "tight", "mid", "wide", "label", "address", "dates"] = ""
    twin_only: bool = False
    sort: str = ""
    leads: bool = False
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """A box to tick in a form around the table: the field's name and value, and of which row it speaks."""

    name: str
    value: str
    label: str
    on: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """`value` is exact and goes to the twins, `text` is shown; `href` makes it a link, `swatch` is a colour class.

    A `tick` stands before the text.
    """

    value: Value
    text: str
    href: str = ""
    note: str = ""
    tone: Literal["", "worse", "better", "muted"] = ""
    swatch: str = ""
    tick: Tick | None = None


@dataclass(frozen=True, slots=True)
class Streamed:
    """The rows of a long table as they are read: the first `shown` of `total`."""

    total: int
    shown: int
    rows: Iterator[tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Deed:
    """A button beside a row that posts to `href`; `label` says of which row."""

    text: str
    label: str
    href: str


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows of a table that are folded together; `folded` is the class that says where, empty for nowhere."""

    folded: str
    rows: tuple[tuple[tuple[Cell, ...], Deed | None], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table: `caption` says what it holds, `frame_note` what it leaves out; `total` is its last row.

    A `stacked` one shows each row as a block of named values on a phone, the numbers first. Where a page shows a part
    of a long list, `stream` gives its twins the rows of all of it, at most so many. A long one opens with its `first`
    rows (fewer on a phone) and unfolds to the rest. `deeds` are buttons, one a row; they are in no twin.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: tuple[Cell, ...] = ()
    frame_note: str = ""
    empty: str = "Nothing here."
    stacked: bool = False
    stream: Callable[[Context, int], Streamed] | None = None
    first: int = 25
    deeds: tuple[Deed, ...] = ()

    @property
    def slices(self) -> tuple[Slice, ...]:
        """The rows as the page groups them: always seen, folded on a phone, folded everywhere.

        What would unfold to a few rows only is not folded.
        """
        wide = self.first if len(self.rows) > self.first + FEW_ROWS else len(self.rows)
        small = PHONE_ROWS if self.stacked and wide > PHONE_ROWS + FEW_ROWS else wide
        rows = tuple(zip_longest(self.rows, self.deeds))
        cut = (Slice("", rows[:small]), Slice("rest-small", rows[small:wide]), Slice("rest", rows[wide:]))
        return tuple(item for item in cut if item.rows)

    @property
    def holds_back(self) -> bool:
        """Whether its cards on a phone leave values out until somebody asks for them."""
        return self.stacked and any(column.minor and not column.twin_only for column in self.columns)


# A spreadsheet runs text that begins with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(table: Table) -> str:
    """The rows as CSV with a header; text that a spreadsheet would run is defused by a leading apostrophe."""
    return "".join(csv_blocks(table, iter(table.rows)))


def csv_blocks(table: Table, rows: Iterator[tuple[Cell, ...]]) -> Iterator[str]:
    """The same in blocks of some rows: `rows` may be more than the table shows."""
    lines: list[list[str]] = [[column.key for column in table.columns]]
    for block in _blocks(rows):
        lines += ([_csv_value(column, cell) for column, cell in zip(table.columns, row, strict=True)] for row in block)
        yield _csv_lines(lines)
        lines = []
    if lines:
        yield _csv_lines(lines)


def _csv_lines(lines: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(lines)
    return out.getvalue()


def json_blocks(table: Table, about: Mapping[str, Any], rows: Iterator[tuple[Cell, ...]]) -> Iterator[str]:
    """A JSON object of `about` and, under `rows`, the rows as objects, in blocks of some rows."""
    yield json_text(about).removesuffix("}") + ("," if about else "") + '"rows":['
    comma = ""
    for block in _blocks(rows):
        yield comma + ",".join(json_text(_json_row(table, row)) for row in block)
        comma = ","
    yield "]}"


def _blocks(rows: Iterator[tuple[Cell, ...]]) -> Iterator[list[tuple[Cell, ...]]]:
    while block := list(islice(rows, BLOCK_ROWS)):
        yield block


def _csv_value(column: Column, cell: Cell) -> str:
    if cell.value is None:
        return ""
    text = str(cell.value)
    if column.kind == "text" and text.lstrip(" ").startswith(FORMULA_STARTS):
        return f"'{text}"
    return text


def json_rows(table: Table) -> list[dict[str, Any]]:
    """The rows as objects by column key; unknown is null."""
    return [_json_row(table, row) for row in table.rows]


def _json_row(table: Table, row: tuple[Cell, ...]) -> dict[str, Any]:
    return {column.key: cell.value for column, cell in zip(table.columns, row, strict=True)}


def json_text(value: Any) -> str:
    """JSON that stays harmless if it ever lands inside a page: `<`, `>` and `&` are written as escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
