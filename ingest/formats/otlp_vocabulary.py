"""What instrumentations call things: `otlp_vocabulary.yml`, loaded once, and the reading of attributes through it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

Names = dict[str, tuple[str, int]]  # attribute -> (meaning, rank among the names of this meaning)

ABOVE: Final = "above"
NONE: Final = "none"
_LAST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor whose counters have names of their own and stand beside each other."""

    span: str
    provider: str
    names: Names


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The file's content, turned round for reading: from attribute to meaning."""

    names: Names
    resource: Names
    tag_prefixes: tuple[str, ...]
    marks: tuple[str, ...]
    operations: dict[str, str]
    providers: dict[str, str]
    beside: tuple[Vendor, ...]


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary that ships with Halve."""
    given = yaml.safe_load(resources.files("ingest.formats").joinpath("otlp_vocabulary.yml").read_text("utf-8"))
    return Vocabulary(
        names=_turned(given["names"]),
        resource=_turned(given["resource"]),
        tag_prefixes=tuple(given["tag_prefixes"]),
        marks=tuple(given["marks"]),
        operations=given["operations"],
        providers=given["providers"],
        beside=tuple(Vendor(one["span"], one["provider"], _turned(one["names"])) for one in given["beside"]),
    )


def _turned(names: Mapping[str, list[str]]) -> Names:
    return {name: (meaning, rank) for meaning, listed in names.items() for rank, name in enumerate(listed)}


def meanings(attributes: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """What the attributes say, by meaning; of several names of one meaning the first in the vocabulary wins."""
    found: dict[str, Any] = {}
    ranks: dict[str, int] = {}
    for name, value in attributes.items():
        place = names.get(name)
        if place is None or value is None or value == "":
            continue
        meaning, rank = place
        if rank < ranks.get(meaning, _LAST):
            found[meaning] = value
            ranks[meaning] = rank
    return found
