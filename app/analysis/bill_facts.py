"""Which days Spend takes from a bill: those of an account of which nothing was logged. Bill and requests never add up.

Where it cannot be told whether a bill's account is one that was logged (logs often name none), the day is left to the
requests: a gap shows in the reconciliation, a dollar counted twice would not.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.model_names import plain_model
from app.core.usage import COST_PARTS, TOKEN_CLASSES
from app.core.view import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.analysis.bills import BillLine

Logged = tuple[int, str | None, str | None, str | None]
_NAMES: Final = ("at_us", "source", "provider", "account", "model_id", "service_tier", "is_batch", "charge")
_SUMS: Final = ("requests", *TOKEN_CLASSES, *COST_PARTS, "cost_pusd", "cost_list_pusd", "cost_reported_pusd")
_SCHEMA: Final = {
    **dict.fromkeys(_NAMES, pl.String),
    "at_us": pl.Int64,
    "cost_state": pl.String,
    **dict.fromkeys(_SUMS, pl.Int64),
    "units": pl.String,
}
_UNITS: Final = {"web_search": "web_search", "request": "call"}
"""Classes of a bill that are counted in units, and what `units` calls them."""
_DEFAULT_WRITE: Final = {"openai": "tok_cache_write_30m", "azure": "tok_cache_write_30m"}


def bill_facts(lines: Iterable[BillLine], logged: Iterable[Logged]) -> pl.DataFrame:
    """The columns of `bill_facts` for every day of an account that only a bill knows.

    A day's dollars come from its cost lines and, of classes whose cost none says, from its usage at the price book's
    rates. Its tokens come from usage reports; where it has none, from its cost lines.
    """
    counting = [line for line in lines if line.doubled_by is None and line.kind != "other"]
    taken = _Unlogged(counting, logged)
    kept = [line for line in counting if taken.has(line)]
    with_cost = _Accounts(line for line in kept if line.has_cost)
    with_usage = _Accounts(line for line in kept if not line.has_cost)
    rows: dict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    units: dict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    states: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for line in kept:
        key = _key(line)
        counts = not (line.has_cost and with_usage.has(line))
        charges = line.has_cost or not (line.cost_elsewhere and with_cost.has(line))
        _add(rows[key], line, counts=counts, charges=charges)
        if counts and line.usage_class in _UNITS and line.quantity is not None:
            name = _UNITS[line.usage_class]
            units[key][name] = units[key].get(name, 0) + int(line.quantity)
        if charges:
            states[key].add("priced" if line.amount_pusd is not None else "unpriced")
    made = [
        dict.fromkeys(_SUMS)
        | {"requests": 0}
        | dict(zip(_NAMES, key, strict=True))
        | {"cost_state": _state(states[key])}
        | sums
        | {"units": json.dumps(units[key]) if units[key] else None}
        for key, sums in rows.items()
    ]
    return pl.DataFrame(made, schema=_SCHEMA)


def _key(line: BillLine) -> tuple[Any, ...]:
    return (
        line.at_us,
        line.source,
        line.provider,
        line.account or UNASSIGNED,
        line.model_id or UNASSIGNED,
        line.service_tier or UNASSIGNED,
        "true" if line.is_batch else "false",
        None if line.kind == "usage" else line.kind,
    )


def _state(found: set[str]) -> str:
    if not found or found == {"priced"}:
        return "priced"
    return "partly" if "priced" in found else "unpriced"


def _add(sums: dict[str, int], line: BillLine, *, counts: bool, charges: bool) -> None:
    def more(name: str, amount: int) -> None:
        sums[name] = sums.get(name, 0) + amount

    if counts:
        column = _token_class(line)
        if column is not None and line.quantity is not None:
            more(column, int(line.quantity))
        more("requests", line.requests or 0)
    amount = line.amount_pusd
    if charges and amount is not None:
        more(_part(line.usage_class), amount)
        more("cost_pusd", amount)
        more("cost_list_pusd", amount)
        if line.has_cost:
            more("cost_reported_pusd", amount)


def _token_class(line: BillLine) -> str | None:
    if line.usage_class == "cache_write":
        return _DEFAULT_WRITE.get(line.provider, "tok_cache_write_5m")
    column = f"tok_{line.usage_class}"
    return column if column in TOKEN_CLASSES else None


def _part(usage_class: str) -> str:
    for start, part in (
        ("input", "input_pusd"),
        ("cache_read", "cache_read_pusd"),
        ("cache_write", "cache_write_pusd"),
        ("output", "output_pusd"),
    ):
        if usage_class.startswith(start):
            return part
    return "other_pusd"


class _Accounts:
    """The accounts of lines by provider and day; a report that names none is of all of them."""

    def __init__(self, lines: Iterable[BillLine]) -> None:
        self._of: dict[tuple[str, int], set[str | None]] = defaultdict(set)
        for line in lines:
            for at_us in line.days:
                self._of[line.provider, at_us].add(line.account)

    def has(self, line: BillLine) -> bool:
        """Whether they speak of a line's account on any of its days."""
        return any(self._speak(line, self._of.get((line.provider, at_us), set())) for at_us in line.days)

    @staticmethod
    def _speak(line: BillLine, found: set[str | None]) -> bool:
        return bool(found) and (line.account in found or line.account is None or found == {None})


class _Unlogged:
    """Tells the days of a provider's account of which nothing was logged."""

    def __init__(self, lines: Sequence[BillLine], logged: Iterable[Logged]) -> None:
        self._billed: dict[str, set[str | None]] = defaultdict(set)
        for line in lines:
            self._billed[line.provider].add(line.account)
        self._accounts: dict[tuple[str | None, int], set[str | None]] = defaultdict(set)
        self._models: dict[int, set[str]] = defaultdict(set)
        for at_us, provider, account, model in logged:
            self._accounts[provider, at_us].add(account)
            # Who is logged and sends no bill may be billed by somebody else: an Azure log may say openai.
            if model is not None and provider not in self._billed:
                self._models[at_us].add(plain_model(model))

    def has(self, line: BillLine) -> bool:
        """Whether a line is of such days alone: a line of a month of which one day was logged is not."""
        return all(self._on(line, at_us) for at_us in line.days)

    def _on(self, line: BillLine, at_us: int) -> bool:
        if self._accounts.get((None, at_us)):
            return False
        if line.model_id is not None and plain_model(line.model_id) in self._models.get(at_us, set()):
            return False
        logged = self._accounts.get((line.provider, at_us))
        if not logged:
            return True
        if line.account is None or None in logged:
            return False
        return line.account not in logged and logged <= self._billed[line.provider]
