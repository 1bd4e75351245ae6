"""Which rates hold when: list prices and rules evaluated at every moment something changes, merged into rate rows.

Order: list price -> `set` rules of the list -> the context's own price (variant, set, backdate, multiply) ->
derived classes -> modifiers -> the user's `set`, then
`multiply`, then `add`. A context without a price has no row: unpriced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from app.core.hashing import hash64
from app.pricing import context as ctx_of
from app.pricing.rates import (
    DAY_US,
    FOREVER_US,
    MINUTES_A_DAY,
    NO_LIMIT,
    PRICED_CLASSES,
    QUANTUM,
    RATE_COLUMNS,
    TOKEN_RATES,
    Prices,
    RateRow,
    Steps,
    at_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.pricing.context import Context
    from app.pricing.listprices import ListModel, Variant
    from app.pricing.rules import Rule

_DAY_NAMES: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class Moment:
    """Rates of one moment with the texts of everything that had a say in them."""

    prices: Prices
    sources: tuple[str, ...]
    status: str


@dataclass(slots=True)
class _Draft:
    """Rates while rules are applied to them."""

    prices: Prices = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    status: str = "confirmed"

    def take(self, rule: Rule) -> None:
        if rule.source not in self.sources:
            self.sources.append(rule.source)
        if rule.status == "estimated":
            self.status = "estimated"


def rate_key(provider: str, model: str, ctx: str) -> int:
    """The join key of all rows of one model in one context."""
    return hash64(f"{provider}\x00{model}\x00{ctx}".encode())


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
            rows += _tier_rows(provider, model, ctx, key, span, cell)
    return rows


@dataclass(frozen=True, slots=True)
class _Cell:
    weekday_from: int
    weekday_to: int
    minute_from: int
    minute_to: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class _Span:
    from_us: int
    to_us: int
    cells: tuple[_Cell, ...]


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

    def spans(self) -> Iterable[_Span]:
        starts = sorted(self._starts())
        minutes = self._minute_edges()
        weekdays = self._weekday_groups()
        for index, start in enumerate(starts):
            end = starts[index + 1] if index + 1 < len(starts) else FOREVER_US
            cells: list[_Cell] = []
            for first, last in weekdays:
                for minute_from, minute_to in pairwise(minutes):
                    moment = self.evaluate(start, first, minute_from)
                    if moment is not None:
                        cells.append(_Cell(first, last, minute_from, minute_to, moment))
            yield _Span(start, end, _merge_cells(cells))

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
        ours = [rule for rule in active if rule.layer == "list"]
        own_terms = [rule for rule in active if rule.layer == "contract"]
        draft = _Draft(sources=[] if not self.standard else [self.list_source])
        draft.prices = dict(self._listed(at_us, minute))
        for rule in ours:
            if rule.op == "set" and not rule.ctx:
                _override(draft, rule)
        if self.selectors and not self._select(draft, ours, at_us, minute):
            draft.prices = {}
        for rule in ours:
            if rule.op == "derive":
                _derive(draft, rule)
        for rule in ours:
            if rule.op == "multiply" and not ctx_of.selectors(rule.ctx or {}):
                _scale(draft, rule)
            elif rule.op == "set" and rule.ctx and not ctx_of.selectors(rule.ctx):
                _override(draft, rule)
        self._terms(draft, own_terms)
        if not draft.prices:
            return None
        return Moment(draft.prices, tuple(draft.sources), draft.status)

    def _listed(self, at_us: int, minute: int) -> Prices:
        for dated in reversed(self.standard):
            if dated.active(at_us, minute):
                return dated.prices
        return self.standard[0].prices if self.standard else {}

    def _select(self, draft: _Draft, ours: list[Rule], at_us: int, minute: int) -> bool:
        """Give the draft the price of its selectors; False where nothing states one."""
        if not draft.prices:
            return False
        satisfied: set[str] = set()
        exact = [rule for rule in ours if rule.op == "set" and rule.ctx and ctx_of.selectors(rule.ctx)]
        overrides: Prices = {}
        for variant in self.variants:
            started = variant.start_us is None or variant.start_us <= at_us
            if started and variant.prices and self._wanted(variant):
                for name, steps in variant.prices.items():
                    overrides.setdefault(name, steps)
                satisfied |= variant.when.keys()
        draft.prices = {**draft.prices, **overrides}
        for rule in exact:
            _override(draft, rule)
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
                _scale(draft, rule)
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
                carried[name] = _in_proportion(steps, now[name], then[name])
            return carried
        return {}

    def _terms(self, draft: _Draft, own_terms: list[Rule]) -> None:
        for rule in own_terms:
            fits = rule.ctx is None or ctx_of.selectors(rule.ctx) == self.selectors
            if rule.op == "set" and fits:
                _override(draft, rule)
        for rule in own_terms:
            if rule.op == "multiply" and draft.prices:
                _scale(draft, rule)
        for rule in own_terms:
            if rule.op == "add" and draft.prices:
                _add(draft, rule)


def _concerns(rule: Rule, context: Context) -> bool:
    """Whether a rule could have a say in a context: everything it asks for is there, terms only under own terms."""
    if rule.layer == "contract":
        if "contract" not in context:
            return False
        if rule.account is not None and not fnmatchcase(context.get("account", ""), rule.account):
            return False
    asked = rule.ctx or {}
    if rule.layer == "list" and "via" in context and ctx_of.selectors(asked) and "via" not in asked:
        return False
    return all(context.get(name) == value or (value == "any" and name in context) for name, value in asked.items())


def _override(draft: _Draft, rule: Rule) -> None:
    if "cache_write" in rule.prices and "cache_write_5m" not in rule.prices:
        draft.prices.pop("cache_write_5m", None)
    draft.prices = {**draft.prices, **rule.prices}
    draft.take(rule)


def _scale(draft: _Draft, rule: Rule) -> None:
    everything = rule.factors.get("*")
    scaled = dict(draft.prices)
    for name in PRICED_CLASSES:
        factor = rule.factors.get(name, everything)
        if factor is not None and name in scaled:
            scaled[name] = tuple((above, rate * factor) for above, rate in scaled[name])
    draft.prices = scaled
    draft.take(rule)


def _in_proportion(variant: Steps, now: Steps, then: Steps) -> Steps:
    """A variant's steps at a time when the standard price was `now` instead of `then`."""
    base_now, base_then = now[0][1], then[0][1]
    if now == then or not base_then:
        return variant
    if len(variant) == len(then):
        return tuple((above, rate * variant[0][1] / base_then) for above, rate in now)
    return tuple((above, rate * base_now / base_then) for above, rate in variant)


