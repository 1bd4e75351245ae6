"""The versions of the cost ledger: begun, advanced slice by slice, ended; and what each of them changed.

A version is begun before its first slice and advanced in the transactions of its slices, so that after a crash the
next run knows where to go on. Only one can be under way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

from app.core.errors import NotFoundError
from app.warehouse import reprice
from app.warehouse.reprice import Change, Difference

if TYPE_CHECKING:
    from app.warehouse.reprice import Slice, Source
    from app.warehouse.store import Session

Kind = Literal["reprice", "rollback"]
END_OF_TIME: Final = 2**62


@dataclass(frozen=True, slots=True)
class Order:
    """What a version is to do: with which book (reprice) or back to which version (rollback), in [from_us, to_us)."""

    kind: Kind
    from_us: int
    to_us: int
    zone: str
    who: str
    why: str
    price_book: str | None = None
    prices: str | None = None
    restores: int | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A version with what it did so far. `through_us` is up to where it came; `ending` None means not finished."""

    version: int
    order: Order
    started_us: int
    ended_us: int | None
    ending: str | None
    through_us: int | None
    did: Difference


def versions(session: Session) -> tuple[Version, ...]:
    """Every version, the newest first; without the changes by day."""
    return tuple(_version(row) for row in session.frame("ledger.versions").to_dicts())


def one(session: Session, version: int) -> Version:
    """One version.

    Raises:
        NotFoundError: there is none of that number.
    """
    for item in versions(session):
        if item.version == version:
            return item
    raise NotFoundError(f"There is no version {version} of the costs. `halve prices versions` lists them.")


def unfinished(session: Session) -> Version | None:
    """The version that is under way."""
    return next((item for item in versions(session) if item.ending is None), None)


def newest(session: Session) -> int:
    """The number of the newest version, 0 before the first."""
    return max((item.version for item in versions(session)), default=0)


def changes(session: Session, version: int) -> tuple[Change, ...]:
    """What a version changed, by local day, model and reason."""
    return tuple(
        Change(day, model, str(reason), int(requests), _int(before), _int(after))
        for day, model, reason, requests, before, after in session.rows("ledger.changes_of", version=version)
    )


def last_change(session: Session) -> tuple[int, int] | None:
    """The version that changed a figure last, and when (microseconds UTC)."""
    rows = session.rows("ledger.last_change")
    return (int(rows[0][0]), int(rows[0][1])) if rows else None


def begin(session: Session, order: Order, now_us: int) -> int:
    """Note that a version begins; its number. Needs the writer's session, and none may be under way."""
    version = newest(session) + 1
    session.execute(
        "ledger.add_version",
        version=version,
        kind=order.kind,
        restores=order.restores,
        price_book=order.price_book,
        prices=order.prices,
        from_us=order.from_us,
        to_us=order.to_us,
        zone=order.zone,
        who=order.who,
        why=order.why,
        started_us=now_us,
    )
    return version


def end(session: Session, version: int, ending: Literal["whole", "left"], now_us: int) -> None:
    """Note that nothing more comes of a version. Needs the writer's session."""
    session.execute("ledger.end_version", version=version, ending=ending, ended_us=now_us)


def advance(session: Session, version: Version, source: Source, span: Slice, now_us: int) -> Difference:
    """Do one slice of a version and note it, both in the writer's transaction that the caller holds.

    It begins where the version has come to: of a slice that another run did in part, cut elsewhere because requests
    came in between, the rest is done. After the version ended nothing is.
    """
    now = one(session, version.version)
    start = now.order.from_us if now.through_us is None else now.through_us
    if now.ending is not None or span.to_us <= start:
        return Difference()
    span = replace(span, from_us=start)
    done = reprice.replace(session, source, span, version.order.zone, version.version)
    session.execute(
        "ledger.add_slice",
        version=version.version,
        from_us=span.from_us,
        to_us=span.to_us,
        requests=done.requests,
        changed=done.changed,
        passed_over=done.passed_over,
        priced_before=done.priced_before,
        priced_after=done.priced_after,
        before_pusd=str(done.before_pusd),
        after_pusd=str(done.after_pusd),
        done_us=now_us,
    )
    if done.changes:
        session.register("new_changes", _frame(done.changes))
        session.execute("ledger.add_changes", version=version.version)
        session.unregister("new_changes")
    return done


def _frame(changed: tuple[Change, ...]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "day": [item.day for item in changed],
            "model_id": [item.model_id for item in changed],
            "reason": [item.reason for item in changed],
            "requests": [item.requests for item in changed],
            "before_pusd": [None if item.before_pusd is None else str(item.before_pusd) for item in changed],
            "after_pusd": [None if item.after_pusd is None else str(item.after_pusd) for item in changed],
        },
        schema={
            "day": pl.String,
            "model_id": pl.String,
            "reason": pl.String,
            "requests": pl.Int64,
            "before_pusd": pl.String,
            "after_pusd": pl.String,
        },
    )


def _version(row: dict[str, Any]) -> Version:
    did = Difference(
        int(row["requests"]),
        int(row["changed"]),
        int(row["passed_over"]),
        int(row["priced_before"]),
        int(row["priced_after"]),
        int(row["before_pusd"]),
        int(row["after_pusd"]),
    )
    order = Order(
        row["kind"],
        int(row["from_us"]),
        int(row["to_us"]),
        row["zone"],
        row["who"],
        row["why"],
        row["price_book"],
        row["prices"],
        _int(row["restores"]),
    )
    return Version(
        int(row["version"]),
        order,
        int(row["started_us"]),
        _int(row["ended_us"]),
        row["ending"],
        _int(row["through_us"]),
        did,
    )


def _int(value: Any) -> int | None:
    return None if value is None else int(value)
