"""What rules aim at: the models that they price by name, and a user's words for a model in ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.pricing.rules import Alias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.pricing.match import Matcher
    from app.pricing.rules import Overlay, Rule


def set_models(overlays: Iterable[Overlay]) -> list[tuple[str, str]]:
    """Models that rules price by name, whether the list knows them or not."""
    return [
        (rule.provider, rule.model)
        for overlay in overlays
        for rule in overlay.rules
        if rule.op == "set" and not rule.general and not rule.is_glob(rule.provider)
    ]


def literal_names(own: Overlay, listed: Matcher) -> list[Alias]:
    """Names with brackets (`m[1m]`) that the user prices apart from the listed model that they otherwise mean."""
    found = []
    for rule in own.rules:
        if "[" not in rule.model or rule.general or rule.is_glob(rule.provider) or not _one_word(rule.model):
            continue
        provider = listed.provider(rule.provider)
        match = listed.find(provider, rule.model)
        if match is not None and match.price_model.lower() != rule.model:
            found.append(Alias(provider, rule.model, match.price_provider, match.price_model, {"name": rule.model}))
    return found


def _one_word(name: str) -> bool:
    return "," not in name and len(name.split()) == 1


def aimed(rule: Rule, matcher: Matcher) -> Rule:
    """A rule of the user's, its provider and model in our names where it names one model."""
    provider = rule.provider if rule.is_glob(rule.provider) else (matcher.provider(rule.provider) or rule.provider)
    if rule.general:
        return msgspec.structs.replace(rule, provider=provider)
    match = matcher.find(provider, rule.model)
    if match is None:
        return msgspec.structs.replace(rule, provider=provider)
    found = msgspec.structs.replace(rule, provider=match.provider, model=match.price_model.lower())
    if ("name", rule.model) in match.ctx and "[" in rule.model:
        return msgspec.structs.replace(found, ctx={**(rule.ctx or {}), "name": rule.model})
    return found
