"""A whole Halve around a peer: real control store, real files, the real ingest, a clock that tests hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from app import batch
from app.batch import Desk, Order
from app.control import batches, migrate, open_control
from app.main.batches import make_desk
from app.pricing.book import PriceBook
from app.settings import Settings
from app.warehouse.migrate import migrate as migrate_warehouse
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest.inbox import take_inbox

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from app.control.batches import Job

NOW_US = 1_790_000_000_000_000
SECOND_US = 1_000_000


@dataclass
class Clock:
    """Microseconds that pass only when a test lets them."""

    us: int = NOW_US

    def __call__(self) -> int:
        return self.us

    def seconds(self) -> float:
        return self.us / SECOND_US

    def pass_s(self, seconds: float) -> None:
        self.us += round(seconds * SECOND_US)


@dataclass
class World:
    """One data folder. `charges` counts what each call of the sink brought."""

    data: Path
    clock: Clock = field(default_factory=Clock)
    listing_us: int | None = None
    sunk: list[tuple[str, int]] = field(default_factory=list)
    desk: Desk = field(init=False)

    def __post_init__(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(data_dir=self.data, allow_hosts="127.0.0.1")
        self.control = open_control(self.data)
        migrate(self.control)
        made = make_desk(self.control, self.settings, clock=self.clock)
        self.desk = replace(made, jitter=lambda: 0.5, listing_us=self.listing_us, sink=self._sink(made))

    def _sink(self, made: Desk) -> Any:
        def sink(lines: Iterable[bytes], origin: batch.Origin) -> None:
            held = list(lines)
            self.sunk.append((f"{origin.job}/{origin.part}", len(held)))
            made.sink(held, origin)

        return sink

    def close(self) -> None:
        self.control.dispose()

    def submit(self, lines: Iterable[bytes], provider: str = "openai", **order: Any) -> Job:
        return batch.submit(self.desk, lines, Order(provider=provider, **order))

    def advance(self, times: int = 1, every_s: float = 0.0) -> None:
        for _ in range(times):
            found = batch.advance(self.desk)
            assert not found.errors, found.errors
            self.clock.pass_s(every_s)

    def until_settled(self, job: Job, every_s: float = 61.0, most: int = 200) -> batch.JobView:
        for _ in range(most):
            if (found := self.view(job)).job.state == "settled":
                return found
            self.advance(every_s=every_s)
        raise AssertionError(f"{job.id} is stuck: {self.view(job)}")

    def view(self, job: Job) -> batch.JobView:
        return batch.view(self.control, self.desk.folder, job.id)

    def states(self, job: Job) -> dict[str, str]:
        return {item.caller_id: item.state for item in batches.all_items(self.control, job.id)}

    def results(self, job: Job) -> list[dict[str, Any]]:
        path = batch.results_file(self.control, self.desk.folder, job.id)
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def requests(self, *columns: str) -> list[tuple[Any, ...]]:
        """The charged requests as the warehouse holds them, after the inbox was taken in."""
        warehouse = Warehouse(self.data, memory_limit="256MB")
        try:
            migrate_warehouse(warehouse)
            take_inbox(warehouse, Pricer(book()), self.data)
            with warehouse.session() as session:
                names = ", ".join(columns)
                return session.connection.execute(f"SELECT {names} FROM requests ORDER BY ALL").fetchall()
        finally:
            warehouse.close()


_BOOKS: list[PriceBook] = []


def book() -> PriceBook:
    """The price book, compiled once a run of the tests."""
    if not _BOOKS:
        _BOOKS.append(PriceBook.load(None))
    return _BOOKS[0]


def chat(custom_id: str, text: str = "hello", model: str = "gpt-4o-mini", **body: Any) -> bytes:
    """One request line of OpenAI's dialect."""
    asked = {"model": model, "messages": [{"role": "user", "content": text}], **body}
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": asked}).encode()


def message(custom_id: str, text: str = "hello", model: str = "claude-sonnet-4-5", **params: Any) -> bytes:
    """One request line of Anthropic's dialect."""
    asked = {"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": text}], **params}
    return json.dumps({"custom_id": custom_id, "params": asked}).encode()


def chats(count: int) -> list[bytes]:
    return [chat(f"row-{number}", f"question {number}") for number in range(1, count + 1)]


def messages(count: int) -> list[bytes]:
    return [message(f"row-{number}", f"question {number}") for number in range(1, count + 1)]
