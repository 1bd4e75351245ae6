"""Configured sources and where each connector stands. Secrets are references, never values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import sqlalchemy as sa

from app.control.tables import cursors, sources
from app.core.errors import InputError, NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

RunState = Literal["never", "running", "ok", "failed"]
MANNERS: Final = frozenset({"every_us", "limit", "overlap_minutes"})
"""Options that say how a source is read and not what."""
SECRET_WORDS: Final = ("token", "secret", "password", "api_key", "apikey", "authorization", "credential", "key")


@dataclass(frozen=True, slots=True)
class Source:
    """One configured origin; `options` are its connector's own. `added_us`: since when it reads what it reads."""

    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    enabled: bool = True
    added_us: int = 0

    def reads_as(self, other: Source) -> bool:
        """Whether both give the same records, so that one may go on where the other stands."""
        return self.kind == other.kind and _what(self) == _what(other) and _first_us(self) <= _first_us(other)


@dataclass(frozen=True, slots=True)
class CursorState:
    """Where a source stands: its connector's cursor, the last run and what went wrong in it.

    `fresh_us`: everything that began before has been asked for. `complete_us`: and late rows have had their time.
    `records` counts what was handed over since the source was added; what came twice counts twice.
    """

    source: str
    cursor: Any
    state: RunState
    last_run_us: int | None
    error: str | None
    fresh_us: int | None = None
    complete_us: int | None = None
    records: int = 0


def _what(source: Source) -> dict[str, Any]:
    return {name: value for name, value in source.options.items() if name not in MANNERS and name != "since_us"}


def _first_us(source: Source) -> int:
    """Where its first pull begins; without one it is some weeks before, which is later than any that was named."""
    return int(source.options.get("since_us", 2**62))


def save(engine: sa.Engine, source: Source, now_us: int) -> None:
    """Add a source or replace its options.

    Its cursor stays where only the manner of reading changed. Where it reads from another place, as somebody else, or
    from an earlier day, it begins anew: a cursor of the old place would leave out what the new one had before.

    Raises:
        UsageError: an option that names a secret holds a value instead of a reference.
    """
    _refuse_secrets(source)
    values = {"kind": source.kind, "options": json.dumps(dict(source.options), sort_keys=True)}
    with engine.begin() as connection:
        before = _stored(connection, source.name)
        if before is None:
            connection.execute(
                sa.insert(sources).values(name=source.name, **values, enabled=source.enabled, created_us=now_us)
            )
            connection.execute(sa.insert(cursors).values(source=source.name, state="never"))
            return
        same = before.reads_as(source)
        added_us = before.added_us if same else max(now_us, before.added_us + 1)
        connection.execute(
            sa.update(sources)
            .where(sources.c.name == source.name)
            .values(**values, enabled=source.enabled, created_us=added_us)
        )
        if not same:
            _forget_place(connection, source.name)


def _stored(connection: sa.Connection, name: str) -> Source | None:
    row = connection.execute(sa.select(sources).where(sources.c.name == name)).one_or_none()
    return None if row is None else _source(row)


def _source(row: sa.Row[Any]) -> Source:
    return Source(row.name, row.kind, json.loads(row.options), row.enabled, row.created_us)


def _refuse_secrets(source: Source) -> None:
    for name, value in source.options.items():
        if any(word in name.lower() for word in SECRET_WORDS) and not str(value).startswith(("env:", "file:")):
            raise UsageError(
                f"Option {name!r} of source {source.name!r} would store a secret. "
                "Give a reference instead: env:NAME for a variable or file:PATH for a file."
            )


def remove(engine: sa.Engine, name: str) -> None:
    """Forget a source and its cursor; stored requests stay.

    Raises:
        NotFoundError: no such source.
    """
    with engine.begin() as connection:
        if connection.execute(sa.delete(sources).where(sources.c.name == name)).rowcount == 0:
            raise NotFoundError(f"No source is named {name!r}.")


def begin_again(engine: sa.Engine, name: str, since_us: int, now_us: int) -> None:
    """Have a source read anew, from its first day or from `since_us` where that is earlier.

    Raises:
        NotFoundError: no such source.
    """
    with engine.begin() as connection:
        source = _stored(connection, name)
        if source is None:
            raise NotFoundError(f"No source is named {name!r}.")
        options = {**source.options, "since_us": min(_first_us(source), since_us)}
        connection.execute(
            sa.update(sources)
            .where(sources.c.name == name)
            .values(options=json.dumps(options, sort_keys=True), created_us=max(now_us, source.added_us + 1))
        )
        _forget_place(connection, name)


def _forget_place(connection: sa.Connection, name: str) -> None:
    anew = {"state": "never", "cursor": None, "last_run_us": None, "error": None, "records": 0}
    connection.execute(
        sa.update(cursors).where(cursors.c.source == name).values(fresh_us=None, complete_us=None, **anew)
    )


def all_sources(engine: sa.Engine) -> list[Source]:
    """Every configured source, by name."""
    query = sa.select(sources).order_by(sources.c.name)
    with engine.connect() as connection:
        return [_source(row) for row in connection.execute(query)]


def cursor(engine: sa.Engine, source: str) -> CursorState:
    """Where a source stands.

    Raises:
        NotFoundError: no such source.
    """
    with engine.connect() as connection:
        row = connection.execute(sa.select(cursors).where(cursors.c.source == source)).one_or_none()
    if row is None:
        raise NotFoundError(f"No source is named {source!r}.")
    held = None if row.cursor is None else json.loads(row.cursor)
    return CursorState(
        row.source, held, row.state, row.last_run_us, row.error, row.fresh_us, row.complete_us, row.records
    )


def advance(
    engine: sa.Engine,
    source: str,
    position: Any,
    now_us: int,
    *,
    pulled: Source | None = None,
    fresh_us: int | None = None,
    complete_us: int | None = None,
    records: int = 0,
) -> None:
    """Store a connector's cursor after its rows are safe; `position` is any JSON value. Times never go back.

    Raises:
        NotFoundError: no such source. InputError: it is not `pulled`, which the rows came from, any more.
    """
    values: dict[str, Any] = {"cursor": json.dumps(position, sort_keys=True), "last_run_us": now_us, "error": None}
    for column, us in ((cursors.c.fresh_us, fresh_us), (cursors.c.complete_us, complete_us)):
        if us is not None:
            values[column.name] = sa.func.max(sa.func.coalesce(column, us), us)
    values["records"] = cursors.c.records + records
    with engine.begin() as connection:
        if pulled is not None:
            _refuse_changed(connection, pulled)
        _update(connection, source, values)


def _refuse_changed(connection: sa.Connection, pulled: Source) -> None:
    now = _stored(connection, pulled.name)
    if now is not None and now.added_us != pulled.added_us:
        raise InputError(
            f"The source {pulled.name!r} was changed while it was pulled. What came of it before is stored; the next "
            "pull begins with the source as it is now."
        )


def set_run_state(engine: sa.Engine, source: str, state: RunState, now_us: int, error: str | None = None) -> None:
    """Note that a run began, ended or failed; the cursor stays where it was.

    Raises:
        NotFoundError: no such source.
    """
    with engine.begin() as connection:
        _update(connection, source, {"state": state, "last_run_us": now_us, "error": error})


def _update(connection: sa.Connection, source: str, values: dict[str, Any]) -> None:
    if connection.execute(sa.update(cursors).where(cursors.c.source == source).values(**values)).rowcount == 0:
        raise NotFoundError(f"No source is named {source!r}.")
