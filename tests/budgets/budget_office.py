"""A store whose spend a test moves event by event, with real mails in a real outbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl
from report_office import Clock, settings_of

from app.analysis.budgets import terms_of
from app.control import budgets, migrate, open_control, outbox
from app.core.money import pico
from app.main import budgets as deeds
from app.main.price_books import Books
from app.main.runtime import Runtime
from app.warehouse.migrate import migrate as migrate_warehouse
from app.warehouse.rollup import rebuild
from app.warehouse.store import Warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from app.control.budgets import Alert, Budget
    from app.pricing.book import PriceBook
    from app.settings import Settings

TO = "ana@acme.example ben@acme.example"
DAY_US = 86_400_000_000


def us(text: str) -> int:
    """Microseconds UTC of an ISO instant with offset."""
    return int(datetime.fromisoformat(text).timestamp()) * 1_000_000


@dataclass
class Office:
    """Both stores on disk, a clock that a test moves, and the budgets on them."""

    folder: Path
    book: PriceBook
    clock: Clock = field(default_factory=lambda: Clock(us("2026-11-18T12:00+00:00")))
    mail_to: str = TO
    smtp_url: str = ""
    _requests: int = 0
    runtime: Runtime = field(init=False)

    def __post_init__(self) -> None:
        warehouse = Warehouse(None)
        migrate_warehouse(warehouse)
        with warehouse.writing() as session:
            session.connection.execute("INSERT INTO sources VALUES ('made', 'made', 'api', 'user')")
            rebuild(session)
        control = open_control(self.folder)
        migrate(control)
        self.runtime = Runtime(self.folder, warehouse, control, Books.fixed(self.book))

    @property
    def settings(self) -> Settings:
        return settings_of(self.folder, smtp_url=self.smtp_url, mail_from="halve@acme.example", mail_to=self.mail_to)

    def restart(self) -> None:
        """What the process knew is gone; what it stored is there."""
        self.runtime.control.dispose()
        old = self.runtime
        self.runtime = Runtime(old.data_dir, old.warehouse, open_control(self.folder), old.books)

    def budget(self, amount: str, thresholds: str = "50 80 100", **given: Any) -> Budget:
        terms = terms_of(
            **{"name": "all", "amount": amount, "every": "month", "zone": "UTC", "thresholds": thresholds}
            | {"forecast": False}
            | given
        )
        return budgets.add(self.runtime.control, terms, self.clock() - 60 * DAY_US)

    def change(self, budget: Budget, **given: Any) -> Budget:
        fields = {"name": budget.terms.name, "every": budget.terms.every, "zone": budget.terms.zone}
        terms = terms_of(**fields | {"amount": "0", "forecast": False} | given)
        return budgets.change(self.runtime.control, budget.id, terms, self.clock())

    def spend(self, cost: str | None, *, at: str | None = None, **columns: Any) -> int:
        """One request of a cost in USD, None for one without a price; its key."""
        self._requests += 1
        at_us = self.clock() if at is None else us(at)
        pusd = None if cost is None else pico(cost)
        row = {
            "request_key": self._requests,
            "source": "made",
            "provider": "openai",
            "model": "gpt-5",
            "model_id": "gpt-5",
            "operation": "chat",
            "is_batch": False,
            "start_us": at_us,
            "status": "ok",
            "tok_input": 1000,
            "input_pusd": pusd,
            "cost_pusd": pusd,
            "cost_state": "unpriced" if cost is None else "priced",
            "fullness": 1,
        } | {key: value for key, value in columns.items() if key != "feature"}
        feature = columns.get("feature", "chat")
        with self.runtime.warehouse.writing() as session:
            session.register("one_row", pl.DataFrame([row], infer_schema_length=None))
            session.connection.execute(f"INSERT INTO requests ({', '.join(row)}) SELECT * FROM one_row")
            session.connection.execute(
                "INSERT INTO attribution VALUES (?, ?, 'core', 'production', NULL, 'tag', 1)", [self._requests, feature]
            )
            rebuild(session)
        return self._requests

    def correct(self, key: int, cost: str) -> None:
        """A request turns out to have cost something else."""
        with self.runtime.warehouse.writing() as session:
            session.connection.execute(
                "UPDATE requests SET cost_pusd = ?, input_pusd = ? WHERE request_key = ?", [pico(cost), pico(cost), key]
            )
            rebuild(session)

    def watch(self) -> list[Alert]:
        return list(deeds.watch(self.runtime, self.settings, now=self.clock))

    def letters(self) -> list[outbox.Letter]:
        return [item for item in reversed(outbox.newest(self.runtime.control)) if item.report == budgets.REPORT]

    def close(self) -> None:
        self.runtime.control.dispose()
        self.runtime.warehouse.close()
