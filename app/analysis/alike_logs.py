"""Logs of one source that tell of the same calls without a shared id: named, since nothing in a source is held out.

Sources are compared with each other by `app.analysis.overlap`. Two logs that were read under one name, which is the
format's where nobody gave another, are one source, so a call that both tell of counts twice. Whether they are the
same calls only a person knows; what looks like it is said, with the measure that sources are compared by.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import polars as pl

from app.analysis.overlap import EARLIER_US, LATER_US, MAX_SHARE, MIN_TWINS, NEAR_US
from app.core.money import usd_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.warehouse.store import Session


@dataclass(frozen=True, slots=True)
class AlikeLogs:
    """Two logs of a source: `twins` calls of each look alike, which cost `cost_pusd` in the sums a second time."""

    source: str
    file_a: str
    file_b: str
    twins: int
    cost_pusd: int | None

    def text(self) -> str:
        """What it means and what to do."""
        a, b = _told_apart(self.file_a, self.file_b)
        cost = "" if self.cost_pusd is None else f", ${usd_text(self.cost_pusd)} of the total"
        return (
            f"{a} and {b} are both kept as {self.source} and have {self.twins:,} calls alike in model, tokens and "
            f"second. If these are the same calls, they count twice{cost}: read each log into a new data folder "
            "under a name of its own (`halve ingest LOG --source NAME`), and Halve counts them once."
        )


def find(session: Session, given: Sequence[str] = ("",)) -> tuple[AlikeLogs, ...]:
    """Pairs of logs of one source that look as if they told of the same calls, the most twins first.

    `given` are the names, or how they begin, of which one of each pair must be; by default every log is compared.
    """
    logs = _meeting(session, tuple(given))
    if logs is None:
        return ()
    session.register("alike_logs", logs)
    real, *moved = [
        {
            (source, a, b): (int(twins), int(calls), cost)
            for source, a, b, twins, calls, cost in session.rows(
                "overlap.alike_logs", {"logs": "alike_logs"}, near_us=NEAR_US, moved_us=moved_us, least=MIN_TWINS
            )
        }
        for moved_us in (0, LATER_US, EARLIER_US)
    ]
    session.unregister("alike_logs")
    found = []
    for pair, (twins, calls, cost) in real.items():
        beyond = twins - sum(one.get(pair, (0, 0, None))[0] for one in moved) / len(moved)
        if beyond >= MIN_TWINS and beyond > MAX_SHARE * calls:
            found.append(AlikeLogs(*pair, twins, None if cost is None else int(cost)))
    return tuple(found)


def _meeting(session: Session, given: tuple[str, ...]) -> pl.DataFrame | None:
    """The logs that were written while another of their source was, and which of them are looked at; None without any.

    Logs whose every answer has an id are left out: of those the ids say which calls are the same.
    """
    runs: list[list[tuple[str, str, int, int, int]]] = []
    last = ("", 0)
    for source, file, first_us, last_us, bare in session.rows("overlap.log_spans"):
        if not runs or source != last[0] or first_us > last[1] + NEAR_US:
            runs.append([])
            last = (source, last_us)
        runs[-1].append((source, file, first_us, last_us, int(bare)))
        last = (source, max(last[1], last_us))
    meeting = [run for run in runs if len(run) > 1 and any(log[-1] for log in run)]
    logs = [(*log[:-1], log[1].startswith(given)) for run in meeting for log in run]
    if not any(looked for *_, looked in logs):
        return None
    names = {"source": pl.String, "file": pl.String, "first_us": pl.Int64, "last_us": pl.Int64, "looked": pl.Boolean}
    return pl.DataFrame(logs, schema=names, orient="row")


def _told_apart(a: str, b: str) -> tuple[str, str]:
    """The names of two files without the folders that say nothing of which is which."""
    names = PurePath(a).name, PurePath(b).name
    return names if names[0] != names[1] else (a, b)
