"""Which rates hold when: list prices and rules evaluated at every moment something changes, merged into rate rows.

Order: list price -> `set` rules of the list, those of the place after the general ones -> the tier's own price
(variant, set, backdate, multiply) -> derived classes -> factors of the place -> the user's `set`, `multiply`, `add`.
A context without a price has no row:
such requests are unpriced.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from app.pricing import context as ctx_of
from app.pricing.draft import Draft, add, derive, in_proportion, override, scale
from app.pricing.rates import DAY_US, FOREVER_US, MINUTES_A_DAY, Prices
from app.pricing.rows import Cell, Moment, Span, rate_key, tier_rows
from app.pricing.takeover import in_order, set_aside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.pricing.context import Context
    from app.pricing.listprices import ListModel, Variant
    from app.pricing.rates import RateRow
    from app.pricing.rules import Rule


def rows_for(
    provider: str,
    model: str,
    listed: ListModel | None,
    rules: Sequence[Rule],
    context: Context,
    *,
    list_source: str,
    confirmed_to_us: int,
) -> list[RateRow]:
    """All rate rows of one model in one context, in order of time, weekday, minute and prompt length.

    `rules` are those that name this provider and model; announced ones and list prices that start after
    `confirmed_to_us` wait and have no part in it.
    """
    table = _Table(
        listed, [rule for rule in rules if rule.status != "announced"], context, list_source, confirmed_to_us
    )
    ctx = ctx_of.text(context)
    key = rate_key(provider, model, ctx)
    rows: list[RateRow] = []
    for span in _merged(table.spans()):
        for cell in span.cells:
            rows += tier_rows(provider, model, ctx, key, span, cell)
    return rows


class _Table:
    """One model in one context: evaluates a moment and knows where moments can differ."""

    def __init__(
        self,
        listed: ListModel | None,
        rules: Sequence[Rule],
        context: Context,
        list_source: str,
        confirmed_to_us: int,
    ) -> None:
        confirmed = confirmed_to_us
        self.standard = [] if listed is None else [p for p in listed.standard if (p.start_us or 0) < confirmed]
        # A reseller's own tiers are its own: the variants of the provider whose price it passes on do not apply.
        variants = [] if listed is None or "via" in context else listed.variants
        self.variants = [variant for variant in variants if (variant.start_us or 0) < confirmed]
        self.rules = [rule for rule in rules if _concerns(rule, context)]
        self.context = context
        self.selectors = ctx_of.selectors(context)
        self.list_source = list_source

    def spans(self) -> Iterable[Span]:
        starts = sorted(self._starts())
        minutes = self._minute_edges()
        weekdays = self._weekday_groups()
        for index, start in enumerate(starts):
            end = starts[index + 1] if index + 1 < len(starts) else FOREVER_US
            cells: list[Cell] = []
            for first, last in weekdays:
                for minute_from, minute_to in pairwise(minutes):
                    moment = self.evaluate(start, first, minute_from)
                    if moment is not None:
                        cells.append(Cell(first, last, minute_from, minute_to, moment))
            yield Span(start, end, _merge_cells(cells))

    def _starts(self) -> set[int]:
        starts = {0}
        starts.update(dated.start_us for dated in self.standard if dated.start_us is not None)
        starts.update(variant.start_us for variant in self.variants if variant.start_us is not None)
        for rule in self.rules:
            starts.update((rule.from_us, rule.to_us))
            for day in rule.skip_days:
                starts.update((day * DAY_US, (day + 1) * DAY_US))
        return {start for start in starts if 0 <= start < FOREVER_US}

    def _minute_edges(self) -> list[int]:
        edges = {0, MINUTES_A_DAY}
        for dated in self.standard:
            if dated.minute_from is not None and dated.minute_to is not None:
                edges.update((dated.minute_from, dated.minute_to))
        for rule in self.rules:
            for window in rule.minutes:
                edges.update(window)
        return sorted(edges)

    def _weekday_groups(self) -> list[tuple[int, int]]:
        signatures = [tuple(day in rule.weekdays for rule in self.rules if rule.weekdays) for day in range(7)]
        groups: list[tuple[int, int]] = []
        for day, signature in enumerate(signatures):
            if groups and signatures[groups[-1][0]] == signature:
                groups[-1] = (groups[-1][0], day)
            else:
                groups.append((day, day))
        return groups

    def evaluate(self, at_us: int, weekday: int, minute: int) -> Moment | None:
        active = [rule for rule in self.rules if rule.active(at_us, weekday, minute)]
        draft = self._of_lists([rule for rule in active if rule.layer == "list"], at_us, minute)
        self._terms(draft, [rule for rule in active if rule.layer == "contract"])
        if not draft.prices:
            return None
        return Moment(draft.prices, tuple(draft.sources), draft.standing)

    def _of_lists(self, ours: list[Rule], at_us: int, minute: int) -> Draft:
        """What the list, our rules and imported ones say, before the user's terms."""
        draft = Draft(sources=[] if not self.standard else [self.list_source])
        draft.prices = dict(self._listed(at_us, minute))
        ours.sort(key=lambda rule: len(rule.ctx or {}))  # what speaks of more has the last word; else the file's order
        stated = self._stating(ours, at_us)
        setting = [rule for rule in ours if rule.op == "set" and not set_aside(rule, stated)]
        for rule in setting:
            if not ctx_of.selectors(rule.ctx or {}) and (draft.prices or not rule.general):
                override(draft, rule)
        if self.selectors and not self._select(draft, ours, setting, at_us, minute):
            draft.prices = {}
        for rule in ours:
            if rule.op == "derive":
                derive(draft, rule)
        self._modify(draft, ours)
        book = [rule for rule in ours if not rule.taken]
        draft.prices = in_order(draft.prices, setting, lambda: self._of_lists(book, at_us, minute).prices)
        return draft

    def _stating(self, ours: list[Rule], at_us: int) -> list[Context]:
        """Contexts whose price of a prompt the book states by itself at a time, and not as a factor of another."""
        stated = [variant.when for variant in self._started(at_us) if "input" in variant.prices]
        stated += [
            rule.ctx for rule in ours if rule.op == "set" and not rule.taken and rule.ctx and "input" in rule.prices
        ]
        return stated

    def _started(self, at_us: int) -> list[Variant]:
        return [
            variant
            for variant in self.variants
            if (variant.start_us is None or variant.start_us <= at_us) and variant.prices and self._wanted(variant)
        ]

    def _modify(self, draft: Draft, ours: list[Rule]) -> None:
        """Factors of a geography, region, deployment or reseller; what is withheld there unless a rule gave a price."""
        placed: list[dict[str, str]] = [rule.ctx or {} for rule in ours if rule.op == "set"]
        for rule in ours:
            if rule.op == "multiply" and not ctx_of.selectors(rule.ctx or {}):
                scale(draft, rule, but=_stated(ours, rule))
                placed.append(rule.ctx or {})
        for rule in ours:
            if rule.op == "withhold" and rule.ctx not in placed:
                draft.prices = {}

    def _listed(self, at_us: int, minute: int) -> Prices:
        for dated in reversed(self.standard):
            if dated.active(at_us, minute):
                return dated.prices
        return self.standard[0].prices if self.standard else {}

    def _select(self, draft: Draft, ours: list[Rule], setting: list[Rule], at_us: int, minute: int) -> bool:
        """Give the draft the price of its selectors; False where nothing states one."""
        if not draft.prices:
            return False
        satisfied: set[str] = set()
        exact = [rule for rule in setting if rule.ctx and ctx_of.selectors(rule.ctx)]
        overrides: Prices = {}
        for variant in self._started(at_us):
            for name, steps in variant.prices.items():
                overrides.setdefault(name, steps)
            satisfied |= variant.when.keys()
        draft.prices = {**draft.prices, **overrides}
        for rule in exact:
            override(draft, rule)
            satisfied |= (rule.ctx or {}).keys()
        for rule in ours:
            if rule.op == "backdate" and rule.ctx and not satisfied >= rule.ctx.keys():
                carried = self._carried_back(rule, draft.prices, at_us, minute)
                if carried:
                    draft.prices = {**draft.prices, **carried}
                    draft.take(rule)
                    satisfied |= rule.ctx.keys()
        for rule in ours:
            if rule.op == "multiply" and rule.ctx and ctx_of.selectors(rule.ctx) and not satisfied >= rule.ctx.keys():
                scale(draft, rule)
                satisfied |= rule.ctx.keys()
        return satisfied >= self.selectors.keys()

    def _wanted(self, variant: Variant) -> bool:
        return all(self.selectors.get(name) == value for name, value in variant.when.items())

    def _carried_back(self, rule: Rule, now: Prices, at_us: int, minute: int) -> Prices:
        """The first later variant of the rule's context, each class in proportion to the standard price of then."""
        for variant in sorted(self.variants, key=lambda v: v.start_us or 0):
            if variant.when != rule.ctx or variant.start_us is None or variant.start_us <= at_us:
                continue
            then = self._listed(variant.start_us, minute)
            carried: Prices = {}
            for name, steps in variant.prices.items():
                if name not in now or name not in then:
                    continue
                carried[name] = in_proportion(steps, now[name], then[name])
            return carried
        return {}

    def _terms(self, draft: Draft, active: list[Rule]) -> None:
        own_terms = _in_force(active)
        for rule in own_terms:
            fits = rule.ctx is None or ctx_of.selectors(rule.ctx) == self.selectors
            if rule.op == "set" and fits:
                override(draft, rule)
        for rule in own_terms:
            if rule.op == "multiply" and draft.prices:
                scale(draft, rule)
        for rule in own_terms:
            if rule.op == "add" and draft.prices:
                add(draft, rule)


