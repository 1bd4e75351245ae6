"""Sending a mail through the team's SMTP server, as a plain callable `deliver(message)`.

Where the server is comes from one address, `smtp://user@host:587?password=env:NAME`: TLS is demanded (STARTTLS, or from
the start with `smtps://`) unless the server is on this machine or `?tls=off` says otherwise; a password never travels
without it.
"""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from app.core.errors import InputError, UnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import EmailMessage

TIME_OUT_S: Final = 30
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
PORTS: Final = {"smtp": 587, "smtps": 465}
HOW: Final = (
    "Write HALVE_SMTP_URL as smtp://user@host:587?password=env:NAME (or smtps://, or file:PATH for the password), "
    "or as env:NAME or file:PATH of a whole address."
)


@dataclass(frozen=True, slots=True)
class Server:
    """A mail server; `password` is a reference (env:NAME, file:PATH) until it is used."""

    host: str
    port: int
    user: str
    password: str
    tls: bool
    from_the_start: bool


def server(address: str, read_secret: Callable[[str], str]) -> Server:
    """The server behind an address; an address that is itself a reference may hold the password in its text.

    Raises:
        UsageError: the address cannot be read, or holds a password that would be shown with the settings.
    """
    referenced = address.startswith(("env:", "file:"))
    parts = urlsplit(read_secret(address) if referenced else address)
    options = dict(parse_qsl(parts.query))
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in PORTS or not parts.hostname or port == -1 or options.keys() - {"password", "tls"}:
        raise UsageError(f"The address of the mail server cannot be read. {HOW}")
    if parts.password and not referenced:
        raise UsageError(f"HALVE_SMTP_URL holds a password. {HOW}")
    password = options.get("password", "")
    if password and not password.startswith(("env:", "file:")):
        raise UsageError(f"The password of the mail server is given as its own text. {HOW}")
    return Server(
        host=parts.hostname,
        port=port or PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=read_secret(password) if password else unquote(parts.password or ""),
        tls=options.get("tls", "off" if parts.hostname in LOOPBACK else "on") != "off",
        from_the_start=parts.scheme == "smtps",
    )


def sender(where: Server, *, trusted: ssl.SSLContext | None = None) -> Callable[[EmailMessage], None]:
    """`deliver(message)`: returns as soon as the server has accepted the mail.

    `trusted` replaces the machine's certificates. The callable raises UnavailableError where a later try may work and
    InputError where the server refuses this sender, recipient or mail for good.

    Raises:
        UsageError: a password would travel in the clear.
    """
    context = trusted or ssl.create_default_context()
    if where.user and not (where.tls or where.from_the_start or where.host in LOOPBACK):
        raise UsageError(
            f"The password for {where.host} would travel in the clear. Take ?tls=off out of HALVE_SMTP_URL."
        )

    def deliver(message: EmailMessage) -> None:
        try:
            connection = _connected(where, context)
            try:
                connection.send_message(message)
            finally:
                _leave(connection)
        except smtplib.SMTPRecipientsRefused as error:
            code, text = next(iter(error.recipients.values()))
            raise _refusal(where, code, text) from error
        except smtplib.SMTPAuthenticationError as error:
            raise UnavailableError(
                f"{where.host} refused the user name or password ({error.smtp_code}). Correct HALVE_SMTP_URL."
            ) from error
        except smtplib.SMTPResponseException as error:
            raise _refusal(where, error.smtp_code, error.smtp_error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise UnavailableError(f"{where.host}:{where.port} did not take the mail: {error}.") from error

    return deliver


def _connected(where: Server, context: ssl.SSLContext) -> smtplib.SMTP:
    if where.from_the_start:
        connection: smtplib.SMTP = smtplib.SMTP_SSL(where.host, where.port, timeout=TIME_OUT_S, context=context)
    else:
        connection = smtplib.SMTP(where.host, where.port, timeout=TIME_OUT_S)
    try:
        connection.ehlo()
        if where.tls and not where.from_the_start:
            connection.starttls(context=context)
            connection.ehlo()
        if where.user:
            connection.login(where.user, where.password)
    except BaseException:
        connection.close()
        raise
    return connection


def _leave(connection: smtplib.SMTP) -> None:
    """Say good-bye without waiting for the answer: what was accepted is accepted, and the outbox wants to know now."""
    try:
        connection.putcmd("quit")
    except (smtplib.SMTPException, OSError):
        return
    finally:
        connection.close()


def _refusal(where: Server, code: int, text: bytes | str) -> InputError | UnavailableError:
    said = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    told = f"{where.host} answered {code} {' '.join(said.split())[:300]}"
    return InputError(told) if 500 <= code < 600 else UnavailableError(told)
