"""Rules by what they name, so that a long table of single models costs a look-up and not a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.pricing.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable


class RuleIndex(msgspec.Struct, frozen=True):
    """Rules of single models by (provider, model), and those of families, each with its place in the files."""

    single: dict[tuple[str, str], list[tuple[int, Rule]]]
    general: list[tuple[int, Rule]]

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> RuleIndex:
        single: dict[tuple[str, str], list[tuple[int, Rule]]] = {}
        general: list[tuple[int, Rule]] = []
        for place, rule in enumerate(rules):
            if rule.general or rule.is_glob(rule.provider):
                general.append((place, rule))
            else:
                single.setdefault((rule.provider, rule.model), []).append((place, rule))
        return cls(single, general)

    def of_model(self, provider: str, model: str) -> list[Rule]:
        """The rules that name a model, in the order of their files."""
        found = [*self.single.get((provider, model.lower()), ())]
        found += [(place, rule) for place, rule in self.general if rule.names(provider, model)]
        return [rule for _, rule in sorted(found, key=lambda item: item[0])]
