"""From what is due to what is sent: weeks become rows of the outbox, rows become mails, mails go out once.

The order makes it safe: the row is claimed, the mail is written to the archive, it is sent, the row says `sent`. A
crash before the server accepts repeats the same file; only one between its acceptance and the last step sends it
twice, and then with the same Message-ID, so that the receiver can drop one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from typing import TYPE_CHECKING, Final

from app.control import outbox
from app.core.errors import HalveError, InputError, UnavailableError, UsageError
from reports import archive, weeks
from reports.weekly import REPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from email.message import EmailMessage
    from pathlib import Path

    from sqlalchemy import Engine

    from app.control.outbox import Letter

UNFORESEEN: Final = "An unexpected error; the service's log has the details."
ARCHIVE_ONLY: Final = ""
"""The recipient of a report that nobody gets by mail."""


@dataclass(frozen=True, slots=True)
class Office:
    """What sending needs.

    Attributes:
        compose: the mail of an outbox row from the store as it is now.
        deliver: hands a mail to the server; None where no server is set and the archive is the destination.
        recipients: who gets the scheduled report.
    """

    control: Engine
    data_dir: Path
    zone: str
    recipients: tuple[str, ...]
    sender: str
    compose: Callable[[Letter], EmailMessage]
    deliver: Callable[[EmailMessage], None] | None


def addresses(text: str) -> tuple[str, ...]:
    """The addresses of a list separated by spaces or commas, each once.

    Raises:
        UsageError: one of them is no address.
    """
    return tuple(dict.fromkeys(address(part) for part in text.replace(",", " ").split()))


def address(text: str) -> str:
    """One plain address, `name@host`.

    Raises:
        UsageError: it is none.
    """
    plain = text.strip()
    try:
        found = Address(addr_spec=plain)
    except (HeaderParseError, ValueError, IndexError):
        found = Address()
    if not found.username or not found.domain or len(plain) > 320 or not plain.isprintable():
        raise UsageError(f"{plain[:80]!r} is no mail address. Write it as name@example.org.")
    return plain


def allowed(office: Office, to: str) -> str:
    """An address that a page may send to: in one of the domains that the operator named, so that figures stay inside.

    Raises:
        UsageError: it is no address, or lies elsewhere.
    """
    recipient = address(to)
    known = {item.rpartition("@")[2].lower() for item in (*office.recipients, office.sender)}
    if office.deliver is not None and recipient.rpartition("@")[2].lower() not in known:
        raise UsageError(
            f"Reports are sent from here only to {', '.join(sorted(known))}: the domains of HALVE_MAIL_TO and "
            "HALVE_MAIL_FROM. `halve report send --to` sends to any address."
        )
    return recipient


def queue_due(office: Office, now_us: int, due: Sequence[int] = ()) -> int:
    """Queue the report of every week that is over and not covered yet; how many mails that made.

    `due` are the moments at which the schedule wanted it, so that a report that comes long after its own says so.
    Calling it again, from a second process or after a restart adds nothing.
    """
    covered = outbox.last_period(office.control, REPORT)
    return sum(
        outbox.add(
            office.control,
            everybody(office),
            report=REPORT,
            period=week.name,
            now_us=now_us,
            # The first report of all is not late: nobody waited for it.
            due_us=None if covered is None else min((at for at in due if at >= week.period.to_us), default=None),
        )
        for week in weeks.uncovered(office.zone, now_us, covered)
    )


def queue_now(office: Office, week: weeks.Week, recipient: str, now_us: int) -> bool:
    """Queue the report of a week for one reader who asks for it; a second click in the same minute adds nothing."""
    made = outbox.add(
        office.control,
        _with_ids(office, (recipient,)),
        report=REPORT,
        period=week.name,
        occasion=f"asked {now_us // outbox.MINUTE_US}",
        now_us=now_us,
    )
    return made > 0


def everybody(office: Office) -> dict[str, str]:
    """Who gets what is sent by itself: each address, or the archive alone, with a new Message-ID."""
    return _with_ids(office, office.recipients or (ARCHIVE_ONLY,))


def _with_ids(office: Office, recipients: Sequence[str]) -> dict[str, str]:
    return {recipient: _message_id(office) for recipient in recipients}


def _message_id(office: Office) -> str:
    domain = office.sender.rpartition("@")[2] or "halve.invalid"
    return f"<{secrets.token_hex(16)}@{domain}>"


def deliver_due(office: Office, now: Callable[[], int]) -> Sequence[Letter]:
    """Send everything that waits and is due; the letters that were tried, as they were when claimed."""
    tried = []
    while (letter := outbox.claim(office.control, now())) is not None:
        _one(office, letter, now)
        tried.append(letter)
    return tried


def _one(office: Office, letter: Letter, now: Callable[[], int]) -> None:
    subject = letter.subject
    try:
        mail = archive.kept(office.data_dir, letter)
        if mail is None:
            mail = office.compose(letter)
            archive.keep(office.data_dir, letter, mail)
        subject = str(mail["Subject"])
        if office.deliver is None or letter.recipient == ARCHIVE_ONLY:
            outbox.done(office.control, letter, "archived", subject=subject, now_us=now())
            return
        office.deliver(mail)
    except HalveError as error:
        final = isinstance(error, InputError)
        outbox.missed(office.control, letter, str(error), subject=subject, final=final, now_us=now())
    except Exception:
        outbox.missed(office.control, letter, UNFORESEEN, subject=subject, final=False, now_us=now())
        raise
    else:
        outbox.done(office.control, letter, "sent", subject=subject, now_us=now())


def not_sent(letter: Letter) -> UnavailableError:
    """Why a mail is not out, for who asked for it."""
    again = "It is tried again by itself." if letter.state == "queued" else "It is not tried again."
    return UnavailableError(f"The report was not sent: {letter.error or 'another process holds it'} {again}")
