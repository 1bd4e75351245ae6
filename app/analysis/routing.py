"""Which other models could answer a scope's requests: hard gates first, then what the same tokens are worth there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Option:
    """A model that could answer part of a scope: what it passes, and the list value of that part on both models."""

    row: Mapping[str, Any]
    requests: int
    now_pusd: float
    then_pusd: float
    refused: tuple[str, ...]

    @property
    def cheaper(self) -> float:
        return 1.0 - self.then_pusd / self.now_pusd if self.now_pusd > 0 else 0.0

    @property
    def steps(self) -> int | None:
        """Size classes below the model in use; None where a class is unknown."""
        sizes = self.row["size"], self.row["to_size"]
        return None if None in sizes else sizes[0] - sizes[1]

    def proposable(self) -> bool:
        return self.row["provider"] == self.row["to_provider"] and (self.steps or 0) > 0


def weigh(kinds: Iterable[Mapping[str, Any]], row: Mapping[str, Any]) -> Option:
    """How much of a scope a model may answer, and what that part is worth on either model."""
    requests, now, then = 0, 0.0, 0.0
    refused: list[str] = []
    for kind in kinds:
        reasons = gates(kind, row)
        if reasons:
            refused += [reason for reason in reasons if reason not in refused]
            continue
        values = _value(kind, row, ""), _value(kind, row, "to_")
        if None in values:
            continue
        requests += kind["requests"]
        now += values[0] or 0.0
        then += (values[1] or 0.0) * row["token_ratio"]
    return Option(row, requests, now, then, tuple(refused))


def gates(need: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    """Why a model may not answer such requests; empty where it may. Not knowing is a reason."""
    reasons = []
    longest = (need["longest_prompt"] + need["longest_answer"]) * row["token_ratio"]
    if row["context_window"] is None:
        reasons.append("context not known")
    elif longest > row["context_window"]:
        reasons.append(f"context {longest:.0f} > {row['context_window']}")
    answer = need["longest_answer"] * row["token_ratio"]
    if row["max_output"] is None:
        reasons.append("longest answer not known")
    elif answer > row["max_output"]:
        reasons.append(f"answer {answer:.0f} > {row['max_output']}")
    for wanted, ability, word in (
        ("tools", "tools", "tools"),
        ("images", "vision", "images"),
        ("schema_output", "json_schema", "JSON schema"),
    ):
        if need[wanted] and not row[ability]:
            reasons.append(f"{word} not {'known' if row[ability] is None else 'supported'}")
    return reasons


def _value(kind: Mapping[str, Any], row: Mapping[str, Any], side: str) -> float | None:
    """List value of the tokens in pico-USD, None where a class in use has no rate."""
    total = 0.0
    for name in ("input", "cache_read", "cache_write", "output", "reasoning"):
        tokens, rate = kind[f"tok_{name}"], row[f"{side}r_{name}"]
        if tokens and rate is None:
            return None
        total += tokens * (rate or 0.0)
    return total


def choose(passing: Sequence[Option]) -> Option | None:
    """The smallest step down at the same provider; same family first, then the cheaper one, of equals the newest."""

    def rank(option: Option) -> tuple[bool, int, float]:
        other_family = option.row["family"] != option.row["to_family"]
        return other_family, option.steps or 0, round(1.0 - option.cheaper, 9)

    proposable = [option for option in passing if option.proposable()]
    if not proposable:
        return None
    best = min(rank(option) for option in proposable)
    return max((option for option in proposable if rank(option) == best), key=lambda option: option.row["to_model_id"])
