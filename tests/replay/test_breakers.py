"""What a breaker is called, and what is none."""

from __future__ import annotations

import pytest

from app.replay.breakers import first_difference, masked


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("Now: 2026-11-02T08:41:20Z.", "Now: 2026-11-02T08:41:21Z.", "time"),
        ("It is 08:41 now", "It is 09:13 now", "time"),
        ("Today is 2026-11-02.", "Today is 2026-11-03.", "date"),
        ("Today is November 2, 2026.", "Today is November 3, 2026.", "date"),
        ("id 7f9c24e5-1a2b-4c3d-8e9f-0a1b2c3d4e5f", "id 1f9c24e5-1a2b-4c3d-8e9f-0a1b2c3d4e5f", "uuid"),
        ("trace 9fae12bc77", "trace 0fae12bc77", "hex"),
        ("Call 17 of the day", "Call 18 of the day", "number"),
        ("You talk to ann@example.com", "You talk to bob@example.com", "e-mail"),
        ("You talk to Ann today", "You talk to Bob today", "value that changes with the request"),
    ],
)
def test_the_class_of_the_changing_value_is_named(first: str, second: str, kind: str) -> None:
    difference = first_difference([f"{first}\nThen the rules.", f"{second}\nThen the rules."])
    assert difference is not None
    assert difference.kind == kind
    assert (difference.first.startswith(first[:8]), difference.second.startswith(second[:8])) == (True, True)


def test_a_longer_text_that_only_grows_has_no_difference() -> None:
    assert first_difference(["Rules. now: 08:41:00", "Rules. now: 08:41:00 next: 08:41:01"]) is None
    assert first_difference(["same", "same"]) is None
    assert first_difference(["alone"]) is None


def test_texts_that_differ_in_volatile_values_only_have_the_same_rest() -> None:
    one, two, other = masked(
        [(1, "Now: 08:41:20. Be kind."), (2, "Now: 17:02:55. Be kind."), (3, "Now: 08:41:20. Be brief.")]
    )
    assert one.rest == two.rest != other.rest
    assert one.share == pytest.approx((23 - 8) / 23)
