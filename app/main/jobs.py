"""The jobs of the service, by name: what each does, when it starts out to run, and beside what it may run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from app import batch
from app.analysis.intake import intake
from app.analysis.text_measures import measure_texts
from app.control import batches, job_runs, outbox, schedules
from app.core.errors import InputError, UnavailableError
from app.core.view import zone_info
from app.jobs import Job, parse
from app.main import budgets, reporting
from app.main.batches import FOLDER, make_desk
from app.main.refresh import now_us
from app.warehouse import rollup
from app.warehouse.spans import forget_links
from app.warehouse.texts import drop_unshared
from app.web import format as show
from app.web.commands import JobDesk
from reports import post

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.batch import Desk
    from app.control.outbox import Letter
    from app.jobs import Run
    from app.main.background import Background

WAREHOUSE: Final = "warehouse"
SOURCES: Final = "sources"
MAIL: Final = "mail"
BATCH: Final = "batch"
BUDGETS: Final = "budgets"

DEMO_POLL_US: Final = 2_000_000
KEPT_RUNS: Final = 500
KEPT_RUNS_US: Final = 91 * 86_400_000_000


def jobs(work: Background) -> tuple[Job, ...]:
    """Every job. What works on the warehouse takes turns; waiting mail is sent beside it."""

    def turn(piece: Callable[[Background, Run], None]) -> Callable[[Run], None]:
        return lambda run: work.shown(partial(piece, work, run), run.job)

    return (
        Job(
            "inbox",
            "Take in logs",
            "Merges the logs that the command line and uploads left in the inbox.",
            "every 2 s",
            turn(_inbox),
            has_work=work.inbox_waits,
        ),
        Job(
            "sources",
            "Pull sources",
            "Asks each source whose time has come for what is new.",
            "every 20 s",
            turn(_sources),
            # Beside the warehouse: it waits for servers, and merges what came in turns with the others.
            lane=SOURCES,
            has_work=lambda: bool(work.due_sources()),
        ),
        Job(
            "analysis",
            "Analyse",
            "Attributes requests and prices every lever on the last 30 days.",
            "daily 03:00",
            turn(_analysis),
        ),
        Job(
            "texts",
            "Clear texts and logs",
            "Drops prompt texts older than a day that few requests share, and runs of jobs older than 13 weeks; merges "
            "small pieces of the store's tables.",
            "daily 03:30",
            turn(_retention),
        ),
        Job(
            "rollups",
            "Check sums",
            "Compares the hourly sums with the facts and fills again what differs.",
            "daily 04:30",
            turn(_rollups),
        ),
        Job(
            "report",
            "Weekly report",
            "Sends the report of every week that is over and was not sent yet.",
            "weekly mon 08:00",
            # In turns, so that after a pause the analysis that was missed comes before the report that is made of it.
            turn(_report),
        ),
        Job(
            "budgets",
            "Watch budgets",
            "Measures every budget when logs came in, and mails the thresholds that were passed.",
            "every 1 min",
            partial(_budgets, work),
            # Beside the warehouse: an alert does not wait for an analysis.
            lane=BUDGETS,
            has_work=budgets.Lookout(work.runtime).has_work,
        ),
        Job(
            "batch",
            "Move batches",
            "Takes every batch job that is due one step further: submits, asks, settles, tells its caller.",
            "every 5 s",
            partial(_batches, _desk(work)),
            # Beside the warehouse: it waits for providers, and leaves what they answer in the inbox.
            lane=BATCH,
            has_work=lambda: bool(
                batches.due(work.runtime.control, now_us()) or batches.due_webhooks(work.runtime.control, now_us())
            ),
        ),
        Job(
            "mail",
            "Send waiting mail",
            "Tries mails again that the mail server did not take.",
            "every 1 min",
            partial(_mail, work),
            lane=MAIL,
            has_work=lambda: reporting.mail_waits(work.runtime.control),
        ),
    )


def first_month(work: Background, folder: Path) -> None:
    """Read the logs of a folder and analyse them, each in the run log like a run of its job."""

    def read(run: Run) -> None:
        work.read([folder])
        with work.runtime.warehouse.session() as session:
            taken = intake(session)
        run.say(f"{show.plural(sum(item.read for item in taken), 'record')} of {len(taken)} sources are in.")

    work.clockwork.noted("inbox", read)
    work.clockwork.noted("analysis", partial(_analysis, work))


def desk(work: Background) -> JobDesk:
    """What the Jobs page can ask for."""
    control = work.runtime.control

    def change(job: str, rule: str, zone: str, enabled: bool) -> None:
        named = zone_info(zone.strip()).key
        schedules.change(control, job, rule=str(parse(rule)), zone=named, enabled=enabled, now_us=now_us())

    return JobDesk(tuple(work.clockwork.jobs.values()), work.ask, change)


def _inbox(work: Background, run: Run) -> None:
    summary = work.take_inbox()
    if not summary.read:
        run.say("Nothing new; the sums were brought up to date.")
        return
    run.say(
        f"{show.plural(summary.read, 'record')} read: {show.count(summary.stored)} stored, "
        f"{show.count(summary.updated + summary.merged)} known before, {show.count(summary.benign)} no request, "
        f"{show.count(summary.rejected)} rejected."
    )
    for problem in summary.problems:
        run.say(problem)


def _sources(work: Background, run: Run) -> None:
    failed = []
    for name, error in work.run_due_sources():
        run.say(f"{name}: {error or 'up to date'}")
        if error is not None:
            failed.append(name)
    if failed:
        raise InputError(f"{', '.join(failed)} could not be read; the lines of this run and the page Sources say why.")


def _desk(work: Background) -> Desk:
    """The batch desk; the demo's provider answers within seconds and is asked as often."""
    desk = make_desk(work.runtime.control, work.settings)
    return replace(desk, poll_us=DEMO_POLL_US) if work.made else desk


