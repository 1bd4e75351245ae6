"""Numbers as people read them: unknown is never zero, a change never speaks by colour alone."""

from __future__ import annotations

from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.money import PICO_PER_USD
from app.web import format as show

USD = PICO_PER_USD


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, "n/a"),
        (0, "$0.00"),
        (1204 * USD + USD // 10, "$1,204.10"),
        (420_000_000, "$0.00042"),
        (1_234_567, "$0.0000012"),
        (2 * USD // 100, "$0.02"),
        (-3 * USD, "−$3.00"),
        ("11.00438155", "$11.00"),
        (9_999_999_999, "$0.0100"),
    ],
)
def test_money(amount: int | str | None, text: str) -> None:
    assert show.money(amount) == text


def test_money_of_one_thing_is_finer() -> None:
    assert show.unit_money(12_345_600_000) == "$0.0123"
    assert show.unit_money(420_000_000) == "$0.00042"
    assert show.unit_money(None) == "n/a"


def test_exact_money_keeps_every_digit() -> None:
    assert show.exact_money(11_004_381_550_000) == "$11.00438155"
    assert show.exact_money(-1) == "−$0.000000000001"


@pytest.mark.parametrize(("amount", "text"), [(842, "$842"), (12_400, "$12.4k"), (3_104_000, "$3.10M"), (99, "$99.00")])
def test_headline_money(amount: int, text: str) -> None:
    assert show.short_money(amount * USD) == text


@pytest.mark.parametrize(("n", "text"), [(None, "n/a"), (842, "842"), (12_400, "12.4k"), (3_100_000, "3.10M")])
def test_headline_counts(n: int | None, text: str) -> None:
    assert show.short_count(n) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(None, "n/a"), (0, "0%"), (1, "100%"), (0.99999, ">99.9%"), (0.00001, "<0.1%"), (0.123, "12.3%")],
)
def test_a_share_that_is_not_whole_never_looks_whole(ratio: float | None, text: str) -> None:
    assert show.percent(ratio) == text


def test_a_change_has_sign_arrow_and_tone() -> None:
    more = show.change(110 * USD, 100 * USD, dollars=True)
    assert (more.text, more.arrow, more.tone) == ("+$10.00 (+10.0%)", "▲", "worse")
    less = show.change(90 * USD, 100 * USD, dollars=True)
    assert (less.text, less.arrow, less.tone) == ("−$10.00 (−10.0%)", "▼", "better")


def test_a_change_on_a_base_under_a_dollar_hides_its_percentage() -> None:
    assert "%" not in show.change(5 * USD, USD // 2, dollars=True).text


def test_a_change_against_nothing_known_says_so() -> None:
    assert show.change(None, USD, dollars=True) == show.NO_CHANGE
    assert show.change(USD, None, dollars=True) == show.NO_CHANGE


@pytest.mark.parametrize(
    ("us", "text"),
    [(None, "n/a"), (800, "800 µs"), (84_500, "84.5 ms"), (840_000, "840 ms"), (1_240_000, "1.24 s"),
     (123_000_000, "2 min 3 s"), (3_900_000_000, "1 h 5 min"), (4_788_796_000, "1 h 20 min"),
     (999_700, "1.00 s"), (59_996_000, "1 min 0 s"), (3_599_600_000, "1 h 0 min")],
)  # fmt: skip
def test_durations(us: int | None, text: str) -> None:
    assert show.duration(us) == text


def test_moments_are_local_to_the_zone() -> None:
    at = 1_793_000_000_000_000  # 2026-10-26 07:33:20 UTC
    assert show.moment(at, ZoneInfo("UTC")) != show.moment(at, ZoneInfo("Asia/Kathmandu"))
    assert show.precise_moment(at, ZoneInfo("Asia/Kathmandu")).endswith("+05:45")
    assert show.iso_moment(at) == "2026-10-26T07:33:20Z"


def test_rates_are_dollars_a_million_tokens() -> None:
    assert show.rate(Decimal(1_250_000)) == "$1.25"
    assert show.rate(Decimal("75000.5")) == "$0.0750005"
    assert show.rate(None) == "n/a"


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_a_key_in_an_address_is_read_back(key: int) -> None:
    assert show.key_number(show.key_text(key)) == key


@pytest.mark.parametrize("text", ["", "0", "g" * 16, "0" * 17, "-000000000000001", "0x00000000000000"])
def test_what_is_no_key_is_none(text: str) -> None:
    assert show.key_number(text) is None


@given(st.integers(-(10**22), 10**22))
def test_money_is_never_shown_as_zero_unless_it_is(amount: int) -> None:
    digits = show.money(amount).strip("−$").replace(",", "").replace(".", "")
    assert (int(digits) == 0) == (amount == 0)
