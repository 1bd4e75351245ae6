"""Who may look at the dashboard: whoever holds the one access token, or a session that was opened with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.control import access, api_keys

if TYPE_CHECKING:
    from sqlalchemy import Engine

SESSION_LIFETIME_US = 7 * 24 * 3600 * 1_000_000
SESSION_COOKIE = "halve_session"


def first_token(control: Engine, now_us: int) -> str | None:
    """The access token of a fresh install, to be shown once; None where one was made before."""
    return None if access.has_token(control) else access.create_token(control, "first start", now_us)


def enter(control: Engine, token: str, now_us: int) -> str | None:
    """The text of a new session's cookie for a right token, else None."""
    token_id = access.verify_token(control, token)
    return None if token_id is None else access.open_session(control, token_id, now_us, SESSION_LIFETIME_US)


def is_inside(control: Engine, cookie: str | None, authorization: str | None, now_us: int) -> bool:
    """Whether a request carries a living session, or the token itself as `Authorization: Bearer` for machines."""
    if cookie and access.session_is_valid(control, cookie, now_us):
        return True
    scheme, _, token = (authorization or "").partition(" ")
    return scheme.lower() == "bearer" and access.verify_token(control, token.strip()) is not None


def leave(control: Engine, cookie: str | None) -> None:
    """End a session."""
    if cookie:
        access.close_session(control, cookie)


def pushes_to(control: Engine, authorization: str | None, api_key: str | None = None) -> str | None:
    """The source that pushed logs belong to: that of the key in `Authorization: Bearer` or `X-Api-Key`, else None."""
    scheme, _, raw = (authorization or "").partition(" ")
    text = raw.strip() if scheme.lower() == "bearer" else (api_key or "").strip()
    key = api_keys.verify(control, text, "ingest") if text else None
    return None if key is None else key.source


def opens_batches(control: Engine, authorization: str | None) -> bool:
    """Whether `Authorization: Bearer` carries a key for batches, or the access token itself."""
    scheme, _, raw = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not raw.strip():
        return False
    text = raw.strip()
    return api_keys.verify(control, text, "batch") is not None or access.verify_token(control, text) is not None
