"""Choices of a team that are no settings of the process: small JSON values by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.control.tables import preferences

if TYPE_CHECKING:
    from sqlalchemy import Engine


def get(engine: Engine, name: str, default: Any = None) -> Any:
    """The value of a preference, or the default where none was chosen."""
    with engine.connect() as connection:
        text = connection.scalar(sa.select(preferences.c.value).where(preferences.c.name == name))
    return default if text is None else json.loads(text)


def put(engine: Engine, name: str, value: Any, now_us: int) -> None:
    """Choose a value: anything JSON can hold."""
    text = json.dumps(value, sort_keys=True)
    with engine.begin() as connection:
        changed = connection.execute(
            sa.update(preferences).where(preferences.c.name == name).values(value=text, changed_us=now_us)
        )
        if changed.rowcount == 0:
            connection.execute(sa.insert(preferences).values(name=name, value=text, changed_us=now_us))
