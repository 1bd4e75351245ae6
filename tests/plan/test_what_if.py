"""What a part of the plan saves: held against every choice of levers counted out by hand from the stored games."""

from __future__ import annotations

import json
import random
from itertools import combinations

import pytest

from app.control import findings as decisions
from app.control import migrate as migrate_control
from app.control import open_control
from app.core.money import pico
from app.plan.analyse import analyse
from app.plan.what_if import what_if
from tests.plan.planted import DAY, START
from tests.plan.test_random_streams import mixed

END = START + 12 * DAY


def counted_out(games: dict, done: set[str]) -> int:
    """The best that the findings in `done` save, scope by scope: each set of their levers tried in turn."""
    joint = [place for place in range(len(games["players"])) if games["joint"] >> place & 1]
    total = 0
    for scope in games["scopes"]:
        owners = {int(player): owner for player, owner in scope["owners"].items()}
        able = [place for place in joint if owners.get(place) in done]
        sets = [pick for size in range(len(able) + 1) for pick in combinations(able, size)]
        total += max(scope["saved"].get(str(sum(1 << place for place in pick)), 0) for pick in sets)
    return total


def stored_games(warehouse) -> dict:
    with warehouse.session() as session:
        [(_, _, games)] = session.rows("plan.latest_run")
    return json.loads(games)


@pytest.mark.parametrize("seed", range(3))
def test_any_part_of_a_plan_saves_what_its_levers_save_together(book, seed):
    warehouse = mixed(book, seed).store()
    result = analyse(warehouse, book, None, from_us=START, to_us=END, zone="UTC", seed=seed)
    games = stored_games(warehouse)
    members = [item.fingerprint for item in result.findings if item.in_joint]
    assert len(members) > 2
    rng = random.Random(seed)
    for _ in range(25):
        without = set(rng.sample(members, rng.randrange(len(members) + 1)))
        done = set(members) - without
        found = what_if(warehouse, None, without, now_us=1)
        saved = counted_out(games, done)
        assert pico(found.joint_usd) == saved
        assert set(found.shares) == done
        assert sum(map(pico, found.shares.values())) == saved
        assert set(found.counts) == set(members)
        for key in members:
            other = counted_out(games, done ^ {key})
            assert pico(found.counts[key]) == abs(saved - other)
            assert (other <= saved) if key in done else (other >= saved)


def test_the_whole_plan_is_its_own_joint_saving_and_nothing_done_saves_nothing(book):
    warehouse = mixed(book, 1).store()
    result = analyse(warehouse, book, None, from_us=START, to_us=END, zone="UTC")
    whole = what_if(warehouse, None, (), now_us=1)
    assert whole.joint_usd == result.joint.p50
    assert whole.shares == {item.fingerprint: item.allocated_usd for item in result.findings if item.in_joint}
    assert whole.counts == {item.fingerprint: item.last_in_usd for item in result.findings if item.in_joint}
    nothing = what_if(warehouse, None, whole.shares, now_us=1)
    assert (nothing.joint_usd, nothing.shares) == ("0", {})
    alone = {item.fingerprint: item.standalone_usd for item in result.findings if item.in_joint}
    assert nothing.counts == alone


def test_a_dismissed_finding_takes_no_part_whatever_is_asked(book, tmp_path):
    control = open_control(tmp_path)
    migrate_control(control)
    warehouse = mixed(book, 2).store()
    result = analyse(warehouse, book, control, from_us=START, to_us=END, zone="UTC", now_us=1)
    gone = result.findings[0].fingerprint
    decisions.set_status(control, gone, "dismissed", now_us=2, reason="not wanted")
    found = what_if(warehouse, control, (), now_us=3)
    members = {item.fingerprint for item in result.findings if item.in_joint}
    assert set(found.shares) == set(found.counts) == members - {gone}
    assert pico(found.joint_usd) == counted_out(stored_games(warehouse), members - {gone})
    assert found.joint_usd == found.plan.joint.p50


def test_before_the_first_analysis_there_is_nothing_to_ask(book):
    assert what_if(mixed(book, 0).store(), None, (), now_us=1) is None
