"""Wires the weekly report: the stores it reads, the mail server it leaves by, the page and commands that ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.analysis import batch_worth, budgets, spend
from app.control import batches, outbox
from app.control import budgets as control_budgets
from app.core.errors import NotFoundError, UsageError
from app.core.view import UNASSIGNED, zone_info
from app.main.refresh import now_us
from app.plan import store as plan_store
from app.web import format as show
from app.web.commands import ReportDesk
from app.web.render import static_urls
from ingest.connectors.secret_reference import read_secret
from reports import alerts, archive, email, plain, post, savings, smtp, weekly, weeks
from reports.picture import png
from reports.savings import BatchLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from email.message import EmailMessage

    from sqlalchemy import Engine

    from app.analysis.batch_worth import Worth
    from app.control.batches import Job, Tally
    from app.control.outbox import Letter
    from app.core.view import Period
    from app.main.runtime import Runtime
    from app.settings import Settings
    from app.warehouse.store import Session
    from reports.document import Document
    from reports.post import Office

SHOWN_WEEKS: Final = 8
NO_SERVER: Final = (
    "No mail server is set: reports are written to the archive only. Set HALVE_SMTP_URL, HALVE_MAIL_FROM and "
    "HALVE_MAIL_TO (docs/reports.md says how) and start again."
)
MADE_ONLY: Final = "Reports on made data are not mailed: they are written to the archive."


def origin(settings: Settings) -> str:
    """Where the dashboard answers, as links in a mail name it."""
    return settings.public_origin or f"http://{settings.host}:{settings.port}"


def office(runtime: Runtime, settings: Settings, *, now: Callable[[], int] = now_us, made: bool = False) -> Office:
    """What one run of sending needs: all its mails of a week hold the same figures. `made` marks fictional data.

    Raises:
        UsageError: a setting of the mail server or an address cannot be used.
    """
    if settings.smtp_url and not settings.mail_from:
        raise UsageError("HALVE_SMTP_URL is set but HALVE_MAIL_FROM is not: say from which address reports are sent.")
    sender = post.address(settings.mail_from) if settings.mail_from else "halve@localhost"
    deliver = smtp.sender(smtp.server(settings.smtp_url, read_secret)) if settings.smtp_url else None

    prepared: dict[tuple[str, str, int | None], tuple[Document, dict[str, bytes]]] = {}

    def compose(letter: Letter) -> EmailMessage:
        is_alert = letter.report == control_budgets.REPORT
        about = letter.occasion if is_alert else letter.period
        same = (letter.report, about, letter.due_us if letter.is_late else None)
        if same not in prepared:
            report = (
                alerts.document(control_budgets.alert(runtime.control, letter.occasion), settings.zone)
                if is_alert
                else document(runtime, settings, letter.period, letter=letter, now=now)
            )
            prepared[same] = (report, email.drawn_charts(report))
        report, drawn = prepared[same]
        return email.message(
            report,
            sender=sender,
            to=letter.recipient or sender,
            message_id=letter.message_id,
            origin=origin(settings),
            now_us=now(),
            made=made,
            drawn=drawn,
        )

    return post.Office(
        control=runtime.control,
        data_dir=runtime.data_dir,
        zone=settings.zone,
        recipients=post.addresses(settings.mail_to),
        sender=sender,
        compose=compose,
        deliver=deliver,
    )


def send_due(
    runtime: Runtime,
    settings: Settings,
    *,
    due: Sequence[int] = (),
    now: Callable[[], int] = now_us,
    made: bool = False,
) -> Sequence[Letter]:
    """Queue the report of each week that is over and not covered yet, and send what waits; the mails that were tried.

    `due` are the moments (microseconds UTC) at which the schedule wanted it: what comes long after its own says that
    it is late. It may be called at any time and from several processes: each mail is made once. Nothing is due while
    the store holds no request with a time.
    """
    where = office(runtime, settings, now=now, made=made)
    if _has_requests(runtime):
        post.queue_due(where, now(), due)
    return post.deliver_due(where, now)


def send_waiting(
    runtime: Runtime, settings: Settings, *, now: Callable[[], int] = now_us, made: bool = False
) -> Sequence[Letter]:
    """Send what waits in the outbox, and queue nothing; the mails that were tried."""
    return post.deliver_due(office(runtime, settings, now=now, made=made), now)


def mail_waits(control: Engine, now: Callable[[], int] = now_us) -> bool:
    """Whether a mail waits to be sent or tried again: a cheap look."""
    return outbox.waiting(control, now())


def _has_requests(runtime: Runtime) -> bool:
    with runtime.warehouse.session() as session:
        return spend.extent(session) is not None


def document(
    runtime: Runtime,
    settings: Settings,
    week: str = "",
    *,
    letter: Letter | None = None,
    now: Callable[[], int] = now_us,
) -> Document:
    """The report of a week as the figures are now; of the newest complete week where none is named.

    Raises:
        UsageError: the text names no week.
    """
    moment = now()
    chosen = weeks.named(week, settings.zone) if week else weeks.last_complete(settings.zone, moment)
    plan = plan_store.latest(runtime.warehouse, runtime.control, now_us=moment)
    late = ""
    if letter is not None and letter.is_late:
        due = show.moment(letter.due_us, zone_info(settings.zone))
        late = f"This report was due {due} and comes late: the service did not run at that time."
    with runtime.warehouse.session() as session:
        return weekly.build(
            session,
            chosen,
            plan=plan,
            applied=savings.applied(runtime.control, plan, moment),
            batches=_batches(runtime, session, chosen.period),
            month=budgets.month(session, settings.zone, moment),
            budgets=budgets.lines(session, control_budgets.standing(runtime.control), moment),
            late_by=late,
            now_us=moment,
        )


def _batches(runtime: Runtime, session: Session, period: Period) -> tuple[BatchLine, ...]:
    """The jobs that were handed in or settled in the period, and what their discount came to."""
    control = runtime.control

    def touched(job: Job) -> bool:
        moments = (job.created_us, job.settled_us)
        return any(moment is not None and period.from_us <= moment < period.to_us for moment in moments)

    found = [job for job in batches.jobs(control, since_us=period.from_us) if touched(job)]
    if not found:
        return ()
    worth = batch_worth.of_jobs(session, runtime.book, since_us=min(job.created_us for job in found))
    return tuple(
        _batch_line(job, batches.tally(control, job.id), worth.get(job.id, batch_worth.Worth())) for job in found
    )


def _batch_line(job: Job, counts: Tally, worth: Worth) -> BatchLine:
    return BatchLine(
        job=job.label,
        feature=job.feature or UNASSIGNED,
        state=job.outcome or job.state,
        items=job.items,
        succeeded=counts.succeeded,
        failed=counts.failed + counts.expired,
        charged_pusd=worth.charged_pusd,
        saved_pusd=worth.saved_pusd,
        href=f"/batch/jobs/{job.id}",
    )


def desk(
    runtime: Runtime,
    settings: Settings,
    soon: Callable[[Callable[[], None], str], None],
    *,
    now: Callable[[], int] = now_us,
    made: bool = False,
) -> ReportDesk:
    """What the Reports page can ask for; `soon` runs work in the background.

    Raises:
        UsageError: a setting of the mail server or an address cannot be used.
    """
    where = office(runtime, settings, now=now, made=made)

    def listed(at_us: int) -> tuple[tuple[str, str], ...]:
        newest = weeks.last_complete(settings.zone, at_us)
        return tuple((week.name, show.day_span(week.first, week.last)) for week in weeks.before(newest, SHOWN_WEEKS))

    def preview(week: str) -> str:
        shown = document(runtime, settings, week, now=now)
        pictures = {name: f"/reports/preview/{shown.period}/{name}.png" for name in email.charts(shown)}
        return email.preview(shown, stylesheet=static_urls()["mail.css"], pictures=pictures, made=made)

    def picture(week: str, chart: str) -> bytes:
        found = email.charts(document(runtime, settings, week, now=now)).get(chart)
        if found is None:
            raise NotFoundError("That report has no such picture.")
        return png(found)

    def send(week: str, to: str) -> bool:
        recipient = post.allowed(where, to)
        queued = post.queue_now(where, weeks.named(week, settings.zone), recipient, now())
        soon(lambda: _deliver(runtime, settings, now, made), "mail")
        return queued

    return ReportDesk(
        weeks=listed,
        preview=preview,
        text=lambda week: plain.text(document(runtime, settings, week, now=now), origin(settings)),
        picture=picture,
        file=lambda number: archive.file_of(runtime.data_dir, outbox.one(runtime.control, number)),
        send=send,
        recipients=where.recipients,
        missing="" if settings.smtp_url else MADE_ONLY if made else NO_SERVER,
    )


def _deliver(runtime: Runtime, settings: Settings, now: Callable[[], int], made: bool) -> None:
    send_waiting(runtime, settings, now=now, made=made)
