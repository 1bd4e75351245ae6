"""The lines of bills of one shard while it grows: equal lines are added up at once, so a year of hours stays small."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import TYPE_CHECKING, Final

import polars as pl

from ingest.redact import redact_columns, text_column

if TYPE_CHECKING:
    from app.core.billed import BilledLine

_NAMED: Final = (
    "report",
    "scope",
    "payer",
    "day",
    "last_day",
    "provider",
    "account",
    "model",
    "usage_class",
    "kind",
    "region",
    "service_tier",
    "is_batch",
    "line_item",
    "unit",
    "currency",
    "has_more",
)
_ADDED: Final = ("quantity", "requests", "cost", "effective_cost", "list_cost")
_SCHEMA: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    **dict.fromkeys(_NAMED, pl.String),
    "is_batch": pl.Boolean,
    "has_more": pl.Boolean,
    "chunk_no": pl.Int64,
    "page": pl.Int64,
    "line": pl.Int64,
    "lines": pl.Int64,
    "quantity": pl.Decimal(38, 6),
    "requests": pl.Int64,
    **dict.fromkeys(("cost", "effective_cost", "list_cost"), pl.Decimal(38, 12)),
}
_SUSPECTS: Final = ["account", "model", "line_item"]  # free text, which may carry a secret
# How exporters number the parts of one export: AWS 00001, Spark part-00000, BigQuery 000000000000, Azure part_0_0001.
_PART: Final = re.compile(r"part[-_]\d+(?:[-_]\d+)?|(?<=[-_.])(?:\d{12}|0\d{4})(?=\.)")
_MONEY: Final = Decimal(1).scaleb(-12)
_UNITS: Final = Decimal(1).scaleb(-6)


class BilledRows:
    """Collects lines; `frame()` gives them as they go into the shard."""

    def __init__(self) -> None:
        self._sums: dict[tuple[object, ...], list[Decimal | int | None]] = {}
        self._first: dict[tuple[object, ...], int] = {}

    def __len__(self) -> int:
        return len(self._sums)

    def add(self, line: BilledLine, at: int, chunk_no: int) -> None:
        """Add a line that stands at line `at` of its file; it joins equal ones of the same page or chunk."""
        key = (*(getattr(line, name) for name in _NAMED), chunk_no, at if line.page else 0)
        sums = self._sums.setdefault(key, [None] * (len(_ADDED) + 1))
        self._first.setdefault(key, at)
        with localcontext() as context:
            context.prec = 60
            for place, name in enumerate(_ADDED):
                given = getattr(line, name)
                if given is not None:
                    sums[place] = given + (sums[place] or 0)
        sums[-1] = int(sums[-1] or 0) + 1

    def frame(self) -> pl.DataFrame | None:
        """The rows, None where there are none. Amounts are exact to the twelfth digit."""
        if not self._sums:
            return None
        names = (*_NAMED, "chunk_no", "page", *_ADDED, "lines", "line")
        rows = []
        for key, (quantity, requests, cost, effective, listed, lines) in self._sums.items():
            money = [_cut(amount, _MONEY) for amount in (cost, effective, listed)]
            rows.append((*key, _cut(quantity, _UNITS), requests, *money, lines, self._first[key]))
        columns = [
            text_column(name, values) if _SCHEMA[name] == pl.String else pl.Series(name, values, dtype=_SCHEMA[name])
            for name, values in zip(names, zip(*rows, strict=True), strict=True)
        ]
        return redact_columns(pl.DataFrame(columns), _SUSPECTS)


def export_of(path: str) -> str:
    """The path without the number of a part: files that differ in nothing else are parts of one export and add up."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{_PART.sub('', name)}"


def _cut(amount: Decimal | int | None, to: Decimal) -> Decimal | None:
    if amount is None:
        return None
    with localcontext() as context:
        context.prec = 60
        return Decimal(amount).quantize(to, ROUND_HALF_EVEN)
