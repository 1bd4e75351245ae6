"""`PriceBook`: every rate, dated and versioned, and the answer to "what does this request cost per token, and why"."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from app.pricing import compile as compiling
from app.pricing import context as ctx_of
from app.pricing.aims import aimed, literal_names, set_models
from app.pricing.currency import REPORTING
from app.pricing.frames import ALIAS_SCHEMA, PAIR_COLUMNS, rates_frame
from app.pricing.match import Match, Matcher
from app.pricing.rows import rate_key
from app.pricing.rule_index import RuleIndex
from app.pricing.timetable import rows_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from app.pricing.context import Context
    from app.pricing.fees import Fee
    from app.pricing.listprices import ListModel
    from app.pricing.rates import RateRow
    from app.pricing.rules import Rule


@dataclass(frozen=True, slots=True)
class Rate:
    """The rates of one moment: pico-USD per token or unit by column name (`r_input`, ...); None is unknown."""

    price_row: str
    rates: Mapping[str, Decimal | None]
    source: str
    status: str


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A distinct pair with its priced model and both contexts (own terms and list)."""

    match: Match
    ctx: Context
    list_ctx: Context


@dataclass(frozen=True, slots=True)
class PriceBook:
    """An immutable set of prices with one version. Build it with `load`."""

    version: str
    sources: compiling.Sources
    matcher: Matcher
    _models: dict[tuple[str, str], ListModel]
    _own_rules: list[Rule]
    _rules: RuleIndex
    _rows: dict[tuple[str, str, str], list[RateRow]] = field(default_factory=dict)
    _found: dict[tuple[str, str], Match | None] = field(default_factory=dict)

    @classmethod
    def load(cls, cache_dir: Path | None, user_file: Path | None = None, imported: Path | None = None) -> PriceBook:
        """The book of the installed list, our rules, imported ones and the user's file; cached in `cache_dir`.

        Raises:
            InputError: the user's file is wrong; the message names line and field.
        """
        key, cached, own, fees = compiling.read_sources(cache_dir, user_file, imported)
        exchanges = compiling.read_exchanges(user_file)
        if cached is not None:
            return cls.of(msgspec.structs.replace(cached, exchanges=exchanges))
        fresh = compiling.fresh_sources(own, imported, fees)
        book = cls.of(msgspec.structs.replace(fresh, exchanges=exchanges))
        if cache_dir is not None:
            compiling.store(cache_dir, key, book.sources)
        return book

    @classmethod
    def of(cls, sources: compiling.Sources) -> PriceBook:
        """A book of sources already read; compiles the table for its version where that is not known yet."""
        models = {(item.provider, item.model): item for item in sources.price_list.models}
        overlays = (sources.own, sources.overlay)
        names = {**sources.overlay.providers, **sources.own.providers}
        aliases = [*sources.own.aliases, *sources.overlay.aliases]
        ours = dict.fromkeys(set_models([sources.overlay]))
        listed = Matcher(sources.price_list.providers, sources.price_list.models, aliases, names, ours)
        added = [
            (provider, model)
            for provider, model in set_models(overlays)
            if (provider, model) in ours or listed.find(provider, model) is None
        ]
        aliases = [*aliases, *literal_names(sources.own, listed)]
        matcher = Matcher(sources.price_list.providers, sources.price_list.models, aliases, names, added)
        own_rules = [aimed(rule, matcher) for rule in sources.own.rules]
        index = RuleIndex.of(sources.overlay.rules)
        book = cls(sources.version, sources, matcher, models, own_rules, index)
        if sources.version:
            return book
        version = compiling.version_of(book._all_rows(), sources)
        dated = msgspec.structs.replace(sources, version=version)
        return cls(version, dated, matcher, models, own_rules, index, book._rows)

    @property
    def by_account(self) -> bool:
        """Whether any price depends on the account; where not, accounts need not be told apart."""
        return any(rule.account is not None for rule in self._own_rules)

    @property
    def own_terms(self) -> bool:
        """Whether the user gave rates or discounts, so that contract and list prices differ."""
        return bool(self._own_rules)

    @property
    def fees(self) -> Sequence[Fee]:
        """Fixed fees of the user's file, in its order."""
        return self.sources.fees

    def usd_of(self, currency: str, at_us: int) -> Decimal | None:
        """What one unit of a currency was worth in USD by the user's file; None where that says nothing."""
        if currency == REPORTING:
            return Decimal(1)
        held = [one for one in self.sources.exchanges if one.currency == currency and one.from_us <= at_us]
        return max(held, key=lambda one: one.from_us).usd if held else None

    @property
    def list_source(self) -> str:
        return f"genai-prices {self.sources.price_list.version}"

    @property
    def rates(self) -> pl.DataFrame:
        """The whole compiled table (columns `RATES_SCHEMA`) of standard contexts and every listed variant."""
        return rates_frame(self._all_rows())

    def resolve(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """One row a distinct pair (columns `PAIR_COLUMNS`, NULLs as ''), with its model, context and join keys.

        Unresolved pairs have NULL keys and keep the model as sent for their `model_id`. Columns: `ALIAS_SCHEMA`.
        """
        return pl.DataFrame(
            [self._alias_row(pair) for pair in pairs.select(PAIR_COLUMNS).unique(maintain_order=True).iter_rows()],
            schema=ALIAS_SCHEMA,
            orient="row",
        )

    def rates_for(self, aliases: pl.DataFrame) -> pl.DataFrame:
        """The rate rows (columns `RATES_SCHEMA`) behind the keys of resolved pairs."""
        resolved = aliases.filter(pl.col("rate_key").is_not_null())
        wanted = resolved.select("provider_id", "price_provider", "price_model", "ctx").unique(maintain_order=True)
        rows: dict[int, list[RateRow]] = {}
        for provider, price_provider, model, ctx in wanted.iter_rows():
            context = ctx_of.parse(ctx)
            for one in (context, _without_terms(context)):
                key = rate_key(price_provider, model, ctx_of.text(one))
                if key not in rows:
                    rows[key] = self._rows_of(provider, price_provider, model, one)
        return rates_frame(row for group in rows.values() for row in group)

    def rate(
        self,
        provider: str | None,
        model_id: str,
        *,
        at_us: int,
        ctx: str = "",
        prompt_tokens: int = 0,
        account: str | None = None,
    ) -> Rate | None:
        """The rates (own terms included) of a model at a time, in a context such as `batch`; None where unpriced."""
        match = self.find(provider, model_id)
        if match is None:
            return None
        resolved = self._with_terms(match, {**dict(match.ctx), **ctx_of.parse(ctx)}, account)
        for row in self._rows_of(match.provider, match.price_provider, match.price_model, resolved.ctx):
            if row.holds(at_us, prompt_tokens):
                return Rate(row.price_row, row.rates, row.source, row.status)
        return None

    def rows_of(self, provider: str | None, model: str) -> list[RateRow]:
        """Every row of a model, all contexts, for `halve prices show`; empty where the name is unknown."""
        match = self.matcher.find(provider, model)
        if match is None:
            return []
        rows: list[RateRow] = []
        for context in self._known_contexts(match.price_provider, match.price_model):
            resolved = self._with_terms(match, {**dict(match.ctx), **context}, None)
            rows += self._rows_of(match.provider, match.price_provider, match.price_model, resolved.ctx)
        return rows

    def find(self, provider: str | None, model: str) -> Match | None:
        """Which priced model a name means, as the matcher says, remembered."""
        key = (provider or "", model)
        if key not in self._found:
            self._found[key] = self.matcher.find(provider, model)
        return self._found[key]

    def listed(self, provider: str | None, model: str, ctx: str = "") -> tuple[Match | None, list[RateRow]]:
        """Which model a name means and its rows at list price in a context; no rows where that is unpriced."""
        match = self.find(provider, model)
        if match is None:
            return None, []
        context = self._with_terms(match, {**dict(match.ctx), **ctx_of.parse(ctx)}, None).list_ctx
        return match, self._rows_of(match.provider, match.price_provider, match.price_model, context)

    def lists(self, provider: str, model: str) -> bool:
        """Whether the price list has a model under exactly this name."""
        return (provider, model) in self._models

    def models(self) -> list[tuple[str, str]]:
        """Every (provider, model) that has a price of its own, sorted."""
        own = {(rule.provider, rule.model) for rule in self._own_rules if rule.op == "set" and not rule.general}
        return sorted({*self._listed_models(), *own})

    def _listed_models(self) -> set[tuple[str, str]]:
        """Models of the list and those that only rules price, each in the list's own spelling."""
        spelt = {(provider, model.lower()) for provider, model in self._models}
        ruled = (key for key in set_models([self.sources.overlay]) if key not in spelt)
        return {*self._models, *ruled}

    def model_names(self) -> list[str]:
        """Every model name that has a price of its own, for suggestions."""
        return sorted({model.lower() for _, model in self._models} | {rule.model for rule in self._own_rules})

    def _alias_row(self, pair: tuple[Any, ...]) -> tuple[Any, ...]:
        provider, model, service_tier, is_batch, region, price_context, account = pair
        extra = _json_object(price_context)
        context = ctx_of.of_request(is_batch=bool(is_batch), service_tier=service_tier, region=region, extra=extra)
        base_model = extra.get("base_model")
        match = self.matcher.find(provider, model, base_model, extra.get("deployment"))
        given = tuple("" if value is None else value for value in pair)
        if match is None:
            return (
                *given,
                self.matcher.provider(provider),
                _unmatched(self.matcher.provider(provider), extra.get("deployment")) or model or None,
                *[None] * 5,
                False,
                "unresolved",
                None,
                None,
            )
        resolved = self._with_terms(match, {**dict(match.ctx), **context}, account or None)
        ctx, list_ctx = ctx_of.text(resolved.ctx), ctx_of.text(resolved.list_ctx)
        rows = self._rows_of(match.provider, match.price_provider, match.price_model, resolved.ctx)
        any_us, any_prompt = _anywhere(rows)
        key = rate_key(match.price_provider, match.price_model, ctx)
        list_key = None if ctx == list_ctx else rate_key(match.price_provider, match.price_model, list_ctx)
        return (
            *given,
            match.provider,
            match.price_model,
            match.price_provider,
            match.price_model,
            ctx,
            key,
            list_key,
            match.own,
            match.rule,
            any_us,
            any_prompt,
        )

    def _with_terms(self, match: Match, context: Context, account: str | None) -> _Resolved:
        """A context cut to what some rule asks for, with the reseller and the user's own terms marked."""
        listed = self._list_rules(match.price_provider, match.price_model)
        own = [rule for rule in self._own_rules if rule.names(match.provider, match.price_model)]
        kept = ctx_of.selectors(context)
        for name in ("geo", "region", "platform", "deployment", "search_context", "name"):
            value = context.get(name)
            asked = {(rule.ctx or {}).get(name) for rule in (*listed, *own)}
            named = {one for text in asked if text is not None for one in text.split("|")}
            if value is not None and (value in named or "any" in named):
                kept[name] = value if value in named else "any"
        if "region" in kept:
            kept.pop("platform", None)  # the place says more
        if not match.own:
            kept["via"] = match.provider
        terms: Context = {}
        if any(rule.account is None for rule in own):
            terms["contract"] = "yes"
        if account is not None and any(rule.account is not None and rule.holds_for(account) for rule in own):
            terms.update(contract="yes", account=account)
        return _Resolved(match, {**kept, **terms}, kept)

    def _list_rules(self, provider: str, model: str) -> list[Rule]:
        return self._rules.of_model(provider, model)

    def _rows_of(self, serving: str, provider: str, model: str, context: Context) -> list[RateRow]:
        key = (provider, model, ctx_of.text(context))
        if key not in self._rows:
            own = [rule for rule in self._own_rules if rule.names(serving, model)] if "contract" in context else []
            self._rows[key] = rows_for(
                provider,
                model,
                self._models.get((provider, model)),
                [*self._list_rules(provider, model), *own],
                context,
                list_source=self.list_source,
                confirmed_to_us=self.sources.overlay.confirmed_to_us,
            )
        return self._rows[key]

    def _known_contexts(self, provider: str, model: str) -> list[Context]:
        listed = self._models.get((provider, model))
        contexts: list[Context] = [{}]
        if listed is not None:
            contexts += [dict(variant.when) for variant in listed.variants if variant.prices]
        for rule in self._list_rules(provider, model):
            asked = rule.ctx or {}
            if asked and "via" not in asked:
                contexts.append(dict(asked))
        return [one for index, one in enumerate(contexts) if one not in contexts[:index]]

    def _all_rows(self) -> Iterator[RateRow]:
        for provider, model in sorted(self._listed_models()):
            for context in self._known_contexts(provider, model):
                yield from self._rows_of(provider, provider, model, context)
        own = {(rule.provider, rule.model) for rule in self._own_rules if not rule.general}
        for provider, model in sorted(own):
            for row in self.rows_of(provider, model):
                if "contract" in ctx_of.parse(row.ctx):
                    yield row


def _unmatched(provider: str | None, deployment: str | None) -> str | None:
    """The Azure deployment that nobody mapped to a model: what the user has to name, so it stands for the model."""
    named = provider == "azure" and deployment and not ctx_of.is_deployment_type(deployment)
    return deployment if named else None


def _without_terms(context: Context) -> Context:
    return {name: value for name, value in context.items() if name not in ctx_of.TERMS}


def _anywhere(rows: list[RateRow]) -> tuple[int | None, int | None]:
    """A time at which any row may be read because all hold always, and a prompt length likewise; None where not."""
    times = {(row.valid_from_us, row.minute_from, row.weekday_from) for row in rows}
    tiers = {row.tier_gt for row in rows}
    return (
        next(iter(times))[0] if len(times) == 1 else None,
        0 if len(tiers) == 1 else None,
    )


def _json_object(text: str | None) -> dict[str, str]:
    if not text:
        return {}
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {}
    return (
        {str(key): str(value) for key, value in found.items() if value is not None} if isinstance(found, dict) else {}
    )
