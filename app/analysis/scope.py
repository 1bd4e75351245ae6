"""From a `View` to the relation that answers it: the roll-up where it can, the facts where it must; filters laid over.

Dimensions are the fixed list of app.core.view, values are rows of a registered frame: no text of a reader becomes SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from app.analysis.days import EVERYTHING, local_days
from app.core.errors import UsageError
from app.core.view import DIMENSIONS
from app.warehouse import rollup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.view import Filter, Period, View
    from app.warehouse.store import Session

COLUMNS = {name: name for name in DIMENSIONS} | {"model": "model_id", "user": "user_name"}
"""Dimension -> column of the spend relations."""

_ATTRIBUTED = frozenset({"feature", "team", "environment", "template"})
_FACTS_ONLY = frozenset({"api_key", "user", "status", "template"})


@dataclass(frozen=True, slots=True)
class Scope:
    """A relation of the session with the filters laid over it, and the range to read of it."""

    relation: str
    from_us: int
    to_us: int

    @property
    def range(self) -> dict[str, int]:
        return {"from_us": self.from_us, "to_us": self.to_us}


def column(dimension: str) -> str:
    """The column of a dimension.

    Raises:
        UsageError: no such dimension.
    """
    found = COLUMNS.get(dimension)
    if found is None:
        raise UsageError(f"{dimension!r} is no dimension. Group and filter by one of: {', '.join(DIMENSIONS)}.")
    return found


def spend_scope(session: Session, view: View, *dimensions: str, period: Period | None = None) -> Scope:
    """The relation for spend sums of a view by `dimensions`: spend_hour where it has them and cuts the period.

    It holds the days that only a bill knows too; a single request's relation is `facts_scope`.
    """
    chosen = period or view.period
    used = {*dimensions, *(item.dimension for item in view.filters)}
    for name in used:
        column(name)
    base = "attributed_spend_facts" if used & _ATTRIBUTED else "spend_facts"
    if not used & _FACTS_ONLY:
        base = _rolled(session, chosen) or base
    return Scope(filtered(session, base, view.filters), chosen.from_us, chosen.to_us)


def facts_scope(session: Session, view: View, *dimensions: str) -> Scope:
    """The relation of single requests of a view."""
    used = {*dimensions, *(item.dimension for item in view.filters)}
    base = facts_relation(used)
    return Scope(filtered(session, base, view.filters), view.period.from_us, view.period.to_us)


def facts_relation(dimensions: set[str]) -> str:
    """The narrowest view of single requests that has these dimensions: attribution costs a join."""
    return "attributed_facts" if dimensions & _ATTRIBUTED else "request_facts"


def _rolled(session: Session, period: Period) -> str | None:
    """The roll-up for a period, None where it is not filled or too coarse for a day's edge.

    A period that ends inside a bucket (an unfinished one, or what is compared with it) takes the single requests of
    that last bucket from the facts.
    """
    bucket = session.once("rollup.bucket", lambda: rollup.bucket(session))
    if bucket is None:
        return None
    if period.name == EVERYTHING:
        return "spend_hour"
    edges = [period.from_us, *(day.from_us for day in local_days(period.from_us, period.to_us, period.zone))]
    if any(edge % bucket for edge in edges):
        return None
    end_us = period.to_us - period.to_us % bucket
    if end_us == period.to_us:
        return "spend_hour"
    return session.once(f"scope_joined {end_us}..{period.to_us}", lambda: _joined(session, end_us, period.to_us))


def _joined(session: Session, end_us: int, to_us: int) -> str:
    """The roll-up before `end_us` and single requests from there to `to_us`, as a relation of their own."""
    name = f"scope_joined_{end_us}_{to_us}"
    edge, tail = f"scope_edge_{end_us}", f"scope_tail_{end_us}_{to_us}"
    session.register(edge, pl.DataFrame({"end_us": [end_us]}, schema={"end_us": pl.Int64}))
    session.execute("spend.tail", {"into": tail}, from_us=end_us, to_us=to_us)
    session.execute("spend.joined", {"into": name, "edge": edge, "tail": tail})
    return name


def filtered(session: Session, base: str, filters: Sequence[Filter]) -> str:
    """A relation of the session: `base` with the filters laid over it."""
    relation = base
    for place, item in enumerate(filters):
        values, into = f"scope_values_{place}", f"scope_{base}_{place}"
        session.register(values, pl.DataFrame({"value": list(item.values)}, schema={"value": pl.String}))
        query = "spend.filter_is" if item.op == "is" else "spend.filter_not"
        session.execute(query, {"into": into, "facts": relation, "column": column(item.dimension), "chosen": values})
        relation = into
    return relation
