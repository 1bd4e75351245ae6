"""Prompt texts kept beside the facts: what many requests share stays, the rest goes after a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.warehouse.store import Warehouse

SHARED_BY: Final = 20
KEPT_US: Final = 24 * 3600 * 1_000_000


def drop_unshared(warehouse: Warehouse, *, now_us: int, shared_by: int = SHARED_BY, kept_us: int = KEPT_US) -> int:
    """Drop texts that fewer than `shared_by` requests share and that are older than `kept_us`; returns how many.

    Called after an analysis in the text mode `shared`. The facts keep their hashes; only evidence loses its wording.
    """
    with warehouse.writing() as session:
        before = now_us - kept_us
        ((counted,),) = session.rows("ingest.count_unshared_texts", before_us=before, shared_by=shared_by)
        if counted:
            session.execute("ingest.drop_unshared_texts", before_us=before, shared_by=shared_by)
    return int(counted)