def _in_force(own_terms: Iterable[Rule]) -> list[Rule]:
    """The user's terms, those that speak of more after the general ones, later agreements after earlier ones.

    Two discounts of one scope are one agreement and its successor: only the later one holds, whatever their order in
    the file. Discounts of different scopes multiply.
    """
    ordered = sorted(own_terms, key=_reach)
    last = {_scope(rule): rule for rule in ordered if rule.op == "multiply"}
    return [rule for rule in ordered if rule.op != "multiply" or last[_scope(rule)] is rule]


def _reach(rule: Rule) -> tuple[bool, bool, int, bool, int]:
    timed = bool(rule.minutes or rule.weekdays)
    return rule.account is not None, not rule.general, len(rule.ctx or {}), timed, rule.from_us


def _scope(rule: Rule) -> tuple[object, ...]:
    ctx = None if rule.ctx is None else ctx_of.text(rule.ctx)
    return rule.provider, rule.model, rule.account, ctx, rule.minutes, rule.weekdays, tuple(sorted(rule.factors))


def _stated(ours: Iterable[Rule], factor: Rule) -> frozenset[str]:
    """Classes whose price is stated for a factor's own place, so that the factor is in it already."""
    asked = (factor.ctx or {}).items()
    if not asked:
        return frozenset()
    stated = (rule for rule in ours if rule.op == "set" and rule.ctx and rule.ctx.items() >= asked)
    return frozenset(name for rule in stated for name in rule.prices)


