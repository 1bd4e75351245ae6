from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.retry_after import retry_after_s


@pytest.mark.parametrize(("text", "seconds"), [("7", 7.0), (" 0.5 ", 0.5), ("-5", 0.0), ("1_000", 1000.0)])
def test_a_number_is_seconds_and_never_below_nothing(text: str, seconds: float) -> None:
    assert retry_after_s(text) == seconds


@pytest.mark.parametrize(
    "text", [None, "", "soon", "inf", "-inf", "nan", "1e400", "9" * 400, "Sun, 06 Nov 99999 08:49:37 GMT"]
)
def test_what_cannot_be_waited_for_says_nothing(text: str | None) -> None:
    assert retry_after_s(text) is None


def test_a_date_is_the_time_until_then_with_or_without_a_zone() -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    for text in (format_datetime(later, usegmt=True), format_datetime(later.replace(tzinfo=None))):
        assert 3500 < (retry_after_s(text) or 0) <= 3600
    assert retry_after_s("Sun, 06 Nov 1994 08:49:37 GMT") == 0.0


@given(st.text() | st.builds("Sun, 06 Nov 2094 {}:49:37 {}".format, st.integers(), st.integers() | st.text()))
def test_no_text_breaks_it(text: str) -> None:
    found = retry_after_s(text)
    assert found is None or (isfinite(found) and found >= 0)
