"""Compiling the price book: list prices, our overlay and the user's file into one cached, versioned value.

The cache is keyed by the library's release, both files' bytes and this compiler's revision, so a start reads one file
and never imports the library.
"""

from __future__ import annotations

import os
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from app.pricing import listprices, pricefile, rules
from app.pricing.currency import Exchange
from app.pricing.fees import Fee
from app.pricing.listprices import PriceList
from app.pricing.rules import Overlay

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.pricing.rates import RateRow

REVISION: Final = 6
"""Raised when this code compiles the same inputs into other rates, or resolves names in another way."""

KEPT_BOOKS: Final = 8
"""Compiled books that stay for the next start: a service and a few runs with other price files."""


class Sources(msgspec.Struct, frozen=True):
    """All inputs of a book, as read; `version` names the table compiled from them."""

    version: str
    price_list: PriceList
    overlay: Overlay
    own: Overlay
    fees: list[Fee] = msgspec.field(default_factory=list)
    exchanges: list[Exchange] = msgspec.field(default_factory=list)


def read_sources(
    cache_dir: Path | None, user_file: Path | None, imported: Path | None = None
) -> tuple[str, Sources | None, Overlay, list[Fee]]:
    """The cache key, the cached sources if any, and the user's rules and fees (always read, so errors are told)."""
    own_bytes = b"" if user_file is None else pricefile.read_file(user_file)
    own = Overlay() if user_file is None else pricefile.parse(user_file.name, own_bytes, "contract")
    fees = [] if user_file is None else pricefile.fees(user_file.name, own_bytes)
    ours = [content for _, content in pricefile.bundled()]
    taken = b"" if imported is None else pricefile.read_file(imported)
    digest = blake2b(digest_size=12)
    for part in (str(REVISION).encode(), listprices.library_version().encode(), *ours, taken, own_bytes):
        digest.update(len(part).to_bytes(8, "big") + part)
    key = digest.hexdigest()
    return key, None if cache_dir is None else _cached(cache_dir, key), own, fees


def read_exchanges(user_file: Path | None) -> list[Exchange]:
    """The dated exchange rates of the user's file: bills come in other currencies too."""
    return [] if user_file is None else pricefile.exchanges(user_file.name, pricefile.read_file(user_file))


def fresh_sources(
    own: Overlay, imported: Path | None = None, fees: Sequence[Fee] = (), *, history: bool = True
) -> Sources:
    """Sources read from the library, our rules and imported ones; the version is filled in by the book.

    Imported rules come last: they were taken on purpose. Without `history` only the overlay of corrections is read.
    """
    parts = [pricefile.parse(name, content, "list") for name, content in pricefile.bundled()[0 if history else 1 :]]
    if imported is not None:
        given = pricefile.parse(imported.name, pricefile.read_file(imported), "list")
        taken = [msgspec.structs.replace(rule, taken=True) for rule in given.rules]
        parts.append(msgspec.structs.replace(given, rules=taken))
    return Sources(version="", price_list=listprices.read(), overlay=rules.merged(parts), own=own, fees=[*fees])


def store(cache_dir: Path, key: str, sources: Sources) -> None:
    """Keep sources for the next start; a full or read-only disk only costs that start its second."""
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=cache_dir, prefix="prices-")
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.msgpack.encode(sources))
        Path(name).replace(_file(cache_dir, key))
        books = sorted(cache_dir.glob("prices-*.msgpack"), key=lambda path: path.stat().st_mtime_ns)
        for old in books[:-KEPT_BOOKS]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def version_of(rows: Iterable[RateRow], sources: Sources) -> str:
    """The price-book version: a hash over every row of the compiled table, the user's rules and how names match."""
    digest = blake2b(digest_size=8)
    digest.update(str(REVISION).encode())
    digest.update(msgspec.json.encode([(item.provider, item.model, item.match) for item in sources.price_list.models]))
    digest.update(msgspec.json.encode((sources.own, sources.overlay.aliases, sources.overlay.providers)))
    for row in rows:
        rates = ",".join("" if rate is None else format(rate.normalize(), "f") for rate in row.rates.values())
        limits = f"{row.valid_from_us},{row.valid_to_us},{row.tier_gt},{row.tier_le}"
        digest.update(f"{row.price_row}|{limits}|{rates}\n".encode())
    return digest.hexdigest()


def _file(cache_dir: Path, key: str) -> Path:
    return cache_dir / f"prices-{key}.msgpack"


def _cached(cache_dir: Path, key: str) -> Sources | None:
    try:
        return msgspec.msgpack.decode(_file(cache_dir, key).read_bytes(), type=Sources)
    except (OSError, msgspec.MsgspecError):
        return None
