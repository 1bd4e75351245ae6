"""Laws of the coalition game: shares add up to the pico-dollar, the total is monotone and never above what was paid."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from app.plan.game import monotone, players, shapley, subsets
from app.plan.shares import ScopeGame, share_out

MAX_PLAYERS = 4


@st.composite
def games(draw):
    """A scope: what it cost and what each coalition of up to four levers would save (or lose)."""
    count = draw(st.integers(1, MAX_PLAYERS))
    before = draw(st.integers(0, 10**15))
    everyone = (1 << count) - 1
    saved = {mask: draw(st.integers(-(10**15), before)) for mask in subsets(everyone) if mask}
    owners = {player: f"finding-{player}-{draw(st.integers(0, 1))}" for player in range(count)}
    return ScopeGame(before, owners, saved), everyone


def test_subsets_are_all_and_ascending():
    assert list(subsets(0b101)) == [0, 1, 4, 5]
    assert players(0b1010) == (1, 3)


@settings(deadline=None)
@given(games())
def test_shapley_shares_add_up_to_the_joint_saving_exactly(made):
    game, everyone = made
    value = monotone(game.saved).value
    assert sum(shapley(value, everyone).values()) == value[everyone]


@settings(deadline=None)
@given(games())
def test_no_share_of_a_monotone_game_is_negative(made):
    game, everyone = made
    assert min(shapley(monotone(game.saved).value, everyone).values()) >= 0


@settings(deadline=None)
@given(games())
def test_removing_a_lever_never_raises_the_total(made):
    game, everyone = made
    value = monotone(game.saved).value
    for player in players(everyone):
        assert value[everyone & ~(1 << player)] <= value[everyone]


def test_equal_levers_that_do_the_same_share_equally():
    assert shapley({0: 0, 1: 10, 2: 10, 3: 10}, 3) == {0: 5, 1: 5}


def test_the_odd_pico_dollar_always_goes_to_the_same_lever():
    assert shapley({0: 0, 1: 1, 2: 1, 3: 1}, 3) == {0: 1, 1: 0}


def test_a_lever_that_makes_another_lose_is_left_out_where_it_does():
    game = monotone({1: 100, 2: 40, 3: 60})
    assert game.value[3] == 100
    assert game.choice[3] == 1


@settings(deadline=None)
@given(st.lists(games(), max_size=5))
def test_the_joint_total_is_never_above_what_was_paid_and_is_the_sum_of_its_shares(made):
    plan = [game for game, _ in made]
    shares = share_out(plan, (1 << MAX_PLAYERS) - 1)
    assert 0 <= shares.joint <= sum(game.before_pusd for game in plan)
    assert sum(shares.allocated.values()) == shares.joint
    assert shares.potential == 0


@settings(deadline=None)
@given(st.lists(games(), min_size=1, max_size=5), st.data())
def test_dismissing_a_finding_never_raises_the_total_and_leaves_it_no_share(made, data):
    plan = [game for game, _ in made]
    everyone = (1 << MAX_PLAYERS) - 1
    names = sorted({owner for game in plan for owner in game.owners.values()})
    gone = data.draw(st.sampled_from(names))
    before, after = share_out(plan, everyone), share_out(plan, everyone, {gone})
    assert after.joint <= before.joint
    assert after.allocated[gone] == 0
    assert after.standalone[gone] == before.standalone[gone]


@settings(deadline=None)
@given(st.lists(games(), max_size=4))
def test_grade_d_adds_to_the_potential_and_never_to_the_joint(made):
    plan = [game for game, _ in made]
    joint_only = 0b0111
    shares = share_out(plan, joint_only)
    assert shares.joint == share_out([_without(game, 3) for game in plan], joint_only).joint
    assert shares.potential >= 0
    assert shares.joint + shares.potential <= sum(game.before_pusd for game in plan)


def _without(game: ScopeGame, player: int) -> ScopeGame:
    owners = {key: value for key, value in game.owners.items() if key != player}
    return ScopeGame(game.before_pusd, owners, {m: v for m, v in game.saved.items() if not m >> player & 1})
