"""Laws of every layout, whatever the prompts: each request once, its tokens kept, nothing below zero."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.replay.capture import Captures
from app.replay.layout import evaluate, prepare
from app.replay.plans import Plan
from app.warehouse.store import Session, Warehouse
from tests.replay.replay_facts import Facts


@pytest.fixture(scope="module")
def session():
    warehouse = Warehouse(None, threads=1)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


ROLES = ("tools", "tools", "system", "user", "assistant", "tool")
FRAME = "\n".join(f"a line of the instruction, number {n}" for n in range(20))
texts = st.sampled_from(["", "x", "y", FRAME, f"1\n{FRAME}", f"2\n{FRAME}", f"{FRAME}\n3", "b\nc\nd" * 40])
prompts = st.lists(st.tuples(st.sampled_from(ROLES), texts), min_size=1, max_size=7).map(
    lambda parts: sorted(parts, key=lambda part: ("tools", "system").index(part[0]) if part[0] in ROLES[:3] else 2)
)
requests = st.lists(
    st.tuples(st.integers(0, 2_000), prompts, st.integers(0, 4000), st.integers(0, 300)), min_size=1, max_size=12
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests, st.sampled_from(["gpt-4.1", "claude-sonnet-4-5"]))
def test_every_layout_keeps_each_request_and_all_of_its_tokens(session: Session, stream, model: str) -> None:
    facts = Facts()
    for second, parts, fresh, read in stream:
        size = sum(len(text) for _, text in parts)
        if size and fresh + read:
            tokens = {"tok_input": fresh, "tok_cache_read": read}
            provider = "openai" if model.startswith("gpt") else "anthropic"
            facts.add(second * 10**6 + 1_795 * 10**12, parts, tokens, provider=provider, model_id=model)
    if not facts.stream:
        return
    facts.load(session)
    prepared = prepare(session, "stream")
    [scope] = prepared.scopes
    assert scope.rule is not None
    marking = "marks" if scope.rule.marked else "all"
    plans = [
        Plan(number, scope.scope_id, scope.provider, model, scope.rule, layout, marking, life.name, marks, last)
        for number, (layout, life, marks, last) in enumerate(
            (layout, life, marks, last)
            for layout in (0, 1, 2)
            for life in scope.rule.lifetimes
            for marks, last in (((), True), ((1, 2), False), ((1,), True))
        )
    ]
    evaluate(session, plans, Captures({}), "split")
    rows = session.connection.execute(
        "SELECT plan, request_key, tok_input, tok_cache_read, tok_cache_write_5m + tok_cache_write_1h FROM split"
    ).fetchall()
    made = {row["request_key"]: row["prompt_tokens"] for row in facts.stream}
    assert sorted((plan, key) for plan, key, *_ in rows) == sorted((p.plan, key) for p in plans for key in made)
    assert all(min(tokens) >= 0 and sum(tokens) == made[key] for _, key, *tokens in rows)
    bounds = session.connection.execute(
        "SELECT count(*), count(DISTINCT (request_key, layout, pos)), max(share) FROM layout_bounds"
    ).fetchall()
    assert bounds[0][0] == bounds[0][1]
    assert (bounds[0][2] or 0) <= 1.0
