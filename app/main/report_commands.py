"""`halve report show` and `halve report send`, here or through the running service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.control import outbox
from app.core.errors import UnavailableError
from app.main.refresh import now_us
from app.main.reporting import NO_SERVER, document, office, origin
from app.main.runtime import demand_store, opened
from app.main.service_calls import service_client
from reports import archive, email, plain, post, weeks

if TYPE_CHECKING:
    from app.control.outbox import Letter
    from app.main.runtime import Runtime
    from app.settings import Settings
    from reports.post import Office

SEND_TIME_OUT_S: Final = 120


def shown(runtime: Runtime, settings: Settings, week: str, form: str, *, made: bool = False) -> bytes:
    """The report of a week as text, as HTML that stands alone, or as the mail itself (`eml`)."""
    report = document(runtime, settings, week)
    if form == "text":
        return plain.text(report, origin(settings)).encode()
    if form == "html":
        pictures = {name: email.data_address(chart) for name, chart in email.charts(report).items()}
        return email.html(report, origin=origin(settings), pictures=pictures, made=made).encode()
    where = office(runtime, settings)
    mail = email.message(
        report,
        sender=where.sender,
        to=where.recipients[0] if where.recipients else where.sender,
        message_id="<shown@halve.invalid>",
        origin=origin(settings),
        now_us=now_us(),
        made=made,
    )
    return mail.as_bytes()


def send(runtime: Runtime, settings: Settings, week: str, to: str, *, made: bool = False) -> str:
    """Queue the report of a week for one address, send it, and say what became of it.

    Raises:
        UsageError: no week, or no address. UnavailableError: the mail server did not take it; it is tried again.
    """
    where = office(runtime, settings, made=made)
    chosen = weeks.named(week, settings.zone) if week else weeks.last_complete(settings.zone, now_us())
    recipient = post.address(to)
    if not post.queue_now(where, chosen, recipient, now_us()):
        return f"The report of {chosen.name} for {recipient} was asked for a moment ago already."
    for letter in post.deliver_due(where, now_us):
        if letter.recipient == recipient and letter.period == chosen.name:
            return _became(where, outbox.one(runtime.control, letter.id))
    return f"The report of {chosen.name} for {recipient} waits in the outbox."


def _became(where: Office, letter: Letter) -> str:
    if letter.state == "sent":
        return f"Sent the report of {letter.period} to {letter.recipient}."
    if letter.state == "archived":
        return f"{NO_SERVER} It lies in {archive.path_of(where.data_dir, letter)}."
    raise post.not_sent(letter)


def command_show(settings: Settings, *, week: str, form: str) -> bytes:
    """`halve report show`, here or through the running service.

    Raises:
        UnavailableError: the service refused.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.get("/report", params={"week": week, "form": form})
            if answer.is_error:
                raise UnavailableError(answer.json()["error"])
            return answer.content
    with opened(settings) as runtime:
        return shown(runtime, settings, week, form)


def command_send(settings: Settings, *, week: str, to: str) -> str:
    """`halve report send`, here or through the running service.

    Raises:
        UnavailableError: the service refused, or the mail server did not take the mail.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.post("/report/send", data={"week": week, "to": to}, timeout=SEND_TIME_OUT_S)
            if answer.is_error:
                raise UnavailableError(answer.json()["error"])
            return str(answer.json()["said"])
    with opened(settings) as runtime:
        return send(runtime, settings, week, to)