def _derive(draft: _Draft, rule: Rule) -> None:
    missing = {name: factor for name, factor in rule.factors.items() if name not in draft.prices}
    if not missing or rule.of not in draft.prices:
        return
    base = draft.prices[rule.of]
    derived = {name: tuple((above, rate * factor) for above, rate in base) for name, factor in missing.items()}
    draft.prices = {**draft.prices, **derived}
    draft.take(rule)


def _add(draft: _Draft, rule: Rule) -> None:
    added = dict(draft.prices)
    for name, steps in rule.prices.items():
        extra = steps[0][1]
        old = added.get(name, ((-1, Decimal(0)),))
        added[name] = tuple((above, rate + extra) for above, rate in old)
    draft.prices = added
    draft.take(rule)


def _merge_cells(cells: list[_Cell]) -> tuple[_Cell, ...]:
    """Neighbouring minutes, then neighbouring weekdays, joined where their rates are the same."""
    by_minute: list[_Cell] = []
    for cell in cells:
        last = by_minute[-1] if by_minute else None
        if (
            last is not None
            and last.weekday_from == cell.weekday_from
            and last.minute_to == cell.minute_from
            and last.moment == cell.moment
        ):
            by_minute[-1] = _Cell(cell.weekday_from, cell.weekday_to, last.minute_from, cell.minute_to, cell.moment)
        else:
            by_minute.append(cell)
    if by_minute and all(
        (cell.minute_from, cell.minute_to) == (0, MINUTES_A_DAY) and cell.moment == by_minute[0].moment
        for cell in by_minute
    ):
        return (_Cell(by_minute[0].weekday_from, by_minute[-1].weekday_to, 0, MINUTES_A_DAY, by_minute[0].moment),)
    return tuple(by_minute)


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in spans:
        if merged and merged[-1].cells == span.cells and merged[-1].to_us == span.from_us:
            merged[-1] = _Span(merged[-1].from_us, span.to_us, span.cells)
        else:
            merged.append(span)
    return merged


