"""Migrations of the warehouse: `migrations/warehouse/NNNN_name.sql`, run in order, each in one transaction.

The versions that ran are rows of `warehouse_version` in the store itself.
"""

from __future__ import annotations

import re
import time
from importlib import resources
from typing import TYPE_CHECKING

from app.core.errors import ConflictError

if TYPE_CHECKING:
    from app.warehouse.store import Warehouse

_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


def available() -> list[tuple[int, str, str]]:
    """(version, name, SQL text) of every migration file, in order."""
    found: list[tuple[int, str, str]] = []
    for entry in resources.files("migrations").joinpath("warehouse").iterdir():
        match = _FILE_NAME.fullmatch(entry.name)
        if match:
            found.append((int(match.group(1)), match.group(2), entry.read_text(encoding="utf-8")))
    return sorted(found)


def migrate(warehouse: Warehouse) -> list[int]:
    """Bring the store to the newest version; returns the versions that ran now (none when it was up to date).

    Raises:
        ConflictError: the store was written by a newer Halve.
    """
    with warehouse.writing() as session:
        session.execute("migrate.texts")
    with warehouse.writing() as session:
        session.execute("migrate.prepare")
        done = {version for (version,) in session.rows("migrate.versions")}
    wanted = available()
    newer = done - {version for version, _, _ in wanted}
    if newer:
        raise ConflictError(
            f"The warehouse has version {max(newer)}, which this Halve does not know. It was written by a newer one: "
            "start that version, or restore a backup."
        )
    ran = []
    for version, name, sql in wanted:
        if version in done:
            continue
        with warehouse.writing() as session:
            session.script(sql)
            session.execute("migrate.record", version=version, name=name, applied_us=time.time_ns() // 1000)
        ran.append(version)
    return ran
