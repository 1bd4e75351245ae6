"""The lever prompt_caching: what it finds, refuses and tells, by named failure cases of real tools."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import polars as pl
import pytest

from app.levers.lever import Draw
from app.levers.prompt_caching import LEVER
from app.replay.choose import advise
from app.replay.layout import apply_layout, prepare
from app.replay.plans import SPLIT_CLASSES
from app.warehouse.store import Warehouse
from tests.replay.replay_facts import Facts

SECOND = 10**6


@pytest.fixture
def session():
    warehouse = Warehouse(None, threads=1)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


@pytest.fixture(scope="module")
def cases(data_dir) -> dict[str, dict]:
    with (data_dir.parent / "cases" / "cases.jsonl").open() as lines:
        return {case["id"]: case for case in map(json.loads, lines)}


def parts_of(request: dict) -> list[tuple[str, str]]:
    """The prompt of a chat or messages request as (role, text) in the provider's order."""
    system = request.get("system")
    parts = [("system", block["text"]) for block in ([{"text": system}] if isinstance(system, str) else system or [])]
    for message in request["messages"]:
        content = message["content"]
        blocks = [content] if isinstance(content, str) else content
        parts += [(message["role"], block if isinstance(block, str) else json.dumps(block)) for block in blocks]
    return parts


@pytest.mark.data
def test_llmc_133_a_clock_at_the_head_of_the_system_prompt_is_found(session, cases) -> None:
    case, facts = cases["LLMC-133"], Facts()
    for record in case["minimal_input"]["records"]:
        facts.add(
            record["created"] * SECOND,
            parts_of(record["request"]),
            {"tok_input": record["usage"]["prompt_tokens"], "tok_cache_read": 0},
            model_id=record["model"],
        )
    facts.load(session)
    [candidate] = LEVER.detect(session)
    expected = case["expected"]
    breaker = candidate.params["breaker"]
    assert candidate.params["finding"] == expected["finding"]
    assert breaker["kind"] == expected["volatile_kind"]
    assert abs(breaker["chars"] - expected["position_chars_about"]) <= 1
    assert breaker["tokens_before"] <= 40
    assert breaker["stable_tokens"] == pytest.approx(expected["cacheable_prefix_tokens_after_about"], rel=0.05)
    assert candidate.n_requests == expected["requests"]
    steps = " ".join(LEVER.describe(candidate).steps)
    assert "to the end" in steps
    assert "shorten the time to the date" in steps


@pytest.mark.data
def test_llmc_134_a_timestamp_in_an_appended_tool_result_is_no_finding(session, cases) -> None:
    case, facts = cases["LLMC-134"], Facts()
    for repeat in range(3):  # the same session three times a day apart: more requests, still nothing to find
        for record in case["minimal_input"]["records"]:
            usage = record["usage"]
            facts.add(
                (record["created"] + 86_400 * repeat) * SECOND,
                parts_of(record["request"]),
                {
                    "tok_input": usage["input_tokens"],
                    "tok_cache_read": usage["cache_read_input_tokens"],
                    "tok_cache_write_5m": usage["cache_creation_input_tokens"],
                },
                provider="anthropic",
                model_id=record["model"],
            )
    facts.load(session)
    assert dict(prepare(session, "stream").breaks) == {}
    assert [one for one in LEVER.detect(session) if one.params["breaker"]] == []


@pytest.mark.data
def test_llmc_136_a_prefix_below_the_models_minimum_is_no_candidate_and_says_why(session, cases) -> None:
    case = cases["LLMC-136"]
    expected = case["expected"]

    def facts_on(model: str) -> Facts:
        facts = Facts()
        for number in range(3):
            for record in case["minimal_input"]["records"]:
                [(_, text), question] = parts_of(record["request"])
                assert text == "{tokens:3000}"
                facts.add(
                    (record["created"] + 60 * number) * SECOND,
                    [("system", "word " * 3000), question],
                    {"tok_input": record["usage"]["input_tokens"], "tok_cache_read": 0},
                    provider="anthropic",
                    model_id=model,
                )
        return facts

    facts_on("claude-haiku-4-5").load(session)
    assert LEVER.detect(session) == []
    [refused] = LEVER.data(session)["refused"]
    assert refused["reason"] == expected["finding"]
    assert refused["needed_tokens"] == expected["needed_tokens"]
    assert refused["have_tokens"] == pytest.approx(expected["have_tokens"], rel=0.01)
    facts_on("claude-sonnet-4-5").load(session)
    [candidate] = LEVER.detect(session)
    assert candidate.params["action"] == "mark"


