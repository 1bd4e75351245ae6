"""Whatever the traffic: no dollar twice, never more than was paid, and leaving something out never adds."""

from __future__ import annotations

import random

import pytest

from app.core.money import pico
from app.plan import store
from app.plan.analyse import analyse
from app.plan.what_if import what_if
from tests.plan.planted import DAY, HOUR, START, Stream

MODELS = (
    ("openai", "gpt-4.1"), ("openai", "gpt-5"), ("openai", "gpt-5-nano"), ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-haiku-4-5"), ("google", "gemini-2.5-pro"), ("nobody", "no-price"),
)  # fmt: skip


def mixed(book, seed: int) -> Stream:
    """Scopes of every kind at once: jobs, people, repeats, failures, caches, long prompts, unknown prices."""
    rng = random.Random(seed)
    stream = Stream(book)
    for scope in range(8):
        provider, model = rng.choice(MODELS)
        night, repeated, fails = rng.random() < 0.5, rng.random(), rng.random() * 0.2
        streamed = rng.choice([True, False, None])
        for _ in range(250):
            hour = 2 if night else rng.randrange(7, 20)
            at = START + rng.randrange(12) * DAY + hour * HOUR + rng.randrange(3600) * 1_000_000
            key = rng.randrange(20) if rng.random() < repeated else 10**6 + len(stream.rows)
            failed = rng.random() < fails
            for status in ("timeout", "ok") if failed else ("ok",):
                stream.add(
                    at, feature=f"feature-{scope}", template=rng.choice([scope, scope, None]), provider=provider,
                    model=model, tok_input=rng.randrange(500, 260_000 if scope == 0 else 9_000),
                    tok_cache_read=rng.choice([None, 2_000]), tok_output=rng.randrange(1, 2_000),
                    temperature=rng.choice([0.0, 0.0, 0.7, None]), exact_key=scope * 10**9 + key,
                    api_key_hash=scope % 3, user_hash=rng.randrange(30), stream=streamed, status=status,
                    out_hash=rng.choice([None, key]),
                )  # fmt: skip
                at += 5_000_000
    return stream


@pytest.mark.parametrize("seed", range(4))
def test_no_dollar_is_saved_twice_whatever_the_traffic(book, seed):
    stream = mixed(book, seed)
    paid = sum(row.get("cost_pusd") or 0 for row in stream.rows)
    warehouse = stream.store()
    result = analyse(warehouse, book, None, from_us=START, to_us=START + 12 * DAY, zone="America/New_York", seed=seed)
    joint = pico(result.joint.p50)
    assert pico(result.before_usd) == paid
    assert 0 < joint + pico(result.potential_usd) <= paid
    assert sum(pico(item.allocated_usd) for item in result.findings) == joint
    assert sum(pico(item.allocated_usd) for item in result.levers) == joint
    assert pico(result.joint.p10 or "0") <= joint <= pico(result.joint.p90 or str(paid)) <= paid
    for item in result.findings:
        assert 0 <= pico(item.standalone_usd) <= pico(item.before_usd)
        assert (item.grade == "D") is (item.allocated_usd == "0" and not item.in_joint)
        without = pico(what_if(warehouse, None, {item.fingerprint}, now_us=1).joint_usd)
        assert without <= joint
    assert store.latest(warehouse, None, now_us=1) == result
