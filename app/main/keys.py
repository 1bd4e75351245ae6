"""`halve keys`: keys for machines, made, listed and revoked in the control store, with the service up or down."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.control import api_keys
from app.core.errors import UsageError
from app.main.refresh import now_us
from app.main.runtime import demand_store, opened_control
from ingest.push.journal import check_source

if TYPE_CHECKING:
    from app.control.api_keys import Scope
    from app.settings import Settings

NAME_MAX = 200


def create(settings: Settings, name: str, scope: Scope, source: str | None = None) -> str:
    """The text of a new key.

    Raises:
        UsageError: that is no name, or none of a source. ConflictError: a living key has it.
    """
    if (scope == "ingest") != (source is not None):
        raise UsageError(
            "A key of scope ingest is for one source: name it with --source. Keys of other scopes have none."
        )
    if source is not None:
        check_source(source)
    if not name.strip() or len(name) > NAME_MAX or not name.isprintable():
        raise UsageError(f"Name the key after what holds it, in at most {NAME_MAX} characters that can be seen.")
    with opened_control(settings) as control:
        return api_keys.create(control, name.strip(), scope, now_us(), source)


def listed(settings: Settings) -> list[dict[str, Any]]:
    """Every key ever made, without its text."""
    demand_store(settings)
    with opened_control(settings) as control:
        return [asdict(key) for key in api_keys.all_keys(control)]


def revoke(settings: Settings, name: str) -> None:
    """End a key.

    Raises:
        NotFoundError: no living key has this name.
    """
    demand_store(settings)
    with opened_control(settings) as control:
        api_keys.revoke(control, name, now_us())
