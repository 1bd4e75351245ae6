"""Prices put on stored requests anew: `halve prices reprice`, `versions` and `rollback`, here or through the service.

A change is a version of the cost ledger, done slice by slice: each slice is one transaction, and what was interrupted
goes on where it stopped when the same command is given again.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from app.control import schedules
from app.core.errors import ConflictError, NotFoundError, UsageError
from app.core.view import period
from app.main.refresh import now_us
from app.main.runtime import demand_store, load_book, opened
from app.main.service_calls import asked, service_client
from app.warehouse import ledger, reprice
from app.warehouse.ledger import Order
from app.warehouse.priced import Pricer
from app.warehouse.reprice import AsOf, PricedBy
from reports.ledger import difference_document, version_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import httpx2

    from app.main.runtime import Runtime
    from app.settings import Settings
    from app.warehouse.ledger import Version
    from app.warehouse.reprice import Difference, Slice, Source

TURN_S: Final = 5.0
"""How long one call of the service works before it answers how far it is."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks for, as it travels to the service: days both included, '' for everything; prices a path."""

    kind: Literal["reprice", "rollback"] = "reprice"
    first_day: str = ""
    last_day: str = ""
    zone: str = "UTC"
    prices: str = ""
    restores: int | None = None
    who: str = ""
    why: str = ""


def preview(wish: Wish, settings: Settings) -> dict[str, Any]:
    """What a re-pricing or a rollback would change; nothing is kept."""
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            return _asked(client, "preview", wish)
    with opened(settings) as runtime:
        return previewed(runtime, settings, wish)