def _tier_rows(provider: str, model: str, ctx: str, key: int, span: _Span, cell: _Cell) -> list[RateRow]:
    edges = sorted({above for steps in cell.moment.prices.values() for above, _ in steps if above > -1})
    rows: list[RateRow] = []
    for above, upto in zip([-1, *edges], [*edges, NO_LIMIT], strict=True):
        rates = resolved({name: at_prompt(steps, above) for name, steps in cell.moment.prices.items()})
        if all(rate is None for rate in rates.values()):
            continue
        rows.append(
            RateRow(
                rate_key=key,
                price_row=_name(provider, model, ctx, span, cell, above),
                provider=provider,
                price_model=model,
                ctx=ctx,
                valid_from_us=span.from_us,
                valid_to_us=span.to_us,
                minute_from=cell.minute_from,
                minute_to=cell.minute_to,
                weekday_from=cell.weekday_from,
                weekday_to=cell.weekday_to,
                tier_gt=above,
                tier_le=upto,
                rates=rates,
                source="; ".join(cell.moment.sources),
                status=cell.moment.status,
            )
        )
    return rows


def resolved(prices: dict[str, Decimal]) -> dict[str, Decimal | None]:
    """One rate a column: sub-classes without a price of their own are billed as the class that contains them.

    A cache write is billed as input only where the model has no write price at all; a longer lifetime never borrows
    the price of a shorter one, except the 30-minute write, which is the only one its provider sells.
    """
    written = prices.get("cache_write", prices.get("cache_write_5m"))
    has_writes = written is not None or any(f"cache_write_{ttl}" in prices for ttl in ("30m", "1h", "12h"))
    as_input = None if has_writes else prices.get("input")
    read = prices.get("cache_read", prices.get("input"))
    audio = prices.get("input_audio", prices.get("input"))
    output = prices.get("output")
    by_class: dict[str, Decimal | None] = {
        "input": prices.get("input"),
        "cache_read": read,
        "cache_write_5m": prices.get("cache_write_5m", written if has_writes else as_input),
        "cache_write_30m": prices.get("cache_write_30m", written if has_writes else as_input),
        "cache_write_1h": prices.get("cache_write_1h", as_input),
        "cache_write_12h": prices.get("cache_write_12h", as_input),
        "input_audio": audio,
        "cache_read_audio": prices.get("cache_read_audio", prices.get("cache_read", audio)),
        "input_image": prices.get("input_image", prices.get("input")),
        "output": output,
        "reasoning": prices.get("reasoning", output),
        "output_audio": prices.get("output_audio", output),
        "output_image": prices.get("output_image", output),
    }
    rates = {column: by_class[column.removeprefix("r_")] for column in TOKEN_RATES}
    rates.update({column: prices.get(column.removeprefix("r_")) for column in RATE_COLUMNS if column not in rates})
    return {name: None if rate is None else rate.quantize(QUANTUM) for name, rate in rates.items()}


def _name(provider: str, model: str, ctx: str, span: _Span, cell: _Cell, above: int) -> str:
    """Readable identity: `anthropic/claude-sonnet-4-6@2026-03-13 batch >200000`."""
    words = [f"{provider}/{model}@{_stamp(span.from_us)}", ctx or "standard"]
    if (cell.weekday_from, cell.weekday_to) != (0, 6):
        words.append(f"{_DAY_NAMES[cell.weekday_from]}-{_DAY_NAMES[cell.weekday_to]}")
    if (cell.minute_from, cell.minute_to) != (0, MINUTES_A_DAY):
        words.append(f"{_clock(cell.minute_from)}-{_clock(cell.minute_to)}Z")
    if above > -1:
        words.append(f">{above}")
    return " ".join(words)


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _stamp(at_us: int) -> str:
    if at_us <= 0:
        return "start"
    moment = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    return moment.strftime("%Y-%m-%d" if at_us % DAY_US == 0 else "%Y-%m-%dT%H:%MZ")
