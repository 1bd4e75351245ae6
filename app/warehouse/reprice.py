"""Figures of stored requests found anew: what would change, and inside the writer's transaction the change itself.

Where the new figures come from is a `Source`: a price book, or the ledger itself for an earlier version. Work goes in
slices of time, and in pieces of a slice, so that memory is bounded whatever the range.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from app.core.view import local_date, zone_info
from app.warehouse import rollup
from app.warehouse.merge import known_state, own_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.warehouse.merge import Pricer
    from app.warehouse.store import Session

SLICE_ROWS: Final = 200_000
PIECE_ROWS: Final = 100_000

_REQUESTS: Final = "ledger_usage"
_PRICED: Final = "ledger_priced"
_FRESH: Final = "ledger_fresh"
_PARTS: Final = "ledger_parts"
_FRESH_PARTS: Final = "ledger_fresh_parts"
_PARTS_CHANGED: Final = "ledger_parts_changed"
_CHANGED: Final = "ledger_changed"
_IMAGES: Final = "ledger_images"
_TABLES: Final = (_PARTS_CHANGED, _CHANGED)


@dataclass(frozen=True, slots=True)
class Slice:
    """A range [from_us, to_us) of time and how many requests start in it; one from 0 holds those without a time."""

    from_us: int
    to_us: int
    requests: int


@dataclass(frozen=True, slots=True)
class Change:
    """What changes for one local day (None: without a time), model and reason (query `ledger.changed`).

    Sums are over the known costs of its requests in pico-USD, None where none is known.
    """

    day: str | None
    model_id: str | None
    reason: str
    requests: int
    before_pusd: int | None
    after_pusd: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Requests looked at, how many of them change, and the sums of all known costs before and after in pico-USD.

    `passed_over` are those whose earlier figures no longer fit, because a fuller log has replaced the call.
    """

    requests: int = 0
    changed: int = 0
    passed_over: int = 0
    priced_before: int = 0
    priced_after: int = 0
    before_pusd: int = 0
    after_pusd: int = 0
    changes: tuple[Change, ...] = ()

    @property
    def known_before_pusd(self) -> int | None:
        """The sum before; None where there are requests and none of them had a cost."""
        return self.before_pusd if self.priced_before or not self.requests else None

    @property
    def known_after_pusd(self) -> int | None:
        """The sum after; None where there are requests and none of them has a cost."""
        return self.after_pusd if self.priced_after or not self.requests else None


class Source(Protocol):
    """Where new figures come from."""

    def find(self, session: Session) -> int:
        """Make `ledger_fresh` (the columns of `pricing.charged`) and `ledger_parts_changed` for `ledger_usage`.

        Returns how many requests had to be passed over.
        """


@dataclass(frozen=True, slots=True)
class PricedBy:
    """The figures that a price book gives."""

    pricer: Pricer

    def find(self, session: Session) -> int:
        self.pricer.prepare(session, _REQUESTS)
        self.pricer.price(session, _REQUESTS, _PRICED)
        parts = session.frame("ledger.parts", {"requests": _REQUESTS})
        if parts.is_empty():
            session.execute("ledger.no_parts_changed", {"into": _PARTS_CHANGED})
        else:
            session.register(_PARTS, parts)
            self.pricer.price_parts(session, _PARTS, _REQUESTS, _PRICED, _FRESH_PARTS)
            session.execute("ledger.parts_changed", {"fresh": _FRESH_PARTS, "into": _PARTS_CHANGED})
            session.unregister(_PARTS)
        session.execute("pricing.charged", {"priced": _PRICED, "requests": _REQUESTS, "into": _FRESH})
        return 0


@dataclass(frozen=True, slots=True)
class AsOf:
    """The figures as they stood after a version of the ledger; 0 is what requests were priced at when taken in."""

    version: int

    def find(self, session: Session) -> int:
        session.execute("ledger.images", {"requests": _REQUESTS, "into": _IMAGES}, version=self.version)
        session.execute("ledger.same_call", {"images": _IMAGES, "into": _FRESH})
        session.execute("ledger.part_images", {"fresh": _FRESH, "into": _FRESH_PARTS}, version=self.version)
        session.execute("ledger.parts_changed", {"fresh": _FRESH_PARTS, "into": _PARTS_CHANGED})
        return int(session.rows("ledger.replaced_calls", {"images": _IMAGES})[0][0])


