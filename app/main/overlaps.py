"""Sources that tell of the same calls: which of them counts, said on the page Sources or by `halve sources primary`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.analysis import overlap
from app.control import overlaps as kept
from app.core.errors import NotFoundError, UnavailableError
from app.main.refresh import now_us
from app.main.runtime import demand_store, opened
from app.main.service_calls import service_client

if TYPE_CHECKING:
    from app.main.runtime import Runtime
    from app.settings import Settings


def decide(runtime: Runtime, one: str, other: str, counted: str | None) -> None:
    """Say which of two sources counts, None: both do. Every sum follows at once.

    Raises:
        NotFoundError: the two were not found to tell of the same calls, or the one that counts is neither.
    """
    pair = kept.pair_of(one, other)
    if pair not in _doubled(runtime) or counted not in (*pair, None):
        raise NotFoundError(
            f"{one[:80]!r} and {other[:80]!r} were not found to tell of the same calls. The page Sources lists those "
            "that do."
        )
    kept.decide(runtime.control, pair, counted, now_us())
    _follow(runtime)


def primary(runtime: Runtime, name: str) -> list[str]:
    """Let a source count wherever another tells of its calls; the others.

    Raises:
        NotFoundError: no source tells of its calls.
    """
    pairs = [pair for pair in _doubled(runtime) if name in pair]
    if not pairs:
        raise NotFoundError(
            f"No other source was found to tell of the calls of {name[:80]!r}. The page Sources lists those that do."
        )
    for pair in pairs:
        kept.decide(runtime.control, pair, name, now_us())
    _follow(runtime)
    return [pair[0] if pair[1] == name else pair[1] for pair in pairs]


def _doubled(runtime: Runtime) -> list[kept.Pair]:
    decided = kept.decisions(runtime.control)
    with runtime.warehouse.session() as session:
        return [one.pair for one in overlap.standing(session) if one.is_double or one.pair in decided]


def _follow(runtime: Runtime) -> None:
    with runtime.warehouse.writing() as session:
        overlap.hold(session, kept.decisions(runtime.control))


def command_primary(settings: Settings, name: str) -> list[str]:
    """`halve sources primary`, here or through the running service.

    Raises:
        NotFoundError: no source tells of its calls. UnavailableError: the service refused.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.post("/sources/primary", data={"name": name})
            if answer.is_error:
                raise (NotFoundError if answer.status_code == 404 else UnavailableError)(answer.json()["error"])
            return list(answer.json()["others"])
    with opened(settings) as runtime:
        return primary(runtime, name)


def command_separate(settings: Settings, one: str, other: str) -> None:
    """`halve sources separate`, here or through the running service.

    Raises:
        NotFoundError: the two were not found to tell of the same calls. UnavailableError: the service refused.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.post("/sources/separate", data={"one": one, "other": other})
            if answer.is_error:
                raise (NotFoundError if answer.status_code == 404 else UnavailableError)(answer.json()["error"])
            return
    with opened(settings) as runtime:
        decide(runtime, one, other, None)
