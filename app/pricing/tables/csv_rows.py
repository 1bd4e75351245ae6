"""A CSV of rates with the columns of a price file: provider, model, ctx, from, to and a column a class (USD/Mtok)."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final

from app.core.errors import InputError
from app.pricing import context as ctx_of
from app.pricing.rates import FEES, FOREVER_US, PRICED_CLASSES
from app.pricing.rules import overlay_from_rows
from app.pricing.tables.table import PriceTable, Problem, TableRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.pricing.rules import Rule

KIND: Final = "csv"
_KNOWN: Final = {"provider", "model", "ctx", "from", "to", "source", "status", "note", *PRICED_CLASSES, *FEES}


def read(name: str, text: str, as_of_us: int) -> PriceTable:
    """The table of a CSV text; a line that cannot be read is refused, the others are kept.

    Raises:
        InputError: it has no heading with provider, model and at least one class.
    """
    reader = csv.DictReader(text.splitlines())
    heading = set(reader.fieldnames or ())
    if not {"provider", "model"} <= heading or not heading & {*PRICED_CLASSES, *FEES}:
        raise InputError(
            f"{name}: the first line must name provider, model and the classes that are priced "
            f"({', '.join(PRICED_CLASSES)}; fees {', '.join(FEES)}). Nothing was imported."
        )
    rows: list[TableRow] = []
    problems: list[Problem] = []
    for line in reader:
        where = f"{name}, line {reader.line_num}"
        known = {key: value for key, value in line.items() if key in _KNOWN and value}
        try:
            rows += _rows(overlay_from_rows([known], layer="list", name=where).rules, where)
        except InputError as error:
            problems.append(Problem(where, str(error)))
    unread = {str(column): 1 for column in sorted(heading - _KNOWN)}
    return PriceTable(kind=KIND, name=name, as_of_us=as_of_us, rows=rows, problems=problems, unread=unread, whole=False)


def _rows(rules: Iterable[Rule], where: str) -> list[TableRow]:
    return [
        TableRow(
            provider=rule.provider,
            model=rule.model,
            ctx=ctx_of.text(rule.ctx or {}),
            prices=rule.prices,
            from_us=rule.from_us or None,
            to_us=rule.to_us or FOREVER_US,
            where=where,
            source=rule.source,
        )
        for rule in rules
    ]