def slices(session: Session, from_us: int, to_us: int, *, most: int = SLICE_ROWS) -> list[Slice]:
    """[from_us, to_us) cut at the borders of roll-up buckets into slices of about `most` requests, in order of time."""
    width = rollup.bucket(session) or rollup.HOUR_US
    found: list[Slice] = []
    start, held = from_us, 0
    for at_us, requests in session.rows("ledger.buckets", from_us=from_us, to_us=to_us, bucket_us=width):
        here = max(int(at_us), from_us)
        if held and (held + requests > most or start == 0):
            found.append(Slice(start, here, held))
            start, held = here, 0
        held += int(requests)
    if held:
        found.append(Slice(start, to_us, held))
    return found


def compare(session: Session, source: Source, span: Slice, zone: str) -> Difference:
    """What the figures of a source would change in a slice. Run it inside `Warehouse.trying()`."""
    return _pieces(session, source, span, zone, None)


def replace(session: Session, source: Source, span: Slice, zone: str, version: int) -> Difference:
    """Put the figures of a source into a slice, keep those that stood under `version`, fill the roll-ups of its hours.

    Run it inside `Warehouse.writing()`; doing it twice changes nothing more.
    """
    done = _pieces(session, source, span, zone, version)
    if done.changed and rollup.bucket(session) is not None:
        rollup.rebuild(session, from_us=span.from_us, to_us=span.to_us)
    return done


def added(parts: Iterable[Difference]) -> Difference:
    """The differences of slices that share no request, as one; changes of one day, model and reason together."""
    total = Difference()
    sums: dict[tuple[str | None, str | None, str], list[Change]] = defaultdict(list)
    for one in parts:
        total = Difference(
            total.requests + one.requests,
            total.changed + one.changed,
            total.passed_over + one.passed_over,
            total.priced_before + one.priced_before,
            total.priced_after + one.priced_after,
            total.before_pusd + one.before_pusd,
            total.after_pusd + one.after_pusd,
        )
        for change in one.changes:
            sums[change.day, change.model_id, change.reason].append(change)
    changes = [
        Change(*key, sum(item.requests for item in rows), _known(rows, "before_pusd"), _known(rows, "after_pusd"))
        for key, rows in sums.items()
    ]
    changes.sort(key=lambda item: (item.day or "", item.model_id or "", item.reason))
    return Difference(
        total.requests,
        total.changed,
        total.passed_over,
        total.priced_before,
        total.priced_after,
        total.before_pusd,
        total.after_pusd,
        tuple(changes),
    )


def _known(rows: list[Change], name: str) -> int | None:
    known = [value for row in rows if (value := getattr(row, name)) is not None]
    return sum(known) if known else None


def _pieces(session: Session, source: Source, span: Slice, zone: str, version: int | None) -> Difference:
    pieces = max(1, -(-span.requests // PIECE_ROWS))
    return added(_piece(session, source, span, zone, version, piece, pieces) for piece in range(pieces))


def _piece(
    session: Session, source: Source, span: Slice, zone: str, version: int | None, piece: int, pieces: int
) -> Difference:
    usage = session.frame("ledger.usage", from_us=span.from_us, to_us=span.to_us, piece=piece, pieces=pieces)
    if usage.is_empty():
        return Difference()
    session.register(_REQUESTS, usage.with_columns(cost_state=known_state(), warnings=own_warnings()))
    passed_over = source.find(session)
    session.execute(
        "ledger.changed", {"requests": _REQUESTS, "fresh": _FRESH, "parts": _PARTS_CHANGED, "into": _CHANGED}
    )
    requests, priced_before, priced_after, before, after, changed, touched = (
        int(value) for value in session.rows("ledger.totals", {"requests": _REQUESTS, "changed": _CHANGED})[0]
    )
    changes = _changes(session, zone) if changed else ()
    if version is not None and touched:
        session.execute("ledger.keep", {"changed": _CHANGED}, version=version)
        session.execute("ledger.keep_parts", {"parts": _PARTS_CHANGED}, version=version)
        session.execute(
            "ledger.put", {"changed": _CHANGED}, from_us=span.from_us, to_us=span.to_us, undated=span.from_us == 0
        )
        session.execute("ledger.put_parts", {"parts": _PARTS_CHANGED})
    for name in _TABLES:
        session.execute("pricing.drop", {"table": name})
    session.unregister(_REQUESTS)
    return Difference(requests, changed, passed_over, priced_before, priced_after, before, after, changes)


def _changes(session: Session, zone: str) -> tuple[Change, ...]:
    where = zone_info(zone)
    return tuple(
        Change(
            None if at_us is None else local_date(int(at_us), where).isoformat(),
            model_id,
            reason,
            int(requests),
            None if before is None else int(before),
            None if after is None else int(after),
        )
        for at_us, model_id, reason, requests, before, after in session.rows("ledger.changes", {"changed": _CHANGED})
    )
