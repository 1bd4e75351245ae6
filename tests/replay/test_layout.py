"""Layouts: what the replay predicts of a rewritten or marked prompt is what a provider then bills."""

from __future__ import annotations

from random import Random

import pytest

from app.demo.provider import AutomaticCache, Block, MarkedCache
from app.levers.prompt_caching import LEVER
from app.replay.capture import Capture, Captures
from app.replay.choice import cost_of
from app.replay.choose import advise
from app.replay.layout import apply_layout
from app.replay.rules import load_rules
from app.warehouse.store import Warehouse
from tests.replay.replay_facts import Facts

SECOND = 10**6
T0 = 1_795_000_000 * SECOND
EXACT = Captures({("openai",): Capture(1.0, 1.0, 1.0, 1), ("anthropic",): Capture(1.0, 1.0, 1.0, 1)})


class Proposal:
    """What the plan hands back: a scope and the parameters of a choice."""

    def __init__(self, choice) -> None:
        self.scope = choice.scope
        self.params = choice.params()


@pytest.fixture
def session():
    warehouse = Warehouse(None, threads=1)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


def applied(session, proposals, captures=EXACT) -> dict[int, tuple[int, ...]]:
    apply_layout(session, "stream", "split", proposals, load_rules(), captures)
    return {row[0]: row[1:] for row in session.connection.execute("SELECT * FROM split").fetchall()}


STABLE = [f"Rule {n}: keep the answer short, name the source and never promise a refund of order." for n in range(110)]


def bot(flaw: bool, requests: int = 600, seed: int = 3) -> tuple[Facts, int]:
    """Support traffic with the time at the head (flaw) or at the end of its instruction; returns billed reads too."""
    random, cache, facts, reads = Random(seed), AutomaticCache(), Facts(), 0
    now = T0
    for _ in range(requests):
        now += int(random.expovariate(1 / 100) * SECOND)
        clock = f"Current time: {now}"
        system = "\n".join([clock, *STABLE] if flaw else [*STABLE, clock])
        question = " ".join(random.choice(("why", "is", "my", "parcel", "late", "again")) for _ in range(40))
        words = tuple(f"{system} {question}".split())
        cached = cache.lookup("gpt-4.1", words, now, now)
        reads += cached
        facts.add(
            now,
            [("system", system), ("user", question)],
            {"tok_input": len(words) - cached, "tok_cache_read": cached},
            feature="support",
        )
    return facts, reads


def test_a_rewritten_prompt_is_predicted_within_two_percent_of_the_truly_rewritten_one(session) -> None:
    facts, billed = bot(flaw=True)
    assert billed == 0
    _, truth = bot(flaw=False)
    facts.load(session)
    advice = advise(session, "stream")
    [choice] = advice.choices
    assert (choice.action, choice.layout, choice.broken.line) == ("reorder", 1, 1)
    split = applied(session, [Proposal(choice)])
    predicted = sum(row[1] for row in split.values())
    assert truth > 100_000
    assert abs(predicted - truth) / truth < 0.02
    assert all(sum(row) == made["prompt_tokens"] for row, made in zip(split.values(), facts.stream, strict=True))


def test_a_stable_prompt_has_no_proposal(session) -> None:
    facts, billed = bot(flaw=False)
    assert billed > 0
    facts.load(session)
    assert advise(session, "stream").choices == ()


def test_capture_is_what_was_billed_of_what_the_replay_predicts(session) -> None:
    facts, _ = bot(flaw=False)
    facts.load(session)
    capture = advise(session, "stream").captures.of("openai", "gpt-4.1", "prefix_tokens")
    assert not capture.assumed
    assert 0.97 <= capture.rate <= 1.0
    assert capture.p10 <= capture.rate <= capture.p90


def test_without_billed_reads_the_capture_rate_is_an_assumption_and_says_so(session) -> None:
    facts, _ = bot(flaw=True)
    facts.load(session)
    capture = advise(session, "stream").captures.of("openai", "gpt-4.1", "prefix_tokens")
    assert capture.assumed
    assert "assumed" in capture.sentence()


def agent(flaw: bool, sessions: int = 40, seed: int = 5) -> tuple[Facts, list[tuple[int, int, int]]]:
    """Agent sessions with a growing context, without marks (flaw) or with a mark on system and last message."""
    random, cache, facts, uses = Random(seed), MarkedCache(minimum=1024), Facts(), []
    calls = []
    for number in range(sessions):
        at = T0 + number * 1800 * SECOND
        for step in range(random.randint(4, 14)):
            calls.append((at, number, step))
            at += random.randint(20, 90) * SECOND if random.random() > 0.05 else 1000 * SECOND
    history: dict[int, list[tuple[str, str]]] = {}
    system = " ".join(f"rule{n:05d}" for n in range(1500))
    for at, number, step in sorted(calls):
        parts = history.setdefault(number, [("system", system)])
        if step:
            parts.append(("assistant", f"call {number} {step} " + "thinking " * 30))
        parts.append(
            ("user", f"result {number} {step} " + " ".join(f"line{random.randrange(10**5):05d}" for _ in range(200)))
        )
        blocks, total = [], 0
        for place, (_, text) in enumerate(parts):
            total += len(text.split())
            marked = not flaw and place in (0, len(parts) - 1)
            blocks.append(Block(hash((number if place else -1, place, text)), total, marked))
        use = cache.lookup(blocks, at, at)
        uses.append((use.uncached, use.read, use.written))
        facts.add(
            at,
            list(parts),
            {"tok_input": use.uncached, "tok_cache_read": use.read, "tok_cache_write_5m": use.written},
            provider="anthropic",
            model_id="claude-sonnet-4-5",
            feature="agent",
            session_id=str(number),
        )
    return facts, uses


