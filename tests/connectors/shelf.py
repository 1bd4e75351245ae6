"""A store of objects in memory, whose clock a test moves, and pulls from it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ingest.connectors.connector import Errand
from ingest.connectors.object_store import Listed, Place, ShutError, pull_objects
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MINUTE = 60_000_000


@dataclass
class Shelf:
    """What it lists can change while it is read; what is `torn` breaks off, what is `shut` lies in an archive."""

    objects: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    lists: int = 0
    torn: set[str] = field(default_factory=set)
    shut: set[str] = field(default_factory=set)
    before_fetch: Callable[[Listed], None] = lambda one: None

    def put(self, key: str, minute: int, body: bytes = b"{}\n") -> None:
        self.objects[key] = (minute * MINUTE, body)

    def listed(self, prefix: str, start: str) -> Iterator[list[Listed]]:
        self.lists += 1
        for key, (us, body) in sorted(self.objects.items()):
            if key > start:
                yield [Listed(us, key, len(body), str(hash(body)))]

    def fetch(self, one: Listed, to: Path) -> bool:
        self.before_fetch(one)
        if one.key not in self.objects:
            return False
        if one.key in self.shut:
            raise ShutError
        body = self.objects[one.key][1]
        to.write_bytes(body[:-1] if one.key in self.torn else body)
        return True


def plain_errand(scratch: Path, now_us: int = 10**12) -> Errand:
    patience = Patience(attempts=2, sleep=lambda _: None)
    return Errand({}, None, now_us, 0, guard(frozenset()), (), scratch, patience)


def pulled_from(
    shelf: Shelf, errand: Errand, held: Any = None, *, ordered: bool = False
) -> tuple[list[str], Any, str | None]:
    """(names of what was read, the last position, the error that ended the pull)."""
    place = Place("s3", "shelf", "", "", ordered, 60 * MINUTE)
    names: list[str] = []
    position, error = held, None
    try:
        for batch in pull_objects(replace(errand, held=held), shelf, place):
            names += [one.given.removeprefix("s3://shelf/") for one in batch.files]
            position = json.loads(json.dumps(batch.position))
    except Exception as ended:  # noqa: BLE001 - the test looks at what it was
        error = f"{type(ended).__name__}: {ended}"
    return names, position, error
