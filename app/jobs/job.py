"""What a job is, and what it is told about the run it makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.jobs.rule import Due

MAX_LINES: Final = 200
MAX_LINE_CHARS: Final = 500


@dataclass(slots=True)
class Run:
    """One run of a job.

    Attributes:
        scheduled: every occurrence it answers for, oldest first; more than one where missed ones are caught up. A job
            whose content belongs to a period makes each of them.
        cause: the clock, or somebody who asked.
        attempt: more than 1 where an earlier one failed or was interrupted.
        late: it began long after its time because the service was down or busy.
        lines: what it said, kept in the run log.
    """

    job: str
    scheduled: tuple[Due, ...]
    cause: Literal["clock", "asked"]
    attempt: int
    late: bool
    lines: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a line to the run log; what goes beyond its bounds is left out and the last line says so."""
        if len(self.lines) < MAX_LINES:
            self.lines.append(text[:MAX_LINE_CHARS])
        elif len(self.lines) == MAX_LINES:
            self.lines.append("More lines were left out.")


@dataclass(frozen=True, slots=True)
class Job:
    """A name and a callable.

    Attributes:
        title: how pages call it; `about` is one sentence on what it does.
        rule: the schedule it starts with.
        lane: jobs of one lane run one after another, lanes run beside each other.
        has_work: a cheap look whether a run would do anything; without work an interval leaves no trace in the log.
    """

    name: str
    title: str
    about: str
    rule: str
    run: Callable[[Run], None]
    lane: str = "warehouse"
    has_work: Callable[[], bool] | None = None
