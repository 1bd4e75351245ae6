"""Jobs: when the service does what by itself, when it did it last, how long that took and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.analysis.intake import intake
from app.control import job_runs, schedules
from app.core.errors import UsageError
from app.core.view import zone_info
from app.jobs import Calendar, due, following, next_try_us, parse
from app.web import cells
from app.web import format as show
from app.web.page import Content, Context, Empty, Link, Page, unknown_value
from app.web.table import Cell, Column, Deed, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.control.job_runs import JobRun
    from app.control.schedules import Schedule
    from app.jobs import Job, Rule
    from app.web.cells import Tone

PATH: Final = "/jobs"
INBOX: Final = "inbox"
OF_EACH: Final = 8
OF_ONE: Final = 200
LINES_SHOWN: Final = 240
DONE: Final = {
    "asked": "The run was asked for and begins when its turn comes; the log below shows what becomes of it.",
    "changed": "Saved. The schedule holds from now on.",
}
STATES: Final = {
    "running": "Running",
    "ok": "Done",
    "failed": "Failed",
    "interrupted": "Interrupted",
}
DAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class JobForm:
    """What a reader can set: the schedule as it stands, and the run."""

    name: str
    title: str
    about: str
    rule: str
    zone: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class Model:
    """`moving` is whether a run works or was asked for: the tables then come anew by themselves.

    `chosen` is the job whose own page this is, None on the page of all.
    """

    moving: bool
    chosen: JobForm | None
    every_job: str


def build(context: Context) -> Content:
    """The Jobs page; `job` narrows the run log to one job."""
    desk = context.deps.commands.jobs
    if desk is None:
        nothing = Empty("No jobs here", "This Halve was started without its jobs.", (Link("Open Spend", "/"),))
        return Content("Jobs", empty=nothing)
    jobs = {job.name: job for job in desk.jobs}
    standing = {item.job: item for item in schedules.all_schedules(context.deps.control)}
    last = job_runs.last_of_each(context.deps.control)
    asked = context.keys.get("job", "")
    chosen = asked if asked in jobs else ""
    said = DONE.get(context.keys.get("done", ""))
    return Content(
        jobs[chosen].title if chosen else "Jobs",
        notices=(said,) if said else (),
        unusable=() if asked == chosen else (unknown_value("job", asked, jobs),),
        model=Model(
            moving=any(item.asked_us is not None for item in standing.values())
            or any(run.state == "running" for run in last.values()),
            chosen=_form(jobs[chosen], standing[chosen]) if chosen in standing else None,
            every_job=context.url(PATH),
        ),
        tables=(_jobs_table(context, desk.jobs, standing, last), _runs_table(context, jobs, chosen)),
    )


def _form(job: Job, schedule: Schedule) -> JobForm:
    return JobForm(
        name=job.name,
        title=job.title,
        about=job.about,
        rule=schedule.rule,
        zone=schedule.zone,
        enabled=schedule.enabled,
    )


def _jobs_table(
    context: Context, jobs: tuple[Job, ...], standing: Mapping[str, Schedule], last: Mapping[str, JobRun]
) -> Table:
    taken_us = max((item.last_us for item in intake(context.session)), default=None)
    failed = job_runs.not_made_good(context.deps.control)
    there = [job for job in jobs if job.name in standing]
    looking = [job.title for job in there if _looks(job, standing[job.name])]
    return Table(
        "jobs",
        "What runs when",
        (
            Column("job", "Job", width="label"),
            Column("schedule", "Schedule", width="label"),
            Column("zone", "Zone", twin_only=True),
            Column("next_run", "Next run", width="label"),
            Column("last_run", "Last run", width="label"),
            Column("duration_us", "Took", "number"),
            Column("state", "State", width="tight"),
            Column("error", "Error", width="wide", twin_only=not any(run.error for run in last.values())),
        ),
        tuple(
            _job_row(context, job, standing[job.name], last.get(job.name), failed.get(job.name), taken_us)
            for job in there
        ),
        stacked=True,
        deeds=tuple(Deed("Run now", f"Run {job.title} now", f"{PATH}/{job.name}/run") for job in there),
        frame_note=f"{_listed(looking)}: only a look that finds work is a run." if looking else "",
        empty="The service has not begun yet.",
    )


def _looks(job: Job, schedule: Schedule) -> bool:
    """Whether a job looks for work first and leaves no run where there is none."""
    return schedule.enabled and job.has_work is not None


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _last_run(context: Context, job: Job, schedule: Schedule, last: JobRun | None, taken_us: int | None) -> Cell:
    """When a job ran last; one that looks for work first has no run where there was none."""
    if last is not None:
        return cells.moment(last.started_us, context.zone)
    if job.name == INBOX and taken_us is not None:
        taken = f"logs were last taken in {show.moment(taken_us, context.zone)}"
        return Cell(None, "no run of its own yet", note=taken)
    return Cell(None, "nothing to do yet" if _looks(job, schedule) else "never")


def _job_row(
    context: Context,
    job: Job,
    schedule: Schedule,
    last: JobRun | None,
    failed: JobRun | None,
    taken_us: int | None,
) -> tuple[Cell, ...]:
    return (
        cells.text(job.title, href=context.url(PATH, keys={"job": job.name}), note=job.about),
        Cell(schedule.rule, _in_words(schedule.rule), note=_zone_note(context, schedule)),
        cells.text(schedule.zone),
        _next(context, schedule, failed),
        _last_run(context, job, schedule, last, taken_us),
        _took(context, last),
        _state(last),
        _error(last),
    )


def _zone_note(context: Context, schedule: Schedule) -> str:
    """The zone of a time of day, where it is another than that of the page."""
    apart = isinstance(_rule(schedule), Calendar) and schedule.zone != context.view.period.zone
    return schedule.zone if apart else ""


def _rule(schedule: Schedule) -> Rule | None:
    try:
        return parse(schedule.rule)
    except UsageError:
        return None


def _in_words(text: str) -> str:
    """A rule as a sentence says it: `weekly mon 08:00` as `Mondays at 08:00`."""
    try:
        rule = parse(text)
    except UsageError:
        return f"{text} (cannot be read)"
    if not isinstance(rule, Calendar):
        return str(rule).capitalize()
    at = f"at {rule.at:%H:%M}"
    if rule.kind == "weekly":
        return f"{DAY_NAMES[rule.day]}s {at}"
    return f"Daily {at}" if rule.kind == "daily" else f"Day {rule.day} of each month {at}"


def _next(context: Context, schedule: Schedule, failed: JobRun | None) -> Cell:
    """When the clock starts the job next; what is due already waits for its turn."""
    if schedule.asked_us is not None:
        return Cell(show.iso_moment(context.now_us), "now", note="asked for")
    if not schedule.enabled:
        return Cell(None, "switched off", tone="muted")
    rule = _rule(schedule)
    if rule is None:
        return Cell(None, "never", tone="worse")
    zone = zone_info(schedule.zone)
    if isinstance(rule, Calendar):
        waiting = due(rule, schedule.covered_us, context.now_us, anchor_us=schedule.anchor_us, zone=zone)
        if waiting:
            return Cell(show.iso_moment(waiting[0].at_us), "now", note="waits for its turn")
    again_us = None if failed is None else next_try_us(failed, schedule)
    if failed is not None and again_us is not None:
        at_us = max(again_us, context.now_us)
        return Cell(show.iso_moment(at_us), show.moment(at_us, context.zone), note=f"attempt {failed.attempt + 1}")
    coming = following(rule, context.now_us, anchor_us=schedule.anchor_us, zone=zone)
    return cells.moment(coming.at_us, context.zone)


def _took(context: Context, run: JobRun | None) -> Cell:
    if run is None:
        return Cell(None, "")
    if run.ended_us is None:
        return Cell(None, show.duration(context.now_us - run.started_us), note="so far")
    return cells.duration(run.ended_us - run.started_us)


def _state(run: JobRun | None) -> Cell:
    if run is None:
        return Cell(None, "")
    tone: Tone = "worse" if run.state in ("failed", "interrupted") else ""
    return Cell(run.state, STATES[run.state], tone=tone)


def _error(run: JobRun | None) -> Cell:
    error = None if run is None else run.error
    return Cell(error, error or "", tone="worse" if error else "")


def _runs_table(context: Context, jobs: Mapping[str, Job], chosen: str) -> Table:
    control = context.deps.control
    if chosen in jobs:
        rows = job_runs.newest(control, job=chosen, limit=OF_ONE)
        note = f"The newest {OF_ONE}." if len(rows) == OF_ONE else ""
    else:
        rows = job_runs.newest_of_each(control, OF_EACH)
        note = f"The newest {OF_EACH} of each job; open a job for more."
    return Table(
        "runs",
        f"Runs of {jobs[chosen].title}" if chosen in jobs else "Last runs",
        (
            Column("started", "Began", width="tight"),
            Column("job", "Job", width="mid"),
            Column("due", "Was due", width="label"),
            Column("missed", "Missed", "number", "How many earlier runs this one stands for", twin_only=True),
            Column("cause", "Asked by", width="tight"),
            Column("late", "Late", twin_only=True),
            Column(
                "attempt",
                "Attempt",
                "number",
                "More than 1 where an earlier one failed or was interrupted",
                twin_only=True,
            ),
            Column("duration_us", "Took", "number"),
            Column("state", "State", width="tight"),
            Column("error", "Error", width="mid", twin_only=not any(run.error for run in rows)),
            Column("said", "What it said", width="wide"),
        ),
        tuple(_run_row(context, jobs, run) for run in rows),
        frame_note=note,
        empty="It has had nothing to do yet." if chosen in jobs else "No job has had anything to do yet.",
        stacked=True,
    )


def _run_row(context: Context, jobs: Mapping[str, Job], run: JobRun) -> tuple[Cell, ...]:
    said = run.lines.replace("\n", " · ")
    notes = []
    if run.missed:
        notes.append(f"and {show.plural(run.missed, 'missed run')}")
    if run.late:
        notes.append("late")
    return (
        cells.moment(run.started_us, context.zone),
        Cell(run.job, jobs[run.job].title if run.job in jobs else run.job),
        Cell(show.iso_moment(run.scheduled_us), show.moment(run.scheduled_us, context.zone), note=", ".join(notes)),
        cells.count(run.missed),
        Cell(run.cause, "the clock" if run.cause == "clock" else "a reader"),
        Cell(run.late, "late" if run.late else ""),
        cells.count(run.attempt),
        _took(context, run),
        Cell(
            run.state,
            STATES[run.state],
            note=f"attempt {run.attempt}" if run.attempt > 1 else "",
            tone=_state(run).tone,
        ),
        _error(run),
        Cell(run.lines, said[:LINES_SHOWN] + ("…" if len(said) > LINES_SHOWN else ""), tone="muted"),
    )


PAGE = Page(
    name="jobs",
    path=PATH,
    twin=PATH,
    nav="Jobs",
    build=build,
    keys=frozenset({"job", "done"}),
    uses_view=False,
    section="jobs",
)
