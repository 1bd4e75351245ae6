"""Reports: a week's mail as it would go out now, "send to me", and every mail that was made with what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.control import outbox
from app.web import cells
from app.web import format as show
from app.web.page import Content, Context, Empty, Link, Page
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.control.outbox import Letter
    from app.web.cells import Tone
    from app.web.commands import ReportDesk

PATH: Final = "/reports"
NEWEST: Final = 100
DONE: Final = {
    "sent": "The report is on its way; the archive below shows what becomes of it.",
    "waiting": "That report was asked for a moment ago and is on its way already.",
}
STATES: Final = {
    "queued": "Waiting",
    "sending": "Being sent",
    "sent": "Sent",
    "archived": "In the archive",
    "failed": "Given up",
}


@dataclass(frozen=True, slots=True)
class WeekOption:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Model:
    weeks: tuple[WeekOption, ...]
    week: str
    frame: str
    text: str
    missing: str
    recipients: str


def build(context: Context) -> Content:
    """The Reports page."""
    desk = context.deps.commands.reports
    if desk is None:
        return Content(
            "Reports",
            empty=Empty(
                "No reports here",
                "This Halve was started without its weekly report.",
                (Link("Open Savings", "/savings"),),
            ),
            tables=(_archive(context, {}),),
        )
    listed = desk.weeks(context.now_us)
    asked = context.keys.get("week", "")
    chosen = asked if asked in dict(listed) else next((name for name, _ in listed), "")
    said = DONE.get(context.keys.get("done", ""))
    return Content(
        "Reports",
        notices=(said,) if said else (),
        model=_model(desk, listed, chosen),
        tables=(_archive(context, dict(listed)),),
    )


def _model(desk: ReportDesk, listed: tuple[tuple[str, str], ...], chosen: str) -> Model:
    return Model(
        weeks=tuple(WeekOption(name, f"{days} ({name})", name == chosen) for name, days in listed),
        week=chosen,
        frame=f"{PATH}/preview/{chosen}",
        text=f"{PATH}/preview/{chosen}.txt",
        missing=desk.missing,
        recipients=", ".join(desk.recipients),
    )


def _archive(context: Context, days: dict[str, str]) -> Table:
    rows = outbox.newest(context.deps.control, NEWEST)
    return Table(
        "archive",
        "Archive",
        (
            Column("made", "Made"),
            Column("week", "Week", width="tight"),
            Column("to", "To"),
            Column("state", "State", width="tight"),
            Column("when", "When"),
            Column("tries", "Tries", "number"),
            Column("subject", "Subject", width="wide"),
            Column("error", "Last error", width="mid"),
            Column("late", "Late", help="Made long after its time, because the service did not run"),
        ),
        tuple(_row(context, letter, days) for letter in rows),
        frame_note=f"The newest {NEWEST}." if len(rows) == NEWEST else "",
        empty="No report was made yet. The first one is due on the next Monday at 8:00.",
    )


def _row(context: Context, letter: Letter, days: dict[str, str]) -> tuple[Cell, ...]:
    asked = letter.occasion != outbox.SCHEDULED
    pause = letter.state == "queued" and letter.attempts
    late = letter.is_late
    tone: Tone = "worse" if letter.state == "failed" else ""
    made = letter.subject is not None
    return (
        cells.moment(letter.created_us, context.zone),
        Cell(letter.period, letter.period, note=days.get(letter.period, "")),
        Cell(letter.recipient or None, letter.recipient or "archive only"),
        Cell(letter.state, STATES[letter.state], note="asked for" if asked else "", tone=tone),
        Cell(
            show.iso_moment(letter.next_try_us if pause else letter.done_us),
            show.moment(letter.next_try_us if pause else letter.done_us, context.zone),
            note="next try" if pause else "",
        ),
        cells.count(letter.attempts),
        cells.text(letter.subject, href=f"{PATH}/mail/{letter.id}.eml" if made else ""),
        Cell(letter.error, letter.error or "", tone=tone),
        Cell(late, "late" if late else "", tone="worse" if late else ""),
    )


PAGE = Page(
    name="reports",
    path=PATH,
    twin=PATH,
    nav="Reports",
    build=build,
    keys=frozenset({"week", "done"}),
    uses_view=False,
    section="reports",
)
