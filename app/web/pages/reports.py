"""Reports: a week's mail as it would go out now, "send to me", and every mail that was made with what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.control import budgets, outbox
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
            tables=(_archive(context),),
        )
    listed = desk.weeks(context.now_us)
    asked = context.keys.get("week", "")
    chosen = asked if asked in dict(listed) else next((name for name, _ in listed), "")
    said = DONE.get(context.keys.get("done", ""))
    return Content(
        "Reports",
        notices=(said,) if said else (),
        model=_model(desk, listed, chosen),
        tables=(_archive(context),),
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


def _archive(context: Context) -> Table:
    letters = outbox.newest(context.deps.control, NEWEST)
    errors = any(letter.error for letter in letters)
    return Table(
        "archive",
        "Archive",
        (
            Column("made", "Made", width="tight"),
            Column("week", "About", width="tight"),
            Column("late", "Late", twin_only=True),
            Column("to", "To", width="tight"),
            Column("state", "State", width="tight"),
            Column("when", "When", width="tight"),
            Column("tries", "Tries", "number"),
            Column("subject", "Subject", width="wide"),
            Column("error", "Last error", width="wide", twin_only=not errors),
        ),
        tuple(_row(context, letter) for letter in letters),
        frame_note=f"The newest {NEWEST}." if len(letters) == NEWEST else "",
        empty="No report was made yet. The Jobs page says when the first one is due.",
        stacked=True,
        first=5,
    )


def _row(context: Context, letter: Letter) -> tuple[Cell, ...]:
    asked = letter.occasion != outbox.SCHEDULED
    waits = letter.state == "queued" and letter.attempts > 0
    when = letter.next_try_us if waits else letter.done_us
    tone: Tone = "worse" if letter.state == "failed" else ""
    made = letter.subject is not None
    return (
        cells.moment(letter.created_us, context.zone),
        Cell(letter.period, letter.period, note=_note(letter)),
        Cell(letter.is_late, ""),
        Cell(letter.recipient or None, letter.recipient or "the archive only"),
        Cell(letter.state, STATES[letter.state], note="asked for" if asked else "", tone=tone),
        Cell(show.iso_moment(when), show.moment(when, context.zone), note="next try" if waits else ""),
        cells.count(letter.attempts),
        cells.text(letter.subject, href=f"{PATH}/mail/{letter.id}.eml" if made else ""),
        Cell(letter.error, letter.error or "", tone=tone),
    )


def _note(letter: Letter) -> str:
    if letter.report == budgets.REPORT:
        return "budget alert"
    return "late: the service did not run" if letter.is_late else ""


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
