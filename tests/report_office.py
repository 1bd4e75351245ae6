"""The made company with its weekly report wired as the service does it, and a mail server to receive it."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from functools import cache
from typing import TYPE_CHECKING, Any

from aiosmtpd.controller import Controller
from dashboard_company import NOW_US, ZONE, Company

from app.main import reporting
from app.main.price_books import Books
from app.main.runtime import Runtime
from app.pricing.book import PriceBook
from app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from app.web.deps import Deps

WEEK = "2026-W46"
DAYS = "9–15 Nov 2026"


@dataclass
class Clock:
    """The present of a test, in microseconds UTC."""

    us: int = NOW_US

    def __call__(self) -> int:
        return self.us


@cache
def book() -> PriceBook:
    return PriceBook.load(None, None)


def runtime_of(made: Company, folder: Path) -> Runtime:
    return Runtime(folder, made.deps.warehouse, made.deps.control, Books.fixed(book()))


def settings_of(folder: Path, **given: Any) -> Settings:
    return Settings(data_dir=folder, zone=ZONE, public_origin="https://halve.example", **given)


def with_desk(made: Company, folder: Path, **given: Any) -> Deps:
    """The company's dashboard with its reports; what runs in the background runs at once."""

    def at_once(work: Callable[[], None], _name: str) -> None:
        work()

    desk = reporting.desk(runtime_of(made, folder), settings_of(folder, **given), at_once, now=made.deps.now)
    return replace(made.deps, commands=replace(made.deps.commands, reports=desk))


@dataclass
class Mailbox:
    """A mail server on loopback. `answers` are what it says to the next mails; None takes one."""

    port: int = 0
    answers: list[str | None] = field(default_factory=list)
    received: list[EmailMessage] = field(default_factory=list)
    envelopes: list[tuple[str, list[str]]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            return answer
        self.raw.append(envelope.content)
        mail = message_from_bytes(envelope.content, policy=default)
        assert isinstance(mail, EmailMessage)
        self.received.append(mail)
        self.envelopes.append((envelope.mail_from, list(envelope.rcpt_tos)))
        return "250 taken"


@contextmanager
def mailbox(of: type[Mailbox] = Mailbox, **options: Any) -> Iterator[Mailbox]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    box = of(port)
    controller = Controller(box, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()
