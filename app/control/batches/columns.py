"""A job or a part as the columns of its row, and back; structures are JSON text in the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sqlalchemy as sa

    from app.control.batches.records import Job, Part

_JSON: Final = ("tags", "estimate", "not_ours")


def values_of(record: Job | Part) -> dict[str, Any]:
    """The row of a record."""
    values = {name: getattr(record, name) for name in record.__dataclass_fields__}
    return encoded(values)


def encoded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Column values; what is a structure in Python is JSON text in the store."""
    row = dict(values)
    for name in _JSON:
        if row.get(name) is not None:
            value = row[name]
            row[name] = json.dumps(dict(value) if hasattr(value, "keys") else list(value), sort_keys=True)
    return row


def decoded(row: sa.Row[Any]) -> dict[str, Any]:
    """The fields of a record, from its row."""
    values = dict(row._mapping)  # noqa: SLF001  SQLAlchemy's public accessor of a row's columns
    for name in _JSON:
        if name in values:
            given = values[name]
            values[name] = (() if name == "not_ours" else None) if given is None else json.loads(given)
    return values
