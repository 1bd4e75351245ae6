"""What a re-pricing says where costs were unknown before it, or are after it."""

from __future__ import annotations

import pytest

from app.warehouse.reprice import Change, Difference
from reports.ledger import difference_document, difference_text

PICO = 10**12
PRICED = Difference(
    3, 3, priced_before=0, priced_after=3, after_pusd=6 * PICO, changes=(Change("d", "m", "priced", 3, None, 6 * PICO),)
)
LOST = Difference(
    3,
    3,
    priced_before=3,
    priced_after=0,
    before_pusd=6 * PICO,
    changes=(Change("d", "m", "unpriced", 3, 6 * PICO, None),),
)
UNKNOWN = Difference(3)
NOTHING = Difference()


@pytest.mark.parametrize(
    ("found", "before", "after", "unchanged", "difference"),
    [
        (PRICED, None, "6", None, "6"),
        (LOST, "6", None, "0", "-6"),
        (UNKNOWN, None, None, None, "0"),
        (NOTHING, "0", "0", "0", "0"),
    ],
)
def test_a_sum_of_which_nothing_is_known_is_no_zero(
    found: Difference, before: str | None, after: str | None, unchanged: str | None, difference: str
) -> None:
    document = difference_document(found)
    assert (document["before_usd"], document["after_usd"]) == (before, after)
    assert (document["unchanged_usd"], document["difference_usd"]) == (unchanged, difference)


def test_the_text_says_unknown_where_no_cost_was_known() -> None:
    text = difference_text({**difference_document(PRICED), "kind": "reprice", "price_book": "b"})
    [total] = [line.split() for line in text.splitlines() if line.startswith("Total")]
    assert total == ["Total", "3", "unknown", "6", "+6"]
