"""Access tokens and browser sessions. Only SHA-256 hashes are stored; the raw text is returned once."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import TYPE_CHECKING

import sqlalchemy as sa

from app.control.tables import access_tokens, sessions

if TYPE_CHECKING:
    from sqlalchemy import Engine

TOKEN_BYTES = 32


def _hash(raw: str) -> str:
    return sha256(raw.encode()).hexdigest()


def has_token(engine: Engine) -> bool:
    """Whether an access token that is not revoked exists."""
    query = sa.select(sa.exists().where(access_tokens.c.revoked_us.is_(None)))
    with engine.connect() as connection:
        return bool(connection.scalar(query))


def create_token(engine: Engine, label: str, now_us: int) -> str:
    """A new access token: URL-safe text, shown once and never readable again."""
    raw = secrets.token_urlsafe(TOKEN_BYTES)
    with engine.begin() as connection:
        connection.execute(sa.insert(access_tokens).values(token_hash=_hash(raw), label=label, created_us=now_us))
    return raw


def verify_token(engine: Engine, raw: str) -> int | None:
    """The id of the token, or None where it is unknown or revoked."""
    query = sa.select(access_tokens.c.id).where(
        access_tokens.c.token_hash == _hash(raw), access_tokens.c.revoked_us.is_(None)
    )
    with engine.connect() as connection:
        found: int | None = connection.scalar(query)
    return found


def revoke_tokens(engine: Engine, now_us: int) -> None:
    """Revoke every token and end every session."""
    with engine.begin() as connection:
        connection.execute(
            sa.update(access_tokens).where(access_tokens.c.revoked_us.is_(None)).values(revoked_us=now_us)
        )
        connection.execute(sa.delete(sessions))


def open_session(engine: Engine, token_id: int, now_us: int, lifetime_us: int) -> str:
    """A new session of a token: the raw text for the cookie. Expired sessions are cleared on the way."""
    raw = secrets.token_urlsafe(TOKEN_BYTES)
    with engine.begin() as connection:
        connection.execute(sa.delete(sessions).where(sessions.c.expires_us <= now_us))
        connection.execute(
            sa.insert(sessions).values(
                session_hash=_hash(raw), token_id=token_id, created_us=now_us, expires_us=now_us + lifetime_us
            )
        )
    return raw


def session_is_valid(engine: Engine, raw: str, now_us: int) -> bool:
    """Whether the cookie belongs to a session that has not expired and whose token is not revoked."""
    query = (
        sa.select(sessions.c.token_id)
        .join(access_tokens, access_tokens.c.id == sessions.c.token_id)
        .where(
            sessions.c.session_hash == _hash(raw),
            sessions.c.expires_us > now_us,
            access_tokens.c.revoked_us.is_(None),
        )
    )
    with engine.connect() as connection:
        return connection.scalar(query) is not None


def close_session(engine: Engine, raw: str) -> None:
    """End a session; an unknown one is no error."""
    with engine.begin() as connection:
        connection.execute(sa.delete(sessions).where(sessions.c.session_hash == _hash(raw)))
