"""Instants as programs write them: one moment in every spelling, and spellings that name none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.times import instant

MOMENT_US = 1_790_000_000_000_000  # 2026-09-21 14:13:20 UTC


@pytest.mark.parametrize(
    ("written", "after_us"),
    [
        ("2026-09-21 14:13:20 +0000 UTC", 0),  # Go's time.Time.String
        ("2026-09-21 14:13:20.123456789 +0000 UTC", 123_456),
        ("2026-09-21 16:13:20 +0200 CEST m=+12.345678901", 0),  # with its monotonic clock
        ("2026-09-21 19:58:20 +0545 +0545", 0),  # a zone without a name
        ("2026-09-21T14:13:20Z[UTC]", 0),  # Java's ZonedDateTime.toString
        ("2026-09-21T16:13:20.5+02:00[Europe/Berlin]", 500_000),
        ("2026-09-21T14:13:60Z", 40_000_000),  # a leap second is the one after it, as POSIX counts
        ("2026-09-21T24:00:00Z", 35_200_000_000),  # ISO 8601's end of a day
        ("2026-09-21T24:00Z", 35_200_000_000),
    ],
)
def test_a_time_beside_the_standard_is_the_moment_it_names(written: str, after_us: int) -> None:
    warnings: list[str] = []
    assert instant(written, "timestamp", warnings) == MOMENT_US + after_us
    assert warnings == []


@pytest.mark.parametrize(
    "written",
    [
        "2026-09-21 14:13:20 EST",  # a name alone says no offset
        "2026-02-29T00:00:00Z",
        "2026-09-21T24:00:01Z",
        "2026-09-21T25:00:00Z",
        "2026-09-21T14:13:61Z",
        "2026-09-21T14:60:00Z",
        "09/21/2026 14:13:20",  # month or day
        "2026-09-21 14:13:20 +0000 UTC and more",
    ],
)
def test_what_names_no_moment_stays_unknown(written: str) -> None:
    warnings: list[str] = []
    assert instant(written, "timestamp", warnings) is None
    assert warnings == ["bad_time:timestamp"]


@given(
    st.integers(1_420_156_800_000_000, 4_070_908_800_000_000),  # 2015-01-02 to 2099
    st.integers(-14 * 60, 14 * 60),
)
def test_a_moment_written_in_any_offset_is_the_same(us: int, minutes: int) -> None:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)
    local = (moment + timedelta(minutes=minutes)).replace(tzinfo=None)
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"
    for written in (
        moment,
        moment.isoformat(),
        f"{local:%Y-%m-%d %H:%M:%S.%f} {offset} XYZ",
        f"{local.isoformat()}{offset}[Some/Where]",
        us,
        us * 1_000,
        str(us),
    ):
        warnings: list[str] = []
        assert instant(written, "timestamp", warnings) == us, written
        assert warnings == []
