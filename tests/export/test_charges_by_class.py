"""A part of a cost that holds several classes is cut into all of them: no class is left out, and the rows add up."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from itertools import chain, combinations
from typing import TYPE_CHECKING

import polars as pl
import pytest

from app.analysis import focus
from app.analysis.charges import Wanted, charges, spans
from app.warehouse import ledger, rollup
from tests.analysis.facts import add_source, open_warehouse
from tests.ledger.books import START_US, add, by, change

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = (
    ("input", "input_audio", "input_image"),
    ("cache_read", "cache_read_audio"),
    ("cache_write_5m", "cache_write_30m", "cache_write_1h", "cache_write_12h"),
    ("output", "output_audio", "output_image"),
)
CLASSES = tuple(chain.from_iterable(PARTS))
# An answer without a prompt would have no cost: every set of its classes has one beside it.
SETS = tuple(
    (("cache_read",) if "output" in part[0] else ()) + chosen
    for part in PARTS
    for size in range(1, len(part) + 1)
    for chosen in combinations(part, size)
)
TOKENS = {name: 1_001 + 10 * place for place, name in enumerate(CLASSES)}
WHOLE = {name: Decimal(place + 2) / 4 for place, name in enumerate(CLASSES)}  # USD per million tokens
BROKEN = {name: rate + Decimal("0.0000003") for name, rate in WHOLE.items()}  # a third of a pico-USD a token more


@pytest.fixture(scope="module", params=[WHOLE, BROKEN], ids=["whole", "broken"])
def exported(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, Decimal], pl.DataFrame]]:
    """The rates, and the rows of one request for every set of classes of one part; the account names the set."""
    rates: dict[str, Decimal] = request.param
    text = "rates:\n  - {provider: openai, model: made-1, " + ", ".join(f'{k}: "{v}"' for k, v in rates.items()) + "}\n"
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        # the total says that there is nothing beside them: a cached part alone would leave the rest unknown
        calls = [
            {
                "account": " ".join(names),
                "tok_total_reported": sum(TOKENS[name] for name in names),
                **{f"tok_{name}": TOKENS[name] for name in names},
            }
            for names in SETS
        ]
        add(session, [{"model": "made-1", "start_us": START_US, **call} for call in calls])
        add_source(session, "log", "api")
        rollup.rebuild(session)
    change(warehouse, by(text))
    wanted = Wanted(0, ledger.END_OF_TIME, "UTC")
    with warehouse.session() as session:
        (span,) = spans(session, wanted, bills=True)
        found = focus.rows(charges(session, span, wanted, hourly=False), span, "UTC", hourly=False, version=1)
    yield rates, found
    warehouse.close()


@pytest.mark.parametrize("names", SETS, ids=" ".join)
def test_every_class_of_a_part_has_its_own_dollars(
    exported: tuple[dict[str, Decimal], pl.DataFrame], names: tuple[str, ...]
) -> None:
    rates, rows = exported
    own = rows.filter(pl.col("BillingAccountId") == " ".join(names))
    exact = {name: TOKENS[name] * rates[name] / 1_000_000 for name in names}
    parts = [sum((exact.get(name, Decimal(0)) for name in part), Decimal(0)) for part in PARTS]
    cost = sum(part.quantize(Decimal("1e-12"), ROUND_HALF_EVEN) for part in parts)
    assert dict(own.select("x_TokenClass", "ConsumedQuantity").iter_rows()) == {name: TOKENS[name] for name in names}
    assert own["ContractedCost"].sum() == cost, "what rounding leaves stands with one of the classes"
    for name, dollars in own.select("x_TokenClass", "ContractedCost").iter_rows():
        assert abs(dollars - exact[name]) <= len(names) * Decimal("1e-12")
