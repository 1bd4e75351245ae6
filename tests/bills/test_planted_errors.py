"""Errors planted at random, any of six kinds on any cells: each is found by its name, whole, and nothing else is."""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_bills import RATES, Bill, Call, charged, month, open_books

from app.core.money import usd

GROUPS = {"input": "input", "cached input": "cache_read", "output": "output"}
HOUSE = "house-model-1"
HOUSE_RATES = {HOUSE: {"input": "3", "cached input": "1", "output": "9"}}
KINDS = ("not logged", "mis-dated", "price", "unpriced class", "double", "class split")
DAYS = 12
Place = tuple[str, str, str]
"""Day, model as plain text begins, class of a cell."""


def day_of(call: Call) -> str:
    return call.at.date().isoformat()


@dataclass
class Planted:
    """Logs and a bill that say the same, until errors are planted; and what each error must be found as."""

    rng: random.Random
    calls: list[Call] = field(default_factory=list)
    logged: dict[int, dict[str, Any]] = field(default_factory=dict)
    again: list[dict[str, Any]] = field(default_factory=list)
    billed: dict[Place, int] = field(default_factory=dict)
    rates: dict[Place, str] = field(default_factory=dict)
    expected: dict[str, dict[Place, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))

    def __post_init__(self) -> None:
        self.calls = [
            replace(
                call,
                prompt=call.prompt + self.rng.randrange(900),
                cached=call.cached + self.rng.randrange(30_000),
                answer=call.answer + self.rng.randrange(4_000),
            )
            for call in month(days=DAYS)
        ]
        self.logged = {call.number: call.logged() for call in self.calls}
        self.billed = defaultdict(int, charged(self.calls))

    def plant(self, kind: str, day: int, model: str) -> None:
        """Plant one error on some calls of a day (0 is the first) and model."""
        days = sorted({day_of(call) for call in self.calls})
        of_cell = [call for call in self.calls if day_of(call) == days[day] and call.model == model]
        for call in self.rng.sample(of_cell, self.rng.randint(1, len(of_cell))):
            if kind == "not logged":
                del self.logged[call.number]
                self._expect(kind, days[day], model, call.tokens)
            elif kind == "mis-dated":
                for name, tokens in call.tokens.items():
                    self.billed[days[day], model, name] -= tokens
                    self.billed[days[day + 1], model, name] += tokens
                self._expect(kind, days[day], model, call.tokens, sign=-1)
                self._expect(kind, days[day + 1], model, call.tokens)
            elif kind == "unpriced class":
                house = replace(call, number=9_000 + call.number, model=HOUSE)
                self.logged[house.number] = house.logged()
                for name, tokens in house.tokens.items():
                    self.billed[days[day], HOUSE, name] += tokens
                self._expect(kind, days[day], HOUSE, house.tokens)
            elif kind == "double":
                self.again.append(call.logged(number=5_000 + call.number))
                self._expect(kind, days[day], model, call.tokens, sign=-1)
            elif kind == "class split":
                self.logged[call.number] = call.logged(cached=0)
                moved = {"input": -call.cached, "cached input": call.cached}
                self._expect(kind, days[day], model, moved)
        if kind == "price":
            place = (days[day], model, self.rng.choice(sorted(GROUPS)))
            rate = Decimal(RATES[model][place[2]])
            self.rates[place] = str(rate * Decimal(self.rng.choice(["0.5", "0.9", "1.1", "3"])))
            tokens = self.billed[place]
            self.expected[kind][days[day], model, GROUPS[place[2]]] = int(
                tokens * (Decimal(self.rates[place]) - rate) * 10**6
            )

    def _expect(self, kind: str, day: str, model: str, tokens: dict[str, int], sign: int = 1) -> None:
        for name, quantity in tokens.items():
            self.expected[kind][day, model, GROUPS[name]] += sign * quantity


def places(rng: random.Random, kinds: list[str]) -> list[tuple[str, int, str]]:
    """A day and model for each kind, so far from each other that no day beside one is another's."""
    free = [(day, model) for day in range(DAYS - 1) for model in sorted(RATES)]
    rng.shuffle(free)
    taken: set[tuple[int, str]] = set()
    found = []
    for kind in kinds:
        for day, model in free:
            around = {(day + step, model) for step in (-1, 0, 1, 2)}
            if not around & taken:
                taken |= {(day, model), (day + 1, model)}
                found.append((kind, day, model))
                break
    return found


def found_by(planted: Planted) -> dict[str, dict[Place, int]]:
    """What the reconciliation names: tokens of each cell; of a price the pico-USD."""
    bill = Bill(planted.billed, rates=planted.rates, other_models=HOUSE_RATES)
    with tempfile.TemporaryDirectory() as folder:
        books = open_books(Path(folder))
        books.read("calls.jsonl", *planted.logged.values())
        if planted.again:
            books.read("gateway.jsonl", *planted.again, source="gateway")
        books.read("usage.jsonl", bill.usage_page())
        books.read("costs.jsonl", bill.costs_page())
        result = books.reconciled()
        books.warehouse.close()
    assert usd(result.bill_pusd) == bill.total()
    assert sum(item.amount_pusd for item in result.residuals) == result.difference_pusd
    days = {(cell.key.at_us - result.cells[0].key.at_us) // 86_400_000_000 for cell in result.cells}
    assert days == set(range(DAYS))
    named = sorted({day_of(call) for call in planted.calls})
    first = result.cells[0].key.at_us
    found: dict[str, dict[Place, int]] = defaultdict(lambda: defaultdict(int))
    for item in result.residuals:
        if item.kind == "rounding":
            assert abs(item.amount_pusd) < 10**5
            continue
        day = named[(item.key.at_us - first) // 86_400_000_000]
        model = next(name for name in (*sorted(RATES, key=len, reverse=True), HOUSE) if name.startswith(item.key.model))
        if item.key.model == "gpt-4o":
            model = "gpt-4o-2024-08-06"
        amount = item.amount_pusd if item.kind == "price" else item.quantity or 0
        found[item.kind][day, model, item.key.usage_class] += amount
    return found


@settings(max_examples=10, deadline=None)
@example(seed=1, kinds=list(KINDS))
@given(seed=st.integers(0, 10**6), kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
def test_what_was_planted_is_found_by_name_and_nothing_else(seed: int, kinds: list[str]) -> None:
    planted = Planted(random.Random(seed))
    for kind, day, model in places(planted.rng, kinds):
        planted.plant(kind, day, model)
    found = found_by(planted)
    expected = {
        kind: {place: amount for place, amount in cells.items() if amount} for kind, cells in planted.expected.items()
    }
    prices, rates = found.pop("price", {}), expected.pop("price", {})
    assert {kind: dict(cells) for kind, cells in found.items()} == expected
    assert prices.keys() == rates.keys()
    assert all(abs(amount - rates[place]) <= 10**6 for place, amount in prices.items())
