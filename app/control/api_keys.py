"""Keys for machines: each opens one part of the API and nothing else. Only SHA-256 hashes are stored."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

import sqlalchemy as sa

from app.control.tables import api_keys
from app.core.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from sqlalchemy import Engine

Scope = Literal["batch", "ingest"]
PREFIX: Final = "sk-halve-"
KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed: its text is known to nobody here. `source` is where logs go that it hands in."""

    id: int
    name: str
    scope: str
    created_us: int
    revoked_us: int | None
    source: str | None = None


def create(engine: Engine, name: str, scope: Scope, now_us: int, source: str | None = None) -> str:
    """A new key: text that is shown once and never readable again.

    Raises:
        ConflictError: a living key has this name.
    """
    living = sa.select(api_keys.c.id).where(api_keys.c.name == name, api_keys.c.revoked_us.is_(None))
    raw = PREFIX + secrets.token_urlsafe(KEY_BYTES)
    with engine.begin() as connection:
        if connection.scalar(living) is not None:
            raise ConflictError(f"A key named {name!r} exists. Revoke it first, or choose another name.")
        values = {"name": name, "key_hash": _hash(raw), "scope": scope, "created_us": now_us, "source": source}
        connection.execute(sa.insert(api_keys).values(values))
    return raw


def verify(engine: Engine, raw: str, scope: Scope) -> ApiKey | None:
    """The key of this text where it opens `scope`; None where it is unknown, revoked or opens something else."""
    query = sa.select(*_columns()).where(
        api_keys.c.key_hash == _hash(raw), api_keys.c.scope == scope, api_keys.c.revoked_us.is_(None)
    )
    with engine.connect() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else ApiKey(*row)


def all_keys(engine: Engine) -> list[ApiKey]:
    """Every key ever made, the oldest first."""
    with engine.connect() as connection:
        return [ApiKey(*row) for row in connection.execute(sa.select(*_columns()).order_by(api_keys.c.id))]


def revoke(engine: Engine, name: str, now_us: int) -> None:
    """End a key at once.

    Raises:
        NotFoundError: no living key has this name.
    """
    change = sa.update(api_keys).where(api_keys.c.name == name, api_keys.c.revoked_us.is_(None))
    with engine.begin() as connection:
        if connection.execute(change.values(revoked_us=now_us)).rowcount == 0:
            raise NotFoundError(f"No living key is named {name!r}. `halve keys list` names them.")


def _columns() -> list[sa.Column[Any]]:
    return [api_keys.c[name] for name in ("id", "name", "scope", "created_us", "revoked_us", "source")]


def _hash(raw: str) -> str:
    return sha256(raw.encode()).hexdigest()