def _batches(desk: Desk, run: Run) -> None:
    done = batch.advance(desk)
    if done.busy:
        run.say("Another process moves the batches right now.")
        return
    run.say(f"{show.plural(done.jobs, 'job')} moved, {done.settled} settled, {show.plural(done.webhooks, 'webhook')}.")
    for error in done.errors:
        run.say(error)
    if done.errors:
        raise UnavailableError(f"{show.plural(len(done.errors), 'job')} could not be moved: {done.errors[0]}")


def _analysis(work: Background, run: Run) -> None:
    result = work.analyse()
    if result is None:
        run.say("No request has a time yet: nothing to analyse.")
        return
    run.say(f"{show.plural(result.requests, 'request')} of {result.days} days, {show.money(result.known_before_usd)}.")
    inside = sum(item.in_joint for item in result.findings)
    beside = len(result.findings) - inside
    run.say(
        f"{show.plural(inside, 'finding')} worth {show.money(result.joint.p50)} together"
        + (f"; {beside} more in no total, without evidence yet or dismissed." if beside else ".")
    )


def _retention(work: Background, run: Run) -> None:
    if work.settings.text == "shared":
        measure_texts(work.runtime.warehouse)  # a measure outlives its text
        dropped = drop_unshared(work.runtime.warehouse, now_us=now_us())
        run.say(f"{show.plural(dropped, 'text')} dropped.")
    else:
        run.say(f"HALVE_TEXT is {work.settings.text}: no text is dropped.")
    with work.runtime.warehouse.writing() as session:
        forget_links(session, now_us())
    folder = work.runtime.data_dir / FOLDER
    removed = batch.prune(work.runtime.control, folder, now_us() - batch.RESULTS_KEPT_US)
    run.say(f"Results of {show.plural(removed, 'batch job')} removed.")
    forgotten = job_runs.prune(work.runtime.control, before_us=now_us() - KEPT_RUNS_US, keep=KEPT_RUNS)
    run.say(f"{show.plural(forgotten, 'run')} forgotten.")
    work.runtime.warehouse.merge_row_groups()


def _rollups(work: Background, run: Run) -> None:
    with work.runtime.warehouse.writing() as session:
        found = rollup.repair(session)
    for item in found[:20]:
        run.say(f"{show.iso_moment(item.at_us)} {item.measure}: facts {item.facts}, sums {item.rollup}")
    run.say(f"{show.plural(len(found), 'bucket')} differed and were filled again." if found else "They agree.")


def _report(work: Background, run: Run) -> None:
    due = [occurrence.at_us for occurrence in run.scheduled]
    _sent(work, run, reporting.send_due(work.runtime, work.settings, due=due, made=work.made))


def _mail(work: Background, run: Run) -> None:
    _sent(work, run, reporting.send_waiting(work.runtime, work.settings, made=work.made))


def _budgets(work: Background, run: Run) -> None:
    """Claims come first, then the mails go out; what the server does not take now is tried again by the mail job."""
    made = budgets.watch(work.runtime, work.settings, made=work.made)
    for alert in made:
        run.say(f"{alert.facts['budget']}, period from {alert.period}: {alert.threshold} passed.")
    if made:
        _sent(work, run, reporting.send_waiting(work.runtime, work.settings, made=work.made))
    else:
        run.say("No threshold was passed that was not told.")


def _sent(work: Background, run: Run, tried: Sequence[Letter]) -> None:
    """What became of mails, and a failed run where one of them is not out."""
    became = [outbox.one(work.runtime.control, letter.id) for letter in tried]
    for letter in became:
        run.say(f"{letter.period} for {letter.recipient or 'the archive'}: {letter.state}, try {letter.attempts}")
    for letter in became:
        if letter.state not in ("sent", "archived"):
            raise post.not_sent(letter)
    if not became:
        run.say("Nothing was due.")
