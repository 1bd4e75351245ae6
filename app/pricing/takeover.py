"""How far an imported rate reaches: not into a context that the book prices by itself.

Nor does it leave a cached token dearer than an uncached one because it named only one of the two.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.pricing.rates import Prices, Steps, at_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from app.pricing.rules import Rule

READ_OF: Final = {"cache_read": "input", "cache_read_audio": "input_audio"}
"""Which class a cached token would be without the cache."""


def set_aside(rule: Rule, stated: Iterable[Mapping[str, str]]) -> bool:
    """Whether an imported rate says nothing here: the book states a price for a context that speaks of more.

    A context that is only a factor on the rate moves with it; one with prices of its own keeps all its classes.
    """
    own = (rule.ctx or {}).items()
    return rule.taken and any(own < context.items() for context in stated)


def in_order(prices: Prices, rules: Sequence[Rule], before: Callable[[], Prices]) -> Prices:
    """The prices, where an imported input rate fell below a cached one that it did not name: in the ratio of `before`.

    `rules` are those that set prices, in the order in which they did; `before` gives the prices without imports.
    """
    changed: Prices = {}
    for read, whole in READ_OF.items():
        if _unnamed(rules, read, whole) and read in prices and _dearer(prices[read], prices.get(whole, ())):
            known = before()
            changed[read] = _in_ratio(prices[whole], known.get(read), known.get(whole))
    return {**prices, **changed} if changed else prices


def _unnamed(rules: Sequence[Rule], read: str, whole: str) -> bool:
    named = [rule for rule in rules if rule.taken and whole in rule.prices]
    if not named:
        return False
    reach = len(named[-1].ctx or {})
    return not any(rule.taken and read in rule.prices and len(rule.ctx or {}) >= reach for rule in rules)


def _dearer(read: Steps, whole: Steps) -> bool:
    edges = {above for above, _ in (*read, *whole)}
    return bool(whole) and any(at_prompt(read, above) > at_prompt(whole, above) for above in edges)


def _in_ratio(whole: Steps, read_before: Steps | None, whole_before: Steps | None) -> Steps:
    """The cached rate beside an uncached one, as a part of it; the whole of it where the book knew no ratio."""
    if read_before is None or whole_before is None:
        return whole
    edges = sorted({above for above, _ in (*whole, *read_before, *whole_before)})
    return tuple((above, at_prompt(whole, above) * _part(read_before, whole_before, above)) for above in edges)


def _part(read: Steps, whole: Steps, above: int) -> Decimal:
    now, base = at_prompt(read, above), at_prompt(whole, above)
    return min(now / base, Decimal(1)) if base else Decimal(1)
