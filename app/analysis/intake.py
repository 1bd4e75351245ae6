"""What became of the records that were read, by source, and which of them could not be read and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.warehouse.store import Session


@dataclass(frozen=True, slots=True)
class Intake:
    """Records of one source: `read` is the sum of the five behind it. `last_us` is when the last chunk was taken."""

    source: str
    files: int
    read: int
    stored: int
    updated: int
    merged: int
    benign: int
    rejected: int
    last_us: int


@dataclass(frozen=True, slots=True)
class RejectedReason:
    """Why records of a source were rejected, and how many."""

    source: str
    reason: str
    records: int


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """One record in quarantine: its place, why, and its redacted head."""

    source: str
    file: str
    line: int
    reason: str
    head: str
    seen_us: int


def intake(session: Session) -> tuple[Intake, ...]:
    """The record counts of every source that something was read for, by name; files refused as a whole are counted."""
    return tuple(
        Intake(str(source), *(int(value) for value in counts)) for source, *counts in session.rows("sources.intake")
    )


def added(parts: Iterable[Intake]) -> Intake:
    """The counts of several sources together, under no name."""
    files = read = stored = updated = merged = benign = rejected = last_us = 0
    for one in parts:
        files, read, stored, updated = files + one.files, read + one.read, stored + one.stored, updated + one.updated
        merged, benign, rejected = merged + one.merged, benign + one.benign, rejected + one.rejected
        last_us = max(last_us, one.last_us)
    return Intake("", files, read, stored, updated, merged, benign, rejected, last_us)


def rejected_reasons(session: Session, most: int = 50) -> tuple[RejectedReason, ...]:
    """Why records are in quarantine, the commonest reason first."""
    return tuple(
        RejectedReason(str(source), str(reason), int(records))
        for source, reason, records in session.rows("sources.quarantine_reasons", most=most)
    )


def rejected_records(session: Session, most: int = 100) -> tuple[RejectedRecord, ...]:
    """The newest records in quarantine."""
    return tuple(
        RejectedRecord(str(source), str(file), int(line), str(reason), str(head), int(seen_us))
        for source, file, line, reason, head, seen_us in session.rows("sources.quarantine", most=most)
    )
