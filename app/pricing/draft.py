"""Prices of one moment while rules are applied to them: set, multiply, derive, add, and carrying a price back."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from app.pricing.rates import PRICED_CLASSES, Prices, Steps

if TYPE_CHECKING:
    from app.pricing.rules import Rule


@dataclass(slots=True)
class Draft:
    """Rates while rules are applied to them."""

    prices: Prices = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    status: str = "confirmed"
    request_status: str = "confirmed"
    """That of the fee which every request pays; the last rule that sets it decides."""

    @property
    def standing(self) -> str:
        """`estimated` where a rate of tokens or the fee of every request is."""
        return "estimated" if "estimated" in (self.status, self.request_status) else self.status

    def take(self, rule: Rule) -> None:
        if rule.source not in self.sources:
            self.sources.append(rule.source)
        tokens = not rule.prices or any(name in PRICED_CLASSES for name in rule.prices)
        if rule.status == "estimated" and tokens:  # the status of a row is that of its tokens' rates
            self.status = "estimated"
        if "request" in rule.prices:
            self.request_status = rule.status


def override(draft: Draft, rule: Rule) -> None:
    if "cache_write" in rule.prices and "cache_write_5m" not in rule.prices:
        draft.prices.pop("cache_write_5m", None)
    draft.prices = {**draft.prices, **rule.prices}
    draft.take(rule)


def scale(draft: Draft, rule: Rule, but: frozenset[str] = frozenset()) -> None:
    """Multiply token classes by the rule's factors, those in `but` left as they are."""
    everything = rule.factors.get("*")
    scaled = dict(draft.prices)
    for name in PRICED_CLASSES:
        factor = rule.factors.get(name, everything)
        if factor is not None and name in scaled and name not in but:
            scaled[name] = tuple((above, rate * factor) for above, rate in scaled[name])
    draft.prices = scaled
    draft.take(rule)


def in_proportion(variant: Steps, now: Steps, then: Steps) -> Steps:
    """A variant's steps at a time when the standard price was `now` instead of `then`."""
    base_now, base_then = now[0][1], then[0][1]
    if now == then or not base_then:
        return variant
    if len(variant) == len(then):
        return tuple((above, rate * variant[0][1] / base_then) for above, rate in now)
    return tuple((above, rate * base_now / base_then) for above, rate in variant)


def derive(draft: Draft, rule: Rule) -> None:
    missing = {name: factor for name, factor in rule.factors.items() if name not in draft.prices}
    if not missing or rule.of not in draft.prices:
        return
    base = draft.prices[rule.of]
    derived = {name: tuple((above, rate * factor) for above, rate in base) for name, factor in missing.items()}
    draft.prices = {**draft.prices, **derived}
    draft.take(rule)


def add(draft: Draft, rule: Rule) -> None:
    added = dict(draft.prices)
    for name, steps in rule.prices.items():
        extra = steps[0][1]
        old = added.get(name, ((-1, Decimal(0)),))
        added[name] = tuple((above, rate + extra) for above, rate in old)
    draft.prices = added
    draft.take(rule)
