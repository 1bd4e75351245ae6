"""Sessions that log usage only: predicted reads are those that were billed, and a longer lifetime can be priced."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from app.levers.prompt_caching import LEVER
from app.replay.layout import apply_layout, prepare
from app.replay.sessions import session_reads
from app.warehouse.store import Warehouse
from tests.replay.replay_facts import Facts

SECOND = 10**6
T0 = 1_795_000_000 * SECOND


@pytest.fixture
def session():
    warehouse = Warehouse(None, threads=1)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


@pytest.mark.data
def test_billed_reads_of_claude_code_are_predicted_within_one_percent(session, data_dir) -> None:
    folder, facts, seen = data_dir / "claude_code", Facts(), set()
    paths = [*sorted(folder.glob("*.jsonl")), *sorted((folder / "main").rglob("*.jsonl"))]
    for path in paths:
        for line in path.read_text().splitlines():
            record = json.loads(line)
            message = record.get("message") or {}
            usage = message.get("usage") if record.get("type") == "assistant" else None
            if usage is None or message["id"] in seen or message["model"] == "<synthetic>":
                continue
            seen.add(message["id"])
            tokens = {
                "tok_input": usage["input_tokens"],
                "tok_cache_read": usage["cache_read_input_tokens"],
                "tok_cache_write_5m": usage["cache_creation_input_tokens"],
            }
            longer = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens", 0)
            tokens |= {"tok_cache_write_5m": tokens["tok_cache_write_5m"] - longer, "tok_cache_write_1h": longer}
            facts.add(
                int(datetime.fromisoformat(record["timestamp"]).timestamp() * SECOND),
                [],
                tokens,
                provider="anthropic",
                model_id=message["model"],
                template=None,
                session_id=f"{record['sessionId']} {record.get('agentId', '')}",
            )
    facts.load(session)
    reads = session_reads(session, prepare(session, "stream"))
    assert (reads.steps, reads.billed) == (169, 12_914_585)
    assert reads.predicted == pytest.approx(reads.billed, rel=0.01)


def coding(gap_s: int, sessions: int = 12, steps: int = 10) -> Facts:
    """Sessions whose prompt grows by 2,000 tokens a step, marked for 5 minutes, `gap_s` between steps."""
    facts = Facts()
    for number in range(sessions):
        for step in range(steps):
            prompt = 10_000 + 2_000 * step
            read = prompt - 2_000 if step and gap_s <= 300 else 0
            facts.add(
                T0 + (number * 100_000 + step * gap_s) * SECOND,
                [],
                {"tok_input": 0, "tok_cache_read": read, "tok_cache_write_5m": prompt - read},
                provider="anthropic",
                model_id="claude-sonnet-4-5",
                session_id=str(number),
            )
    return facts


def test_the_replay_of_a_session_knows_when_its_cache_has_died(session) -> None:
    for gap_s, alive in ((300, True), (301, False)):
        coding(gap_s).load(session)
        reads = session_reads(session, prepare(session, "stream"))
        assert reads.predicted == reads.billed
        assert (reads.billed > 0) is alive


def test_well_cached_sessions_get_no_proposal(session) -> None:
    coding(60).load(session)
    assert LEVER.detect(session) == []


def test_pauses_longer_than_the_lifetime_make_a_longer_one_pay(session) -> None:
    facts = coding(900)
    facts.load(session)
    [candidate] = LEVER.detect(session)
    assert (candidate.params["marking"], candidate.params["lifetime"]) == ("session", "1h")
    assert candidate.grade == "D"  # nothing was ever read here, so the capture rate is an assumption
    LEVER.touch(session, [candidate])
    [(touched,)] = session.connection.execute("SELECT count(*) FROM touch_prompt_caching").fetchall()
    assert touched == 120
    apply_layout(session, "stream", "split", [candidate])
    rows = session.connection.execute("SELECT * FROM split ORDER BY request_key").fetchall()
    assert [sum(row[1:]) for row in rows] == [made["prompt_tokens"] for made in facts.stream]
    assert sum(row[2] for row in rows) == pytest.approx(0.98 * sum(10_000 + 2_000 * n for n in range(9)) * 12, abs=120)
    assert "1h" in " ".join(LEVER.describe(candidate).steps)


def test_sessions_whose_prompts_do_not_grow_are_not_taken_to_share_a_prefix(session) -> None:
    facts = Facts()
    for number in range(12):
        for step in range(10):
            facts.add(
                T0 + (number * 100_000 + step * 60) * SECOND,
                [],
                {"tok_input": 9_000 + (step * 7_919) % 4_000, "tok_cache_read": 0},
                provider="anthropic",
                model_id="claude-sonnet-4-5",
                session_id=str(number),
            )
    facts.load(session)
    assert LEVER.detect(session) == []
