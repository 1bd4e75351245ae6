"""Rates for counterfactual cells: one look-up in the price book per distinct (model, context, hour, prompt length)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from app.pricing import context
from app.pricing.rates import TOKEN_RATES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal


class FoundRate(Protocol):
    """A priced row of the book: its readable id and its rates by `r_<class>`, None where unknown."""

    @property
    def price_row(self) -> str: ...

    @property
    def rates(self) -> Mapping[str, Decimal | None]: ...


class Book(Protocol):
    """What the plan asks a price book."""

    @property
    def version(self) -> str: ...

    @property
    def by_account(self) -> bool: ...

    def rate(
        self,
        provider: str | None,
        model_id: str,
        *,
        at_us: int,
        ctx: str = "",
        prompt_tokens: int = 0,
        account: str | None = None,
    ) -> FoundRate | None: ...


@dataclass(frozen=True, slots=True)
class Lookup:
    """Rates by cell, remembered: the same question is asked once an analysis."""

    book: Book
    _known: dict[tuple[Any, ...], tuple[str, tuple[float | None, ...]] | None] = field(default_factory=dict)

    def rates(
        self,
        provider: str,
        model_id: str,
        *,
        at_us: int,
        is_batch: bool,
        service_tier: str | None,
        region: str | None,
        price_context: str | None,
        account: str | None,
        prompt_tokens: int,
    ) -> tuple[str, tuple[float | None, ...]] | None:
        """The price row and its rates in pico-USD a token, in the order of TOKEN_CLASSES; None where unpriced."""
        who = account if self.book.by_account else None
        key = (provider, model_id, at_us, is_batch, service_tier, region, price_context, who, prompt_tokens)
        if key not in self._known:
            self._known[key] = self._ask(*key)
        return self._known[key]

    def _ask(
        self,
        provider: str,
        model_id: str,
        at_us: int,
        is_batch: bool,
        service_tier: str | None,
        region: str | None,
        price_context: str | None,
        account: str | None,
        prompt_tokens: int,
    ) -> tuple[str, tuple[float | None, ...]] | None:
        wanted = context.of_request(
            is_batch=is_batch,
            service_tier=service_tier,
            region=region,
            extra=None if price_context is None else json.loads(price_context),
        )
        found = self.book.rate(
            provider,
            model_id,
            at_us=at_us,
            ctx=context.text(wanted),
            prompt_tokens=prompt_tokens,
            account=account,
        )
        if found is None:
            return None
        rates = found.rates
        return found.price_row, tuple(
            None if (rate := rates.get(name)) is None else float(rate) for name in TOKEN_RATES
        )
