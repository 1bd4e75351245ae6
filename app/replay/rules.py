"""Prompt-cache rules as dated rows: how a provider matches, how long an entry lives and what a write costs.

The rows stand in `cache_rules.yml`; a finding names the row it used.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, cast, get_args

import yaml

from app.core.errors import InputError

Match = Literal["prefix_tokens", "breakpoint", "best_effort"]
State = Literal["documented", "measured", "disputed"]
_WRITE_CLASSES: Final = ("auto", "5m", "30m", "1h", "12h")


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long an entry lives after its last use and what writing it costs (a multiple of plain input).

    `name` is the cache-write class that its tokens are billed in (5m, 30m, 1h, 12h), or `auto` where writes are free.
    """

    name: str
    seconds: int
    write: float

    @property
    def us(self) -> int:
        return self.seconds * 1_000_000


@dataclass(frozen=True, slots=True)
class CacheRule:
    """One dated row. Tokens, seconds; `valid_to` is exclusive, None is open. `read` is a multiple of plain input."""

    id: str
    providers: tuple[str, ...]
    models: tuple[str, ...]
    valid_from: date
    valid_to: date | None
    match: Match
    granularity: int
    min_tokens: int
    lifetimes: tuple[Lifetime, ...]
    read: float
    ready_s: float
    lookback: int
    max_marks: int
    mark: str
    scope: str
    state: State
    source: str

    @property
    def marked(self) -> bool:
        """True where only marked boundaries are cached."""
        return self.match == "breakpoint"

    def lifetime(self, name: str) -> Lifetime:
        """The lifetime called `name`, else the one a request without a wish gets."""
        return next((one for one in self.lifetimes if one.name == name), self.lifetimes[0])


@dataclass(frozen=True, slots=True)
class CacheRules:
    """All dated rows, of the file of Halve or of one's own."""

    rows: tuple[CacheRule, ...]

    def at(self, provider: str | None, model_id: str | None, at_us: int | None) -> CacheRule | None:
        """The rule of a model on a day (microseconds UTC; None: today's newest), or None where no row speaks of it.

        The longest matching pattern wins, then the later `valid_from`.
        """
        name = (model_id or "").rsplit("/", 1)[-1].removeprefix("ft:")
        day = None if at_us is None else datetime.fromtimestamp(at_us / 1e6, UTC).date()
        found = [
            (len(pattern), row.valid_from, row)
            for row in self.rows
            if provider in row.providers and (day is None or _holds(row, day))
            for pattern in row.models
            if fnmatchcase(name, pattern)
        ]
        return max(found, key=lambda one: one[:2])[2] if found else None


def _holds(row: CacheRule, day: date) -> bool:
    return row.valid_from <= day and (row.valid_to is None or day < row.valid_to)


@cache
def load_rules() -> CacheRules:
    """The rules that come with Halve."""
    path = resources.files("app.replay").joinpath("cache_rules.yml")
    return parse_rules(path.read_text(encoding="utf-8"), "cache_rules.yml")


def parse_rules(text: str, name: str) -> CacheRules:
    """Rules from YAML text of the documented shape.

    Raises:
        InputError: a row lacks a field or holds a value that no rule can have; the message names row and field.
    """
    document = yaml.safe_load(text)
    if not isinstance(document, dict) or not isinstance(document.get("rules"), list):
        raise InputError(f"{name} has no list `rules`, so no cache rule could be read.")
    return CacheRules(tuple(_row(raw, f"{name}, rule {number}") for number, raw in enumerate(document["rules"], 1)))


def _row(raw: dict[str, Any], where: str) -> CacheRule:
    try:
        row = CacheRule(
            id=str(raw["id"]),
            providers=tuple(raw["providers"]),
            models=tuple(raw["models"]),
            valid_from=raw["valid_from"],
            valid_to=raw.get("valid_to"),
            match=cast("Match", raw["match"]),
            granularity=int(raw["granularity"]),
            min_tokens=int(raw["min_tokens"]),
            lifetimes=tuple(
                Lifetime(str(one["name"]), int(one["seconds"]), float(one["write"])) for one in raw["lifetimes"]
            ),
            read=float(raw["read"]),
            ready_s=float(raw.get("ready_s", 0)),
            lookback=int(raw.get("lookback", 0)),
            max_marks=int(raw.get("max_marks", 0)),
            mark=str(raw.get("mark", "")),
            scope=str(raw["scope"]),
            state=cast("State", raw["state"]),
            source=str(raw["source"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: {error!r} is missing or no valid value. Complete the row.") from error
    wrong = [
        field
        for field, fine in {
            "match": row.match in get_args(Match),
            "state": row.state in get_args(State),
            "lifetimes": bool(row.lifetimes) and all(one.name in _WRITE_CLASSES for one in row.lifetimes),
            "max_marks": not row.marked or row.max_marks > 0,
            "granularity": row.granularity > 0,
        }.items()
        if not fine
    ]
    if wrong:
        raise InputError(f"{where} ({row.id}): the value of {', '.join(wrong)} is none of those documented.")
    return row
