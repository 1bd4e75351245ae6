"""A made company's calls as its logs hold them, and the usage and cost reports that its provider makes of them.

Rates are written out here in USD per million tokens, so that a bill never comes from the price book under test.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from app.analysis import bills, rules
from app.analysis.reconciled_share import reconciled_share
from app.analysis.reconciliation import reconcile
from app.analysis.refresh import refresh
from app.analysis.spend import whole_period
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from app.analysis.reconciliation import Reconciliation
    from ingest.summary import Summary

FIRST = datetime(2026, 3, 2, tzinfo=UTC)
RATES = {
    "gpt-4o-2024-08-06": {"input": "2.50", "cached input": "1.25", "output": "10"},
    "gpt-4o-mini-2024-07-18": {"input": "0.15", "cached input": "0.075", "output": "0.60"},
}
CLASSES = ("input", "cached input", "output")
BOOK = PriceBook.load(None)


@dataclass(frozen=True)
class Call:
    """One true call: what the provider served and charged."""

    number: int
    model: str
    at: datetime
    prompt: int
    cached: int
    answer: int

    @property
    def tokens(self) -> dict[str, int]:
        return {"input": self.prompt - self.cached, "cached input": self.cached, "output": self.answer}

    def logged(self, **changes: Any) -> dict[str, Any]:
        """The response as a client logs it."""
        call = replace(self, **changes)
        return {
            "id": f"chatcmpl-{call.number:024d}",
            "object": "chat.completion",
            "created": int(call.at.timestamp()),
            "model": call.model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": call.prompt,
                "completion_tokens": call.answer,
                "total_tokens": call.prompt + call.answer,
                "prompt_tokens_details": {"cached_tokens": call.cached},
            },
        }


def month(days: int = 14, calls_a_day: int = 12) -> list[Call]:
    """Calls of every day, no two of which have the same tokens."""
    made = []
    for number in range(days * calls_a_day):
        day, place = divmod(number, calls_a_day)
        model = sorted(RATES)[place % 2]
        at = FIRST + timedelta(days=day, hours=1 + 20 * place / calls_a_day)
        made.append(Call(number, model, at, 100_000 + 997 * number, 40_000 + 101 * number, 9_000 + 13 * number))
    return made


Lines = dict[tuple[str, str, str], int]


def charged(calls: Iterable[Call]) -> Lines:
    """(day, model, class) -> tokens, as the provider counts them."""
    sums: Lines = defaultdict(int)
    for call in calls:
        for name, tokens in call.tokens.items():
            sums[call.at.date().isoformat(), call.model, name] += tokens
    return dict(sums)


@dataclass
class Bill:
    """What the provider says: tokens by day, model and class, and what it charges for them beside RATES."""

    tokens: Lines
    rates: dict[tuple[str, str, str], str] = field(default_factory=dict)
    extra: list[tuple[str, str, str]] = field(default_factory=list)
    other_models: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def cost(self, key: tuple[str, str, str]) -> Decimal:
        """USD of one line."""
        rate = self.rates.get(key) or {**RATES, **self.other_models}[key[1]][key[2]]
        return Decimal(self.tokens[key]) * Decimal(rate) / 1_000_000

    def total(self) -> Decimal:
        return sum((self.cost(key) for key in self.tokens), Decimal(0)) + sum(
            Decimal(cost) for _, _, cost in self.extra
        )

    def costs_page(self) -> dict[str, Any]:
        """A page of the costs API."""
        buckets: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for day, model, name in sorted(self.tokens):
            key = (day, model, name)
            buckets[day].append(_cost(f"{model}, {name}", float(self.cost(key))))
        for day, item, cost in self.extra:
            buckets[day].append(_cost(item, float(cost)))
        return _page(buckets)

    def usage_page(self) -> dict[str, Any]:
        """A page of the usage API."""
        buckets: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for day, model in sorted({(day, model) for day, model, _ in self.tokens}):
            fresh, cached, answer = (self.tokens.get((day, model, name), 0) for name in CLASSES)
            buckets[day].append(
                {
                    "object": "organization.usage.completions.result",
                    "input_tokens": fresh + cached,
                    "input_cached_tokens": cached,
                    "input_uncached_tokens": fresh,
                    "output_tokens": answer,
                    "num_model_requests": 6,
                    "project_id": None,
                    "model": model,
                    "batch": False,
                }
            )
        return _page(buckets)


def _cost(item: str, value: float) -> dict[str, Any]:
    amount = {"value": value, "currency": "usd"}
    return {"object": "organization.costs.result", "amount": amount, "line_item": item, "project_id": None}


def _page(buckets: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    data = []
    for day, results in sorted(buckets.items()):
        start = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
        data.append({"object": "bucket", "start_time": start, "end_time": start + 86_400, "results": results})
    return {"object": "page", "data": data, "has_more": False, "next_page": None}


@dataclass
class Books:
    """A store that logs and bills are read into."""

    folder: Path
    warehouse: Warehouse
    book: PriceBook = BOOK

    def read(self, name: str, *records: Any, source: str | None = None) -> Summary:
        """Write records as JSON lines under a name and read them, as `halve ingest` does."""
        path = self.folder / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return self.read_file(path, source=source)

    def read_file(self, path: Path, *, source: str | None = None) -> Summary:
        summary = ingest_paths(
            [path],
            warehouse=self.warehouse,
            pricer=Pricer(self.book),
            data_dir=self.folder / "data",
            source=source,
        )
        with self.warehouse.writing() as session:
            refresh(session, rules.load(), now_us=1, zone="UTC")
            bills.settle(session, self.book)
        return summary

    def reconciled(self) -> Reconciliation:
        with self.warehouse.session() as session:
            found = reconcile(session, whole_period(session, "UTC"))
            share = reconciled_share(session, whole_period(session, "UTC"))
        assert found is not None
        assert share == pytest.approx(found.share), "pages that show only the share say the same"
        return found

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """What stands in the store."""
        with self.warehouse.session() as session:
            return session.connection.execute(text).fetchall()


def open_books(folder: Path, book: PriceBook = BOOK) -> Books:
    warehouse = Warehouse(folder / "data")
    migrate(warehouse)
    return Books(folder, warehouse, book)
