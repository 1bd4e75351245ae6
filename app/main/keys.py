"""`halve keys`: keys for machines, made, listed and revoked in the control store, with the service up or down."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.control import api_keys
from app.core.errors import UsageError
from app.main.refresh import now_us
from app.main.runtime import opened_control

if TYPE_CHECKING:
    from app.control.api_keys import Scope
    from app.settings import Settings

NAME_MAX = 200


def create(settings: Settings, name: str, scope: Scope) -> str:
    """The text of a new key.

    Raises:
        UsageError: that is no name. ConflictError: a living key has it.
    """
    if not name.strip() or len(name) > NAME_MAX or not name.isprintable():
        raise UsageError(f"Name the key after what holds it, in at most {NAME_MAX} characters that can be seen.")
    with opened_control(settings) as control:
        return api_keys.create(control, name.strip(), scope, now_us())


def listed(settings: Settings) -> list[dict[str, Any]]:
    """Every key ever made, without its text."""
    with opened_control(settings) as control:
        return [asdict(key) for key in api_keys.all_keys(control)]


def revoke(settings: Settings, name: str) -> None:
    """End a key.

    Raises:
        NotFoundError: no living key has this name.
    """
    with opened_control(settings) as control:
        api_keys.revoke(control, name, now_us())
