"""What an ingest did, in numbers that add up: read = stored + updated + merged + benign + rejected.

`read` counts what the records held: each call, each record that is no call (benign) and each thing that could not be
read (rejected). `merged` were there already, or were partial snapshots of a call that was read with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields


@dataclass(slots=True)
class Summary:
    """Counts of one ingest. `files` were read, `skipped` were in already and unchanged."""

    files: int = 0
    skipped: int = 0
    read: int = 0
    stored: int = 0
    updated: int = 0
    merged: int = 0
    benign: int = 0
    rejected: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, other: Summary) -> None:
        """Add another ingest's counts to this one."""
        for item in fields(Summary):
            if item.name == "problems":
                self.problems += other.problems
            else:
                setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
