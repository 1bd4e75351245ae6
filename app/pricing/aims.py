"""What rules aim at: the models that they price by name, and a user's words for a model in ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

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
        if rule.op == "set" and not is_glob(rule.model) and not is_glob(rule.provider)
    ]


def is_glob(text: str) -> bool:
    """Whether a name stands for several."""
    return any(mark in text for mark in "*?[")


def aimed(rule: Rule, matcher: Matcher) -> Rule:
    """A rule of the user's, its provider and model in our names where it names one model."""
    provider = rule.provider if is_glob(rule.provider) else (matcher.provider(rule.provider) or rule.provider)
    if is_glob(rule.model):
        return msgspec.structs.replace(rule, provider=provider)
    match = matcher.find(provider, rule.model)
    if match is None:
        return msgspec.structs.replace(rule, provider=provider)
    return msgspec.structs.replace(rule, provider=match.provider, model=match.price_model.lower())
