"""Residuals of cells that a person can work out: which name a dollar gets where two would fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.analysis.bill_cells import Cell, CellKey
from app.analysis.residuals import DAY_US, Doubles, explained

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NOON = 20_000 * DAY_US + DAY_US // 2
RATE = 1_000_000  # pico-USD a token


def key(day: int = 0, group: str = "input", account: str = "") -> CellKey:
    return CellKey(NOON + day * DAY_US, "p", account, "m", group)


def cell(of: CellKey, billed: int, logged: int, rate: int = RATE) -> Cell:
    """Both sides in tokens, the bill at `rate` a token and the requests at RATE."""
    return Cell(
        of,
        bill_pusd=billed * rate,
        bill_quantity=billed,
        logged_pusd=logged * RATE,
        logged_quantity=logged,
        logged_tiers={("unassigned", False): (logged, logged * RATE)},
        bill_tiers={("unassigned", False)},
    )


def named(
    cells: Iterable[Cell], doubles: Mapping[CellKey, Doubles] | None = None
) -> set[tuple[int, str, str, int | None, int]]:
    """(day, class, name, tokens, pico-USD) of every residual."""
    return {
        ((item.key.at_us - NOON) // DAY_US, item.key.usage_class, item.kind, item.quantity, item.amount_pusd)
        for item in explained(cells, doubles or {})
    }


@pytest.mark.parametrize(("twice", "double"), [(80_000, 50_000), (50_000, 50_000), (30_000, 30_000)])
def test_no_more_was_logged_twice_than_is_missing_on_the_bill(twice: int, double: int) -> None:
    found = named([cell(key(), 100_000, 150_000)], {key(): Doubles(twice, twice * RATE, 3, ("one", "other"))})
    rest = {(0, "input", "not on the bill", double - 50_000, (double - 50_000) * RATE)} if double < 50_000 else set()
    assert found == {(0, "input", "double", -double, -double * RATE)} | rest


def test_tokens_of_one_account_are_no_other_class_of_another_account() -> None:
    found = named([cell(key(account="a"), 200_000, 100_000), cell(key(group="cache_read", account="b"), 0, 100_000)])
    assert found == {
        (0, "input", "not logged", 100_000, 100_000 * RATE),
        (0, "cache_read", "not on the bill", -100_000, -100_000 * RATE),
    }


def test_the_class_of_the_same_day_comes_before_the_day_beside() -> None:
    """Of three gaps of one size the two of one day belong together."""
    found = named(
        [
            cell(key(0, "input"), 200_000, 100_000),
            cell(key(0, "cache_read"), 100_000, 200_000),
            cell(key(1, "input"), 100_000, 200_000),
        ]
    )
    assert found == {
        (0, "input", "class split", 100_000, 100_000 * RATE),
        (0, "cache_read", "class split", -100_000, -100_000 * RATE),
        (1, "input", "not on the bill", -100_000, -100_000 * RATE),
    }


def test_three_days_that_make_up_for_each_other_are_one_stretch() -> None:
    found = named([cell(key(0), 160_000, 100_000), cell(key(1), 50_000, 100_000), cell(key(2), 90_000, 100_000)])
    assert {(day, kind, tokens) for day, _, kind, tokens, _ in found} == {
        (0, "mis-dated", 60_000),
        (1, "mis-dated", -50_000),
        (2, "mis-dated", -10_000),
    }


def test_days_apart_do_not_make_up_for_each_other() -> None:
    found = named([cell(key(0), 160_000, 100_000), cell(key(2), 40_000, 100_000)])
    assert {(day, kind) for day, _, kind, _, _ in found} == {(0, "not logged"), (2, "not on the bill")}


@pytest.mark.parametrize(
    ("paid", "kind"), [(5 * RATE, "tier mix"), (8 * RATE, "tier mix"), (10 * RATE, "tier mix"), (12 * RATE, "price")]
)
def test_a_rate_between_those_of_two_tiers_is_their_mix_and_one_outside_is_a_price(paid: int, kind: str) -> None:
    one = Cell(
        key(),
        bill_pusd=200_000 * paid,
        bill_quantity=200_000,
        logged_pusd=100_000 * 10 * RATE + 100_000 * 5 * RATE,
        logged_quantity=200_000,
        logged_tiers={
            ("unassigned", False): (100_000, 100_000 * 10 * RATE),
            ("unassigned", True): (100_000, 100_000 * 5 * RATE),
        },
        bill_tiers={("unassigned", False)},
    )
    ((_, _, found, tokens, amount),) = named([one])
    assert (found, tokens, amount) == (kind, 200_000, 200_000 * paid - one.logged_pusd)


@pytest.mark.parametrize(("billed", "unpriced"), [(100_000, 40_000), (30_000, 30_000)])
def test_no_more_is_unpriced_than_was_billed(billed: int, unpriced: int) -> None:
    """Of 100,000 logged tokens 40,000 have no price; the rest cost what the bill says."""
    bill_pusd, logged_pusd = billed * RATE, 60_000 * RATE
    one = Cell(
        key(),
        bill_pusd=bill_pusd,
        bill_quantity=billed,
        logged_pusd=logged_pusd,
        logged_quantity=100_000,
        unpriced_quantity=40_000,
        logged_tiers={("unassigned", False): (60_000, 60_000 * RATE)},
        bill_tiers={("unassigned", False)},
    )
    found = named([one])
    assert (0, "input", "unpriced class", unpriced, unpriced * RATE) in found
    assert sum(amount for *_, amount in found) == bill_pusd - logged_pusd