def test_marks_on_a_growing_context_are_predicted_within_two_percent(session) -> None:
    facts, _ = agent(flaw=True)
    _, truth = agent(flaw=False)
    facts.load(session)
    [choice] = advise(session, "stream").choices
    assert choice.action == "mark"
    assert choice.mark_last
    rule = choice.rule
    true_cost = cost_of(
        [sum(use[0] for use in truth), sum(use[1] for use in truth), sum(u[2] for u in truth), 0, 0, 0], rule
    )
    split = applied(session, [Proposal(choice)])
    cost = cost_of([sum(column) for column in zip(*split.values(), strict=True)], rule)
    assert cost <= 1.02 * true_cost
    if choice.lifetime == "5m":
        assert abs(cost - true_cost) / true_cost < 0.02


def test_well_marked_traffic_has_nothing_left_or_only_a_longer_lifetime(session) -> None:
    facts, _ = agent(flaw=False)
    facts.load(session)
    choices = advise(session, "stream").choices
    assert all(choice.lifetime == "1h" for choice in choices)


def test_removed_requests_do_not_warm_the_cache(session) -> None:
    facts, _ = bot(flaw=True, requests=200)
    facts.load(session)
    [choice] = advise(session, "stream").choices
    whole = applied(session, [Proposal(choice)])
    session.connection.execute("DELETE FROM stream WHERE request_key % 4 <> 0")
    part = applied(session, [Proposal(choice)])
    assert set(part) == {key for key in whole if key % 4 == 0}
    assert sum(row[1] for row in part.values()) < sum(whole[key][1] for key in part)


def test_a_candidate_follows_its_requests_to_another_model(session) -> None:
    facts, _ = bot(flaw=True, requests=200)
    facts.load(session)
    [choice] = advise(session, "stream").choices
    session.connection.execute("UPDATE stream SET model_id = 'gpt-4.1-mini', token_ratio = 1.1")
    split = applied(session, [Proposal(choice)])
    assert len(split) == 200
    assert all(
        sum(row) == int(made["prompt_tokens"] * 1.1) for row, made in zip(split.values(), facts.stream, strict=True)
    )
    assert sum(row[1] for row in split.values()) > 0


def test_capture_scales_what_is_read(session) -> None:
    facts, _ = bot(flaw=True, requests=200)
    facts.load(session)
    [choice] = advise(session, "stream").choices
    half = Captures({("openai",): Capture(0.5, 0.5, 0.5, 1)})
    whole = sum(row[1] for row in applied(session, [Proposal(choice)]).values())
    assert sum(row[1] for row in applied(session, [Proposal(choice)], half).values()) == pytest.approx(
        whole / 2, rel=0.01
    )