def _concerns(rule: Rule, context: Context) -> bool:
    """Whether a rule could have a say in a context: everything it asks for is there, terms only under own terms."""
    if rule.layer == "contract":
        if "contract" not in context:
            return False
        if not rule.holds_for(context.get("account")):
            return False
    asked = rule.ctx or {}
    if rule.layer == "list" and "via" in context and asked and "via" not in asked:
        return False  # the maker's own tiers and places are not the reseller's
    return all(name in context and ctx_of.fits(value, context[name]) for name, value in asked.items())


def _merge_cells(cells: list[Cell]) -> tuple[Cell, ...]:
    """Neighbouring minutes, then neighbouring weekdays, joined where their rates are the same."""
    by_minute: list[Cell] = []
    for cell in cells:
        last = by_minute[-1] if by_minute else None
        if (
            last is not None
            and last.weekday_from == cell.weekday_from
            and last.minute_to == cell.minute_from
            and last.moment == cell.moment
        ):
            by_minute[-1] = Cell(cell.weekday_from, cell.weekday_to, last.minute_from, cell.minute_to, cell.moment)
        else:
            by_minute.append(cell)
    if by_minute and all(
        (cell.minute_from, cell.minute_to) == (0, MINUTES_A_DAY) and cell.moment == by_minute[0].moment
        for cell in by_minute
    ):
        return (Cell(by_minute[0].weekday_from, by_minute[-1].weekday_to, 0, MINUTES_A_DAY, by_minute[0].moment),)
    return tuple(by_minute)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].cells == span.cells and merged[-1].to_us == span.from_us:
            merged[-1] = Span(merged[-1].from_us, span.to_us, span.cells)
        else:
            merged.append(span)
    return merged
