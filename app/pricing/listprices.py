"""List prices from genai-prices (MIT), read once into plain values that can be cached and need no import of it.

Its semantics are kept: the last active dated price wins, a variant overrides single classes for a context, a price
step moves the whole request. Source: https://github.com/pydantic/genai-prices
"""

from __future__ import annotations

from decimal import Decimal
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.pricing.rates import MINUTES_A_DAY, Prices, Steps, per_mtok, per_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

Clause = list[Any]
"""A match rule as JSON: ["eq" | "sw" | "ew" | "ct" | "re", text] or ["or" | "and", [clauses]]."""

_TOKEN_KEYS: Final = {
    "input_mtok": "input",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_5m_mtok": "cache_write_5m",
    "cache_write_1h_mtok": "cache_write_1h",
    "input_audio_mtok": "input_audio",
    "cache_audio_read_mtok": "cache_read_audio",
    "input_image_mtok": "input_image",
    "output_mtok": "output",
    "output_reasoning_mtok": "reasoning",
    "output_audio_mtok": "output_audio",
    "output_image_mtok": "output_image",
}
_FEE_KEYS: Final = {
    "web_searches_kcount": ("web_search", 1000),
    "storage_searches_kcount": ("storage_search", 1000),
    "code_executions_kcount": ("code_execution", 1000),
    "rerank_searches_kcount": ("rerank", 1000),
    "requests_kcount": ("request", 1000),
    "audio_hours": ("second", 3600),
    "input_audio_hours": ("second", 3600),
    "input_document_kpages": ("page", 1000),
    "input_mchars": ("character", 1_000_000),
}


class DatedPrices(msgspec.Struct, frozen=True):
    """Prices that hold from `start_us` (None: always), or only in a window of minutes of the UTC day."""

    prices: Prices
    start_us: int | None = None
    minute_from: int | None = None
    minute_to: int | None = None

    def active(self, at_us: int, minute: int) -> bool:
        if self.start_us is not None and at_us < self.start_us:
            return False
        if self.minute_from is None or self.minute_to is None:
            return True
        if self.minute_to < self.minute_from:
            return minute >= self.minute_from or minute < self.minute_to
        return self.minute_from <= minute < self.minute_to


class Variant(msgspec.Struct, frozen=True):
    """Prices of single classes that replace the standard ones where the context has all of `when`."""

    when: dict[str, str]
    prices: Prices
    start_us: int | None = None


class ListModel(msgspec.Struct, frozen=True):
    provider: str
    model: str
    match: Clause
    standard: list[DatedPrices]
    variants: list[Variant]
    context_window: int | None = None
    deprecated: bool = False


class ListProvider(msgspec.Struct, frozen=True):
    provider: str
    name: str
    urls: list[str]
    fallbacks: list[str]
    model_match: Clause | None


class PriceList(msgspec.Struct, frozen=True):
    """The whole list of one release of the library."""

    version: str
    providers: list[ListProvider]
    models: list[ListModel]


def library_version() -> str:
    """The installed release of genai-prices, found without importing it."""
    return installed_version("genai-prices")


def read() -> PriceList:
    """All prices of the installed library; takes about a second, so callers cache the outcome."""
    from genai_prices.data import providers

    return of_providers(providers)


def of_providers(providers: Iterable[Any]) -> PriceList:
    """The library's own provider objects as a list under the installed release's name."""
    providers = list(providers)
    models = [
        ListModel(
            provider=provider.id,
            model=model.id,
            match=_clause(model.match),
            standard=_standard(model.prices),
            variants=[_variant(variant) for variant in model.price_variants or ()],
            context_window=model.context_window,
            deprecated=bool(model.deprecated),
        )
        for provider in providers
        for model in provider.models
    ]
    return PriceList(
        version=library_version(),
        providers=[
            ListProvider(
                provider=provider.id,
                name=provider.name,
                urls=list(provider.pricing_urls or ()),
                fallbacks=list(provider.fallback_model_providers or ()),
                model_match=None if provider.model_match is None else _clause(provider.model_match),
            )
            for provider in providers
        ],
        models=models,
    )


def _standard(prices: Any) -> list[DatedPrices]:
    if not isinstance(prices, list):
        return [DatedPrices(prices=_prices(prices))]
    dated = []
    for item in prices:
        constraint = item.constraint
        if constraint is None:
            dated.append(DatedPrices(prices=_prices(item.prices)))
        elif hasattr(constraint, "start_date"):
            dated.append(DatedPrices(prices=_prices(item.prices), start_us=_day_us(constraint.start_date)))
        else:
            dated.append(
                DatedPrices(
                    prices=_prices(item.prices),
                    minute_from=_minute(constraint.start_time),
                    minute_to=_minute(constraint.end_time) or MINUTES_A_DAY,
                )
            )
    return dated


def _variant(variant: Any) -> Variant:
    constraint = variant.constraint
    start = None if constraint is None else _day_us(constraint.start_date)
    return Variant(when=dict(variant.when), prices=_prices(variant.prices), start_us=start)


def _prices(model_price: Any) -> Prices:
    prices: Prices = {}
    for key, value in vars(model_price).items():
        if value is None:
            continue
        if key in _TOKEN_KEYS:
            prices[_TOKEN_KEYS[key]] = _steps(value, per_mtok)
        elif key in _FEE_KEYS:
            name, per = _FEE_KEYS[key]
            prices.setdefault(name, _steps(value, lambda usd, per=per: per_unit(usd) / per))
    return prices


def _steps(value: Any, convert: Any) -> Steps:
    if isinstance(value, Decimal):
        return ((-1, convert(value)),)
    return ((-1, convert(value.base)), *((tier.start, convert(tier.price)) for tier in value.tiers))


def _clause(clause: Any) -> Clause:
    kind = type(clause).__name__
    if kind == "ClauseOr":
        return ["or", [_clause(part) for part in clause.or_]]
    if kind == "ClauseAnd":
        return ["and", [_clause(part) for part in clause.and_]]
    short, field = {
        "ClauseEquals": ("eq", "equals"),
        "ClauseStartsWith": ("sw", "starts_with"),
        "ClauseEndsWith": ("ew", "ends_with"),
        "ClauseContains": ("ct", "contains"),
        "ClauseRegex": ("re", "regex"),
    }[kind]
    text: str = getattr(clause, field)
    return [short, text if short == "re" else text.lower()]


def _day_us(day: Any) -> int:
    return (int(day.toordinal()) - 719_163) * 86_400_000_000


def _minute(moment: Any) -> int:
    return int(moment.hour * 60 + moment.minute)