def fan_out(together: bool) -> Facts:
    """Fifty bursts of ten requests with one long instruction: all at once, or half a minute apart."""
    facts = Facts()
    for burst in range(50):
        for number in range(10):
            start = T0 + burst * 7200 * SECOND + number * (SECOND // 10 if together else 30 * SECOND)
            facts.add(
                start,
                [("system", "steady word " * 1500), ("user", f"question {burst} {number}")],
                {"tok_input": 3010, "tok_cache_read": 0},
                provider="anthropic",
                model_id="claude-sonnet-4-5",
                first_token_us=start + 2 * SECOND,
            )
    return facts


def test_requests_that_start_together_cannot_read_what_none_has_written_yet(session) -> None:
    fan_out(together=True).load(session)
    assert advise(session, "stream").choices == ()
    fan_out(together=False).load(session)
    [choice] = advise(session, "stream").choices
    assert choice.split[1] == pytest.approx(0.9 * 0.98 * 500 * 3000, rel=0.01)
    assert choice.fan_out_tokens == 0


def test_an_implicit_mark_on_a_changing_message_is_replaced_by_one_on_the_stable_part(session) -> None:
    facts = Facts()
    for number in range(200):
        facts.add(
            T0 + number * 60 * SECOND,
            [("system", "steady word " * 900), ("user", f"{number} " + "own words " * 900)],
            {"tok_input": 0, "tok_cache_read": 0, "tok_cache_write_30m": 3600},
            model_id="gpt-5.6-sol",
        )
    facts.load(session)
    [choice] = advise(session, "stream").choices
    assert (choice.action, choice.marks, choice.mark_last, choice.lifetime) == ("mark", (1,), False, "30m")
    assert choice.cost < 0.6 * 200 * 3600 < choice.billed_cost


TOOLS = [f'{{"name": "tool{n}", "description": "{"does one thing well, " * 12}"}}' for n in range(12)]


def with_tools(shuffled: bool, requests: int = 300) -> tuple[Facts, int]:
    """Requests with the same tools, in a random order or always in the same one; returns billed reads too."""
    random, cache, facts, reads = Random(8), AutomaticCache(), Facts(), 0
    for number in range(requests):
        start = T0 + number * 30 * SECOND
        tools = random.sample(TOOLS, len(TOOLS)) if shuffled else TOOLS
        parts = [*(("tools", tool) for tool in tools), ("system", "steady word " * 400), ("user", f"question {number}")]
        words = tuple(" ".join(text for _, text in parts).split())
        cached = cache.lookup("gpt-4.1", words, start, start)
        reads += cached
        facts.add(start, parts, {"tok_input": len(words) - cached, "tok_cache_read": cached})
    return facts, reads


def test_tools_in_a_changing_order_are_found_and_priced_as_if_sorted(session) -> None:
    facts, billed = with_tools(shuffled=True)
    _, truth = with_tools(shuffled=False)
    facts.load(session)
    [choice] = advise(session, "stream").choices
    assert choice.broken.tool_orders > 100
    split = applied(session, [Proposal(choice)])
    predicted = sum(row[1] for row in split.values())
    assert billed < 0.1 * truth
    assert abs(predicted - truth) / truth < 0.1  # boundaries are ends of parts, the provider's steps are finer


def test_tools_in_one_order_are_no_break(session) -> None:
    facts, _ = with_tools(shuffled=False)
    facts.load(session)
    assert advise(session, "stream").choices == ()


def chat(flaw: bool, sessions: int = 60, seed: int = 4) -> tuple[Facts, int]:
    """Conversations with the time at the head of the instruction (flaw) or in the newest message; billed reads too."""
    random, cache, facts, reads = Random(seed), AutomaticCache(), Facts(), 0
    for number in range(sessions):
        history: list[tuple[str, str]] = []
        for turn in range(6):
            start = T0 + (number * 3600 + turn * 40) * SECOND
            clock = f"Current time: {start}"
            question = f"question {number} {turn} " + " ".join(
                random.choice(("why", "how", "when")) for _ in range(300)
            )
            system = "\n".join([clock, *STABLE] if flaw else STABLE)
            newest = question if flaw else f"{question}\n{clock}"
            parts = [("system", system), *history, ("user", newest)]
            words = tuple(" ".join(text for _, text in parts).split())
            cached = cache.lookup("gpt-4.1", words, start, start)
            reads += cached
            facts.add(start, parts, {"tok_input": len(words) - cached, "tok_cache_read": cached})
            history += [("user", question), ("assistant", f"answer {number} {turn} " + "so it is " * 100)]
    return facts, reads


def test_in_a_conversation_the_clock_goes_into_the_newest_message(session) -> None:
    facts, billed = chat(flaw=True)
    assert billed == 0
    _, truth = chat(flaw=False)
    facts.load(session)
    [choice] = advise(session, "stream").choices
    assert choice.layout == 2
    split = applied(session, [Proposal(choice)])
    predicted = sum(row[1] for row in split.values())
    assert abs(predicted - truth) / truth < 0.1  # boundaries are ends of parts, the provider's steps are finer
    assert all(sum(row) == made["prompt_tokens"] for row, made in zip(split.values(), facts.stream, strict=True))


def test_sorting_the_tools_is_the_whole_advice_where_nothing_else_breaks(session) -> None:
    facts, _ = with_tools(shuffled=True)
    facts.load(session)
    [candidate] = LEVER.detect(session)
    assert candidate.params["finding"] == "tools_in_changing_order"
    [step] = LEVER.describe(candidate).steps
    assert "Sort them" in step


def test_a_source_that_does_not_say_what_was_cached_is_no_evidence_of_a_bad_capture(session) -> None:
    facts, _ = bot(flaw=False)
    for row in facts.stream:
        row["tok_input"], row["tok_cache_read"] = row["prompt_tokens"], None
    facts.load(session)
    assert advise(session, "stream").captures.of("openai", "gpt-4.1", "prefix_tokens").assumed


def test_reads_that_never_come_are_a_capture_rate_of_zero(session) -> None:
    facts, _ = bot(flaw=False)
    for row in facts.stream:
        row["tok_input"], row["tok_cache_read"] = row["prompt_tokens"], 0
    facts.load(session)
    capture = advise(session, "stream").captures.of("openai", "gpt-4.1", "prefix_tokens")
    assert (capture.rate, capture.assumed) == (0.0, False)
