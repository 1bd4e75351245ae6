"""Laws of the state machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.batch.pauses import LONGEST_S, pause_us
from app.batch.states import NEXT, UNSENT, check_move, of_job, outcome_of
from app.control.batches import Tally
from app.core.errors import ConflictError

STATES = st.sampled_from(sorted(NEXT))


def test_every_state_leads_to_settled_and_none_leads_out_of_it():
    reached = {"settled"}
    for _ in NEXT:
        reached |= {state for state, after in NEXT.items() if after & reached}
    assert reached == set(NEXT)
    assert NEXT["settled"] == frozenset()


def test_nothing_is_sent_twice_without_passing_the_search():
    """What the provider may hold is `submitting` or later; from there only `submitting` itself leads back."""
    assert {state for state, after in NEXT.items() if after & UNSENT and state not in UNSENT} == {"submitting"}
    assert {state for state, after in NEXT.items() if "submitted" in after} == {"submitting"}


@given(STATES, STATES)
def test_a_move_that_is_not_listed_is_refused(before, after):
    if after in NEXT[before]:
        check_move(before, after)
    else:
        with pytest.raises(ConflictError):
            check_move(before, after)


@given(st.lists(STATES, min_size=1, max_size=8), st.booleans())
def test_a_job_is_settled_exactly_when_its_parts_are_and_no_item_is_open(states, open_items):
    found = of_job(states, open_items=open_items)
    assert (found == "settled") == (set(states) == {"settled"} and not open_items)
    assert found in NEXT


@given(st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any))
def test_the_outcome_follows_the_items_alone(counts):
    succeeded, failed, expired, cancelled = counts
    tally = Tally(sum(counts), succeeded, failed, expired, cancelled, 0)
    found = outcome_of(tally)
    assert (found == "completed") == (succeeded == tally.total)
    assert (found == "cancelled") == (cancelled > 0)
    assert found != "partly" or (succeeded and failed + expired)


@given(st.integers(1, 40), st.floats(0, 1))
def test_pauses_grow_and_a_429_waits_longer_than_a_500(failures, drawn):
    def pause(why, asked=None):
        return pause_us(failures, why, lambda: drawn, asked_s=asked)

    assert pause("server") <= pause("throttled") <= pause("quota") <= LONGEST_S * 1_000_000
    assert pause("server") <= pause_us(failures + 1, "server", lambda: drawn)
    assert pause("server", asked=5000.0) == 5_000_000_000
