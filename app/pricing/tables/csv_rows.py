"""A CSV of rates with the columns of a price file: provider, model, ctx, from, to and a column a class (USD/Mtok).

A column `unit` says otherwise: prices per token, per thousand or per million tokens. A row that means something which a
list of prices cannot say (another currency, one account, some hours) is refused and never read as if it did not.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any, Final

from app.core.errors import InputError
from app.pricing import context as ctx_of
from app.pricing.rates import FEES, FOREVER_US, PRICED_CLASSES
from app.pricing.rules import Entry, overlay_from_rows
from app.pricing.tables.table import PriceTable, Problem, TableRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.pricing.rules import Rule

KIND: Final = "csv"
_KNOWN: Final = {"provider", "model", "ctx", "from", "to", "source", "status", "note", *PRICED_CLASSES, *FEES}
_OWN_TERMS: Final = frozenset(
    ("account", "factor", "factors", "percent", "alias_of", "minutes", "weekdays", "except", "tiers", "op", "of")
)
"""Columns of a price file that say more than a rate."""
_UNITS: Final = {"token": 1_000_000, "thousand": 1_000, "million": 1}
_UNIT: Final = re.compile(
    r"(?:usd)?[ /_]*(?:per[ _]*)?(?:(?P<token>1?[ _]*tokens?|1)"
    r"|(?P<thousand>(?:1[ _]*k|1,?000|thousand)[ _]*(?:tok(?:en)?s?)?|ktok)"
    r"|(?P<million>(?:1[ _]*m|1,?000,?000|million)[ _]*(?:tok(?:en)?s?)?|mtok))"
)


def read(name: str, text: str, as_of_us: int) -> PriceTable:
    """The table of a CSV text; a line that cannot be read is refused, the others are kept.

    Raises:
        InputError: it has no heading with provider, model and at least one class.
    """
    reader = csv.DictReader(text.splitlines())
    reader.fieldnames = [column.strip().lower() for column in reader.fieldnames or ()]
    heading = set(reader.fieldnames)
    if not {"provider", "model"} <= heading or not heading & {*PRICED_CLASSES, *FEES}:
        raise InputError(
            f"{name}: the first line must name provider, model and the classes that are priced "
            f"({', '.join(PRICED_CLASSES)}; fees {', '.join(FEES)}). Nothing was imported."
        )
    rows: list[TableRow] = []
    problems: list[Problem] = []
    for line in reader:
        where = f"{name}, line {reader.line_num}"
        try:
            rows += _rows(overlay_from_rows([_plain(line, where)], layer="list", name=where).rules, where)
        except InputError as error:
            problems.append(Problem(where, str(error)))
    unread = dict.fromkeys(sorted(heading - _KNOWN - _OWN_TERMS - {"unit", "currency"}), 1)
    return PriceTable(kind=KIND, name=name, as_of_us=as_of_us, rows=rows, problems=problems, unread=unread, whole=False)


def _plain(line: dict[str | Any, Any], where: str) -> dict[str, str]:
    """The fields of a row that make a rate, its prices in USD per million tokens."""
    given = {key: str(value).strip() for key, value in line.items() if key is not None and str(value or "").strip()}
    entry = Entry(given, where)
    if None in line:
        raise entry.fail("the heading", "the row has more values than the heading has names")
    for column in sorted(_OWN_TERMS & given.keys()):
        raise entry.fail(column, "is no part of a list of prices; it belongs in your own price file")
    if given.get("currency", "USD").upper() != "USD":
        raise entry.fail("currency", f"{given['currency']!r} has no exchange rate here; use your own price file")
    known = {key: value for key, value in given.items() if key in _KNOWN}
    unit = _UNIT.fullmatch(given.get("unit", "million").lower())
    if unit is None:
        raise entry.fail("unit", f"{given['unit']!r} is none of: per token, per 1K tokens, per 1M tokens")
    factor = _UNITS[str(unit.lastgroup)]
    if factor == 1:
        return known
    return {
        key: str(entry.number(key, value) * factor) if key in PRICED_CLASSES else value for key, value in known.items()
    }


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
