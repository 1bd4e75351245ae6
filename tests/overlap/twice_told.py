"""A store with sources that tell of the same calls, each under ids of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from app.analysis import overlap, spend
from app.analysis.refresh import refresh
from app.analysis.rules import load
from app.core import view as views
from app.core.view import View
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse

BEGIN_US = 1_790_000_000_000_000
SECOND_US = 1_000_000
HOUR_US = 3600 * SECOND_US
CENT_PUSD = 10**10


@dataclass(frozen=True)
class Call:
    """One call as it happened; every source tells of it in its own row."""

    start_us: int
    model: str
    tokens_in: int
    tokens_out: int

    @property
    def cost_pusd(self) -> int:
        return self.tokens_in * 1_000_000 + self.tokens_out * 10_000_000


def calls(count: int, seed: int = 1, *, begin_us: int = BEGIN_US, every_us: int = 37 * SECOND_US) -> list[Call]:
    rng = random.Random(seed)
    return [
        Call(
            begin_us + number * every_us + rng.randrange(SECOND_US),
            rng.choice(["gpt-5", "gpt-5-mini"]),
            rng.randrange(200, 9_000),
            rng.randrange(5, 900),
        )
        for number in range(count)
    ]


@dataclass
class Store:
    """A warehouse that sources are told into, and what people decided about them."""

    decisions: dict[tuple[str, str], str | None] = field(default_factory=dict)
    warehouse: Warehouse = field(default_factory=lambda: Warehouse(None))
    _told: int = 0

    def __post_init__(self) -> None:
        migrate(self.warehouse)

    def tell(self, source: str, told: list[Call], *, late_us: int = 0, split: bool = False) -> None:
        """Rows of a source, its clock `late_us` behind; `split` reports part of the input as read from a cache."""
        rows: list[dict[str, Any]] = []
        for call in told:
            self._told += 1
            cached = call.tokens_in // 3 if split else None
            rows.append(
                {
                    "request_key": self._told,
                    "source": source,
                    "source_record": f"{source}-{self._told}",
                    "provider": "openai",
                    "model": call.model,
                    "model_id": call.model,
                    "operation": "chat",
                    "is_batch": False,
                    "start_us": call.start_us + late_us,
                    "status": "ok",
                    "tags": '{"feature": "chat"}',
                    "tok_input": call.tokens_in - (cached or 0),
                    "tok_cache_read": cached,
                    "tok_output": call.tokens_out,
                    "input_pusd": call.cost_pusd,
                    "cost_pusd": call.cost_pusd,
                    "cost_state": "priced",
                    "fullness": 1,
                }
            )
        with self.warehouse.writing() as session:
            session.register("told_rows", pl.DataFrame(rows, infer_schema_length=None))
            session.connection.execute(f"INSERT INTO requests ({', '.join(rows[0])}) SELECT * FROM told_rows")
            refresh(session, load(None), now_us=BEGIN_US, zone="UTC")
            overlap.follow(session, self.decisions)

    def decide(self, a: str, b: str, counted: str | None) -> None:
        self.decisions[min(a, b), max(a, b)] = counted
        with self.warehouse.writing() as session:
            overlap.hold(session, self.decisions)

    def found(self) -> dict[tuple[str, str], overlap.Overlap]:
        with self.warehouse.session() as session:
            return {one.pair: one for one in overlap.standing(session)}

    def held(self) -> dict[str, int]:
        with self.warehouse.session() as session:
            return {one.source: one.requests for one in overlap.held(session)}

    def total(self, by: str = "source") -> tuple[int, int]:
        """Requests and pico-USD that count, as every page says them; all views must agree."""
        view = View(views.period("all", "UTC", BEGIN_US + 400 * 24 * HOUR_US))
        with self.warehouse.session() as session:
            figures = spend.ranking(session, view, by=by).total
            return figures.requests, figures.cost_pusd or 0
