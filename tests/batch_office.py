"""The made company with batches: real desk, real ingest, the demo provider, and a clock that tests hold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dashboard_company import NOW_US, ZONE, Company, company

from app import batch
from app.auth.access import first_token
from app.control import batches, migrate, open_control
from app.main.batch_pages import FILES, batch_desk, upstreams
from app.main.batches import make_desk
from app.main.price_books import Books
from app.main.refresh import attribute_and_sum
from app.main.runtime import Runtime
from app.pricing.book import PriceBook
from app.settings import Settings
from ingest.inbox import take_inbox

if TYPE_CHECKING:
    from pathlib import Path

    from app.control.batches import Job
    from app.web.batch_desk import Upstream

SECOND_US = 1_000_000
_BOOKS: list[PriceBook] = []


def book() -> PriceBook:
    """The price book, compiled once a run of the tests."""
    if not _BOOKS:
        _BOOKS.append(PriceBook.load(None))
    return _BOOKS[0]


class Office:
    """One data folder behind a dashboard; `work` is what the service does between two looks of its readers."""

    def __init__(
        self,
        data: Path,
        given: tuple[Upstream, ...] | None = None,
        rows: list[dict[str, Any]] | None = None,
        **deps: Any,
    ) -> None:
        self.now_us = NOW_US
        self.asked = 0
        made = company(rows, **deps)
        settings = Settings(data_dir=data, allow_hosts="127.0.0.1", zone=ZONE)
        control = open_control(data)
        migrate(control)
        token = first_token(control, NOW_US)
        assert token is not None
        desk = make_desk(control, settings, clock=lambda: self.now_us)
        self.desk = replace(desk, jitter=lambda: 0.5, poll_us=SECOND_US)
        pages = batch_desk(self.desk, data / FILES, book, given or upstreams(demo=True), self._ask)
        commands = replace(made.deps.commands, batch=pages)
        self.company = Company(
            replace(made.deps, control=control, commands=commands, now=lambda: self.now_us), made.deeds, token
        )
        self.runtime = Runtime(data, made.deps.warehouse, control, Books.fixed(book()))

    def _ask(self) -> None:
        self.asked += 1

    def close(self) -> None:
        self.runtime.control.dispose()
        self.runtime.warehouse.close()

    def work(self, seconds: float = 0.0) -> None:
        """Let time pass, take one step of every job, and take in what came back."""
        self.now_us += round(seconds * SECOND_US)
        found = batch.advance(self.desk)
        assert not found.errors, found.errors
        take_inbox(self.runtime.warehouse, self.runtime.pricer, self.runtime.data_dir)
        attribute_and_sum(self.runtime, ZONE)

    def until_settled(self, job_id: str, every_s: float = 61.0, most: int = 50) -> Job:
        for _ in range(most):
            job = batches.job(self.runtime.control, job_id)
            if job.state == "settled":
                return job
            self.work(every_s)
        raise AssertionError(f"{job_id} is stuck: {job}")


def chat(custom_id: str, text: str = "hello", model: str = "gpt-5-mini", cap: int | None = 200, **body: Any) -> str:
    """One request line as OpenAI takes it."""
    asked = {"model": model, "messages": [{"role": "user", "content": text}], **body}
    if cap is not None:
        asked["max_completion_tokens"] = cap
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": asked})


def chats(count: int) -> bytes:
    """A file of request lines."""
    return "\n".join(
        chat(f"row-{number}", f"Classify ticket {number}: " + "word " * 90) for number in range(count)
    ).encode()
