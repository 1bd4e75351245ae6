"""Three levers on the same requests, prompts and all: each cache layout is replayed on what the others leave."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.money import pico
from app.plan.analyse import analyse
from app.plan.what_if import what_if
from tests.levers.logged import FROM_US, TO_US

DAYS = 10
SYSTEM = " ".join(
    f"Rule {number}: weigh clause {number * 7919 % 1000} before clause {number}." for number in range(200)
)
INPUT, OUTPUT = 4_200, 120


def call(at: datetime, question: str) -> dict[str, Any]:
    return {
        "timestamp": at.isoformat(),
        "end_time": (at + timedelta(seconds=2)).isoformat(),
        "api_key_alias": "night",
        "feature": "review",
        "request": {
            "model": "claude-sonnet-4-5",
            "max_tokens": 500,
            "temperature": 0,
            "system": SYSTEM,
            "messages": [{"role": "user", "content": question}],
        },
        "response": {
            "id": f"msg_{random.Random(at.isoformat()).getrandbits(96):024x}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": f"Answer to {question}"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": INPUT, "output_tokens": OUTPUT, "cache_read_input_tokens": 0,
                      "cache_creation_input_tokens": 0},
        },
    }  # fmt: skip


@pytest.fixture
def night_shift(read):
    """Every night forty questions, half of them asked before in that night; a long prompt, never cached."""
    rng = random.Random(2)
    records = []
    for day in range(DAYS):
        begin = datetime(2026, 11, 1 + day, 2, tzinfo=UTC)
        for place in range(40):
            question = f"Contract {day}-{rng.randrange(20)}: may we end it early?"
            records.append(call(begin + timedelta(seconds=11 * place), question))
    return read(records)


def saved_without(warehouse, left_out) -> int:
    """Pico-USD that the newest plan saves without these findings."""
    return pico(what_if(warehouse, None, left_out, now_us=1).joint_usd)


def test_three_levers_share_one_saving_that_no_order_can_inflate(night_shift, book):
    result = analyse(night_shift, book, None, from_us=FROM_US, to_us=TO_US, zone="UTC")
    joint = [item for item in result.findings if item.in_joint]
    assert {item.lever for item in joint} == {"response_cache", "batch", "prompt_caching"}
    total = pico(result.joint.p50)
    assert sum(pico(item.allocated_usd) for item in joint) == total
    assert total < sum(pico(item.standalone_usd) for item in joint)
    assert total < pico(result.before_usd)
    for item in joint:
        assert saved_without(night_shift, {item.fingerprint}) == total - pico(item.last_in_usd)
    assert saved_without(night_shift, {item.fingerprint for item in joint}) == 0


def test_the_layout_is_replayed_on_the_requests_that_the_answer_cache_leaves(night_shift, book):
    result = analyse(night_shift, book, None, from_us=FROM_US, to_us=TO_US, zone="UTC")
    by_lever = {item.lever: item for item in result.findings if item.in_joint}
    served = by_lever["response_cache"].requests
    batch = by_lever["batch"].fingerprint
    both = saved_without(night_shift, {batch})
    # Without the batch: served requests cost nothing, each other one but the first of a night reads the long prompt.
    cache_alone = pico(by_lever["response_cache"].standalone_usd)
    layout_alone = pico(by_lever["prompt_caching"].standalone_usd)
    left = 40 * DAYS - served
    assert cache_alone == served * (INPUT * 3_000_000 + OUTPUT * 15_000_000)
    share_of_layout = (both - cache_alone) / layout_alone
    # A night's first request writes and gains nothing, so fewer requests gain a little less than their share.
    assert share_of_layout == pytest.approx((left - DAYS) / (40 * DAYS - DAYS), rel=0.02)
