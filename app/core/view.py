"""`View`: the whole state of a page, and the URL query it is read from and written to.

Half-open ranges of microseconds UTC, cut in a named zone; a filter is flat and readable; defaults are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

DIMENSIONS: Final = (
    "feature",
    "team",
    "environment",
    "provider",
    "model",
    "account",
    "api_key",
    "user",
    "service_tier",
    "is_batch",
    "source",
    "status",
    "template",
)


@dataclass(frozen=True, slots=True)
class Period:
    """A named range of whole local days: `from_us` included, `to_us` excluded, both microseconds UTC."""

    name: str
    from_us: int
    to_us: int
    zone: str


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition: the dimension is (or is not) one of the values. Several filters are a conjunction."""

    op: Literal["is", "not"]
    dimension: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    period: Period
    compare: Literal["off", "prev"] = "prev"
    by: str = "feature"
    filters: tuple[Filter, ...] = ()
