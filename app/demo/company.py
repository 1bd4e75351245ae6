"""Harbourline, the demo company: freight software, 143 people, one gateway and two provider accounts. All made up."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

T = TypeVar("T")

_FIRST = (
    "mara",
    "jonas",
    "aylin",
    "peter",
    "ines",
    "oskar",
    "lena",
    "tomas",
    "greta",
    "milan",
    "noor",
    "felix",
    "arun",
)
_LAST = ("klein", "okafor", "lindt", "moreau", "sato", "brandt", "novak", "peretz", "castell", "whitlock", "duarte")
STAFF = tuple(f"{first}.{last}@harbourline.example" for last in _LAST for first in _FIRST)

CITIES = (
    "Hamburg", "Rotterdam", "Gdansk", "Lyon", "Turin", "Bilbao", "Antwerp", "Malmo", "Leipzig", "Porto", "Vienna",
    "Cork", "Aarhus", "Genoa", "Basel", "Riga", "Trieste", "Ghent", "Oslo", "Tallinn",
)  # fmt: skip
GOODS = (
    "ceramic tiles", "bicycle frames", "spare pumps", "frozen berries", "office chairs", "steel coils", "wine crates",
    "printed catalogues", "solar inverters", "textile rolls", "machine tools", "coffee sacks", "garden furniture",
    "lab glassware", "paper reels", "brake discs",
)  # fmt: skip
PRODUCTS = ("Harbour Desk", "Harbour Track", "Harbour Customs", "Harbour Rates", "Harbour Yard", "Harbour Connect")
COMPANIES = tuple(
    f"{a} {b}"
    for a in ("Nordwind", "Aldermann", "Casa Verde", "Brightwater", "Tessel", "Kirchhoff", "Lumen", "Ostara", "Pelikan")
    for b in ("Logistics", "Trading", "Foods", "Werkzeuge", "Imports")
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from, as the application tells the gateway; None where it tells nothing."""

    feature: str | None = None
    team: str | None = None
    environment: str | None = None
    key_alias: str | None = None
    user: str | None = None
    session: str | None = None

    @property
    def key_hash(self) -> str:
        """The gateway's own hash of the virtual key."""
        return sha256((self.key_alias or "shared").encode()).hexdigest()


def pick(rng: Random, options: Sequence[T]) -> T:
    """One of the options; quicker than `choice`, and equal on every Python version."""
    return options[int(rng.random() * len(options))]


def between(rng: Random, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    return low + int(rng.random() * (high - low + 1))


def reference(rng: Random) -> str:
    """A consignment number."""
    return f"HL-{between(rng, 100, 999)}-{between(rng, 100000, 999999)}"
