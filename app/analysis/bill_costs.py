"""Which usage of a bill has its cost on another line: reports of usage and of costs say the same day in two parts.

What has no cost line is not free: its cost is not on the bill yet. Told by group of classes, since reports cut audio
and cache lifetimes differently; a line that names no account, model or class is of all of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final

from app.analysis.bill_cells import ALL_TOKENS, OTHER, TOKEN_GROUPS, group_of
from app.analysis.model_names import plain_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.analysis.bills import BillLine

RESERVED: Final = "priority"
"""The tier that a provider may sell as capacity of its own: costs that name other tiers do not hold it."""
_ANY: Final = "\0any"
_Place = tuple[str, int, str | None, str, str]


def with_costs_elsewhere(lines: list[BillLine]) -> list[BillLine]:
    """The lines with `cost_elsewhere` said; costs of no class are taken for totals where a day has no others."""
    named = _totals_named(lines)
    costs: set[_Place] = set()
    reserved: set[_Place] = set()
    for line in named:
        if _charges(line):
            costs.update(_spoken_of(line))
            if line.service_tier in (None, RESERVED):
                reserved.update(_spoken_of(line))
    return [
        line
        if line.has_cost or line.kind != "usage"
        else replace(
            line, cost_elsewhere=not (reserved if line.service_tier == RESERVED else costs).isdisjoint(_asked(line))
        )
        for line in named
    ]


def _charges(line: BillLine) -> bool:
    return line.has_cost and line.kind == "usage" and line.doubled_by is None


def _totals_named(lines: list[BillLine]) -> list[BillLine]:
    """A charge of no class is the whole of a day whose costs name none and whose usage report does: of all tokens."""
    classed: dict[tuple[str, int], set[bool]] = defaultdict(set)
    for line in lines:
        if line.kind == "usage" and line.doubled_by is None and group_of(line.usage_class) != OTHER:
            for at_us in line.days:
                classed[line.provider, at_us].add(line.has_cost)
    return [
        replace(line, usage_class=ALL_TOKENS)
        if _charges(line)
        and line.usage_class == OTHER
        and set().union(*(classed[line.provider, at_us] for at_us in line.days)) == {False}
        else line
        for line in lines
    ]


def _spoken_of(line: BillLine) -> Iterable[_Place]:
    """Every place that a cost line answers for, with what it says and with "any" in the place of it."""
    group = _group(line)
    for at_us, account, model in product(line.days, (line.account, _ANY), (_model(line), _ANY)):
        yield line.provider, at_us, account, model, group
        if group in TOKEN_GROUPS:
            yield line.provider, at_us, account, model, _ANY


def _asked(line: BillLine) -> Iterable[_Place]:
    """The places of cost lines that would say the cost of a line of usage."""
    group = _group(line)
    accounts = (_ANY,) if line.account is None else (line.account, None)
    models = (_ANY,) if line.model_id is None else (_model(line), "")
    groups = (ALL_TOKENS, _ANY) if group == ALL_TOKENS else (group, ALL_TOKENS)
    for account in accounts:
        for one in groups:
            if group in (*TOKEN_GROUPS, ALL_TOKENS):
                yield from ((line.provider, line.at_us, account, model, one) for model in models)
            else:
                # A search belongs to no model on many bills; a total without a model holds it.
                yield line.provider, line.at_us, account, _ANY if one == group else "", one


def _model(line: BillLine) -> str:
    return "" if line.model_id is None else plain_model(line.model_id)


def _group(line: BillLine) -> str:
    """The group of a token class, else the class itself."""
    group = group_of(line.usage_class)
    return line.usage_class if group == OTHER else group