def apply(
    wish: Wish, settings: Settings, *, progress: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """Do it, from where an interrupted one stopped; the version with its difference.

    Raises:
        ConflictError: another version is under way, or there is nothing to go on with in this way.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            while not (done := _asked(client, "apply", wish))["finished"]:
                _told(progress, done)
            return done
    with opened(settings) as runtime:
        while not (done := applied(runtime, settings, wish))["finished"]:
            _told(progress, done)
        return done


def listed(settings: Settings) -> list[dict[str, Any]]:
    """Every version, the newest first."""
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            found: list[dict[str, Any]] = asked(client, "GET", "/ledger/versions")
            return found
    with opened(settings) as runtime:
        return all_versions(runtime)


def all_versions(runtime: Runtime) -> list[dict[str, Any]]:
    """Every version, the newest first, without its changes."""
    with runtime.warehouse.session() as session:
        return [version_document(item) for item in ledger.versions(session)]


def shown(settings: Settings, version: int) -> dict[str, Any]:
    """One version with what it changed by day and model."""
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            found: dict[str, Any] = asked(client, "GET", f"/ledger/versions/{version}")
            return found
    with opened(settings) as runtime:
        return one_version(runtime, version)


def one_version(runtime: Runtime, version: int) -> dict[str, Any]:
    """One version with its changes.

    Raises:
        NotFoundError: there is none of that number.
    """
    with runtime.warehouse.session() as session:
        found = ledger.one(session, version)
        return version_document(found, ledger.changes(session, version))


def previewed(runtime: Runtime, settings: Settings, wish: Wish) -> dict[str, Any]:
    """`preview` on open stores."""
    order, source = _understood(runtime, settings, wish)
    with runtime.warehouse.session() as session:
        _known_version(order, ledger.newest(session))
        spans = reprice.slices(session, order.from_us, order.to_us)
    found = reprice.added(_tried(runtime, source, span, order.zone) for span in spans)
    return {"kind": order.kind, "price_book": order.price_book, "applied": False, **difference_document(found)}


def _tried(runtime: Runtime, source: Source, span: Slice, zone: str) -> Difference:
    """One slice of a dry run, in a transaction of its own: what it made is gone before the next one begins."""
    with runtime.warehouse.trying() as session:
        return reprice.compare(session, source, span, zone)


def applied(
    runtime: Runtime,
    settings: Settings,
    wish: Wish,
    *,
    turn_s: float = TURN_S,
    slice_rows: int = reprice.SLICE_ROWS,
) -> dict[str, Any]:
    """`apply` on open stores for about `turn_s` seconds: `finished` says whether that was all."""
    order, source = _understood(runtime, settings, wish)
    version, spans = _under_way(runtime, order, slice_rows)
    until = time.monotonic() + turn_s
    for number, span in enumerate(spans):
        if number and time.monotonic() >= until:
            return {"finished": False, "slices_left": len(spans) - number, **one_version(runtime, version.version)}
        with runtime.warehouse.writing() as session:
            ledger.advance(session, version, source, span, now_us())
    with runtime.warehouse.writing() as session:
        ledger.end(session, version.version, "whole", now_us())
    done = one_version(runtime, version.version)
    with runtime.warehouse.session() as session:
        if ledger.one(session, version.version).ending == "left":
            raise ConflictError(_GIVEN_UP.format(version=version.version))
    if done["changed"]:
        # The plan is made of prices that were; the clock makes it anew where a service runs.
        _ask_for_a_plan(runtime)
    return {"finished": True, "slices_left": 0, "applied": True, **done}


def _under_way(runtime: Runtime, order: Order, slice_rows: int) -> tuple[Version, list[Slice]]:
    """The version that does an order, begun now or earlier, and the slices that are left of it."""
    with runtime.warehouse.writing() as session:
        _known_version(order, ledger.newest(session))
        open_one = ledger.unfinished(session)
        if open_one is not None and not _goes_on(open_one, order):
            if order.kind != "rollback":
                raise ConflictError(_UNFINISHED.format(version=open_one.version, how=_how(open_one)))
            ledger.end(session, open_one.version, "left", now_us())
            open_one = None
        if open_one is None:
            number = ledger.begin(session, order, now_us())
            open_one = ledger.one(session, number)
        given = open_one.order
        start = given.from_us if open_one.through_us is None else open_one.through_us
        return open_one, reprice.slices(session, start, given.to_us, most=slice_rows)


_UNFINISHED = (
    "Version {version} was begun and not finished ({how}). Give that command again: it goes on where it stopped. Or "
    "give it up with `halve prices rollback`, which brings back what was before it."
)


_GIVEN_UP = (
    "Version {version} was given up by a rollback while it was under way: a part of its time may still have its "
    "figures. `halve prices versions` says what stands."
)


def _how(version: Version) -> str:
    if version.order.kind == "rollback":
        return f"a rollback to version {version.order.restores}"
    file = f" with the price file {version.order.prices}" if version.order.prices else ""
    return f"price book {version.order.price_book}{file}"


def _goes_on(version: Version, order: Order) -> bool:
    """Whether an order is the one that a version was begun for."""
    begun = version.order
    return (begun.kind, begun.price_book, begun.restores, begun.from_us) == (
        order.kind,
        order.price_book,
        order.restores,
        order.from_us,
    ) and begun.to_us == order.to_us


def _known_version(order: Order, newest: int) -> None:
    if order.restores is None:
        return
    if newest == 0:
        raise NotFoundError(
            "The costs have no version yet: nothing was priced anew, so there is nothing to bring back."
        )
    if not 0 <= order.restores < newest:
        raise NotFoundError(
            f"There is no version {order.restores} to go back to: the newest is {newest}, and 0 is what requests were "
            "priced at when they were taken in. `halve prices versions` lists them."
        )


def _understood(runtime: Runtime, settings: Settings, wish: Wish) -> tuple[Order, Source]:
    """The order of a wish and where its figures come from."""
    from_us, to_us = span_of(wish.first_day, wish.last_day, wish.zone)
    order = Order(wish.kind, from_us, to_us, wish.zone, wish.who, wish.why)
    if wish.kind == "rollback":
        with runtime.warehouse.session() as session:
            return _rollback(order, wish, ledger.versions(session))
    book = runtime.books.newest()  # not one that a changed file is just taking the place of
    if wish.prices:
        book = load_book(replace(settings, prices=wish.prices))
    return replace(order, price_book=book.version, prices=wish.prices or settings.prices or None), PricedBy(
        Pricer(book)
    )


def _rollback(order: Order, wish: Wish, known: Sequence[Version]) -> tuple[Order, Source]:
    """Back to the version before the newest unless told otherwise, in the time that the versions since are about."""
    newest = known[0].version if known else 0
    restores = newest - 1 if wish.restores is None else wish.restores
    if wish.restores is None and known and known[0].ending is None and known[0].order.kind == "rollback":
        restores = known[0].order.restores or 0  # an interrupted one goes on to where it was going
    since = [item.order for item in known if item.version > restores]
    if since and not wish.first_day:
        order = replace(order, from_us=min(item.from_us for item in since))
    if since and not wish.last_day:
        order = replace(order, to_us=max(item.to_us for item in since))
    return replace(order, restores=restores), AsOf(restores)


def span_of(first_day: str, last_day: str, zone: str) -> tuple[int, int]:
    """[from_us, to_us) of days like 2026-11-30, both included; from 0 (with what has no time) and without end for ''.

    Raises:
        UsageError: no day, or the last before the first.
    """
    from_us = period(f"{first_day}..{first_day}", zone, now_us()).from_us if first_day else 0
    to_us = period(f"{last_day}..{last_day}", zone, now_us()).to_us if last_day else ledger.END_OF_TIME
    if from_us >= to_us:
        raise UsageError(f"{last_day} lies before {first_day}: give the first day, then the last.")
    return from_us, to_us


def _ask_for_a_plan(runtime: Runtime) -> None:
    try:
        schedules.ask(runtime.control, "analysis", now_us())
    except NotFoundError:
        return  # no service has ever run on this folder; `halve analyze` makes plans there


def _asked(client: httpx2.Client, what: str, wish: Wish) -> dict[str, Any]:
    """Ask the service; it reads the price file itself, so the path must say the same to both."""
    sent = replace(wish, prices=str(Path(wish.prices).resolve()) if wish.prices else "")
    found: dict[str, Any] = asked(client, "POST", f"/ledger/{what}", asdict(sent))
    return found


def _told(progress: Callable[[dict[str, Any]], None] | None, done: dict[str, Any]) -> None:
    if progress is not None:
        progress(done)