@pytest.mark.data
def test_llmc_137_writes_that_nobody_reads_are_a_loss(session, cases) -> None:
    case, facts = cases["LLMC-137"], Facts()
    for record in case["minimal_input"]["records"]:
        facts.add(
            int(datetime.fromisoformat(record["at"]).astimezone(UTC).timestamp()) * SECOND,
            [],
            {
                "tok_input": record["input_uncached"],
                "tok_cache_read": record["cache_read"],
                "tok_cache_write_5m": record["cache_write_5m"],
            },
            provider="anthropic",
            model_id=case["minimal_input"]["model"],
        )
    facts.load(session)
    [candidate] = LEVER.detect(session)
    assert candidate.params["finding"] == case["expected"]["finding"]
    assert candidate.grade == "A"
    assert "6.0 minutes apart, an entry lives 5" in LEVER.describe(candidate).steps[0]
    rate = 3 / 10**6  # USD per input token
    assert candidate.params["billed_input_equivalents"] * rate == pytest.approx(
        float(case["expected"]["actual_input_cost_usd"])
    )
    assert candidate.params["planned_input_equivalents"] * rate == pytest.approx(
        float(case["expected"]["without_caching_usd"])
    )
    apply_layout(session, "stream", "split", [candidate])
    rows = session.connection.execute("SELECT tok_input, tok_cache_read, tok_cache_write_5m FROM split").fetchall()
    assert rows == [(2520, 0, 0)] * 10


def marked_facts() -> Facts:
    facts = Facts()
    for number in range(40):
        facts.add(
            1_795_000_000 * SECOND + number * 60 * SECOND,
            [("system", "steady word " * 1500), ("user", f"question {number}")],
            {"tok_input": 3010, "tok_cache_read": 0},
            provider="anthropic",
            model_id="claude-sonnet-4-5",
        )
    return facts


def test_touch_marks_the_requests_of_the_scope_and_transform_takes_the_replayed_split(session) -> None:
    marked_facts().load(session)
    candidates = LEVER.detect(session)
    LEVER.touch(session, candidates)
    touched = session.connection.execute("SELECT request_key, candidate FROM touch_prompt_caching").fetchall()
    assert sorted(touched) == [(key, 0) for key in range(1, 41)]
    apply_layout(session, "stream", "split", candidates)
    sums = session.connection.execute(
        "SELECT " + ", ".join(f"sum({name})::DOUBLE AS layout_{name}" for name in SPLIT_CLASSES) + " FROM split"
    ).fetchall()[0]
    cells = pl.DataFrame(
        {"at_prompt_caching": [0, None]}
        | {f"layout_{name}": [value, 0.0] for name, value in zip(SPLIT_CLASSES, sums, strict=True)}
        | {name: [1.0, 7.0] for name in SPLIT_CLASSES},
        schema_overrides={"at_prompt_caching": pl.Int64},
    )
    central = LEVER.transform(cells.lazy(), candidates, Draw()).collect()
    assert central.select(SPLIT_CLASSES).row(0) == pytest.approx(sums)
    assert central.select(SPLIT_CLASSES).row(1) == (7.0,) * 6
    worse = LEVER.transform(cells.lazy(), candidates, Draw(kappa=0.5)).collect()
    better = LEVER.transform(cells.lazy(), candidates, Draw(kappa=1.05)).collect()
    assert worse["tok_cache_read"][0] == pytest.approx(sums[1] / 2)
    assert better["tok_cache_read"][0] > sums[1]
    for frame in (worse, better):
        assert sum(frame.select(SPLIT_CLASSES).row(0)) == pytest.approx(sum(sums))
        assert min(frame.select(SPLIT_CLASSES).row(0)) >= 0


def test_marks_are_described_and_the_rule_is_named(session) -> None:
    marked_facts().load(session)
    [candidate] = LEVER.detect(session)
    assert candidate.rules == ("anthropic-1024",)
    change = LEVER.describe(candidate)
    assert "cache_control" in change.steps[0]
    assert len(candidate.evidence) == 20
    assert any("assumed" in said for said in candidate.assumptions)
    json.dumps(candidate.params)


def test_without_prompts_the_lever_says_what_it_lacks(session) -> None:
    facts = Facts()
    for number in range(10):
        facts.add(1_795_000_000 * SECOND + number, [], {"tok_input": 3010, "tok_cache_read": 0})
    facts.load(session)
    assert LEVER.detect(session) == []
    assert LEVER.data(session)["state"] == "not enough data"


def test_a_model_without_a_rule_is_refused_by_name(session) -> None:
    facts = Facts()
    for number in range(10):
        facts.add(
            1_795_000_000 * SECOND + number,
            [("system", "word " * 3000)],
            {"tok_input": 3010},
            provider="nobody",
            model_id="unheard-of",
        )
    facts.load(session)
    [refusal] = advise(session, "stream").refusals
    assert (refusal.reason, "unheard-of" in refusal.sentence) == ("no_cache_rule", True)
