"""What is checked before anything leaves the machine, and how a file is cut into batches."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import NOW_US, chat, chats, message

from app import batch
from app.batch.intake import safe_id, seq_of
from app.batch.order import moment_us
from app.batch.provider import Limits
from app.batch.split import ID_BYTES, Line, in_order, prefix_key, shares
from app.control import batches
from app.control.batches import Part
from app.core.errors import InputError, UsageError

HOUR_US = 3_600_000_000


def reasons(lines, provider="openai"):
    return {one.line: one.reason for one in batch.check(lines, provider)}


def test_every_wrong_line_is_named_and_nothing_is_kept(world):
    good = json.loads(chat("ok"))
    lines = [
        b"\xef\xbb\xbf" + chat("first"),
        b"",
        json.dumps({**good, "custom_id": "a", "method": "GET"}).encode(),
        json.dumps({**good, "custom_id": "b", "url": "/v1/files"}).encode(),
        json.dumps({**good, "custom_id": "c", "body": {"messages": [{"role": "user", "content": "x"}]}}).encode(),
        chat("first"),
        b"[1]",
        b'{"custom_id": "x", ',
        chat("d", stream=True),
    ]
    with pytest.raises(batch.RefusedLinesError) as caught:
        world.submit(lines)
    found = {one.line: one.reason for one in caught.value.problems}
    assert found == {
        3: "method is not POST",
        4: "url is none of /v1/chat/completions, /v1/responses, /v1/completions, /v1/embeddings, /v1/moderations",
        5: "model missing",
        6: "custom_id 'first' was used before",
        7: "not a JSON object",
        8: "invalid JSON",
        9: "stream not allowed in batch",
    }
    assert batches.jobs(world.control) == []
    assert not [path for path in world.desk.folder.iterdir() if path.is_dir()]


def test_an_empty_file_is_no_job(world):
    with pytest.raises(InputError, match="no request"):
        world.submit([b"", b"\n"])


def test_anthropic_rules_are_checked_here(world):
    lines = [message("a", stream=True), message("b", max_tokens=0), message("c", fallbacks=[]), message("d")]
    assert reasons(lines, "anthropic") == {
        1: "stream not allowed in batch",
        2: "max_tokens must be at least 1",
        3: "fallbacks not allowed in batch",
    }


def test_a_time_that_cannot_be_met_is_refused_with_the_latest_start(world):
    with pytest.raises(UsageError, match="at the latest"):
        world.submit(chats(1), start_us=NOW_US + HOUR_US, needed_by_us=NOW_US + 24 * HOUR_US)
    job = world.submit(chats(1), start_us=NOW_US + HOUR_US, needed_by_us=NOW_US + 25 * HOUR_US)
    assert job.state == "scheduled"


def test_a_secret_is_taken_as_a_reference_only(world):
    with pytest.raises(UsageError, match="env:NAME"):
        world.submit(chats(1), key_ref="sk-live-1234")
    with pytest.raises(UsageError, match="signed"):
        world.submit(chats(1), webhook_url="https://example.com/x")


@pytest.mark.parametrize(
    ("text", "after", "wanted"),
    [
        ("02:00", "2026-03-01T01:00", "2026-03-01T02:00"),
        ("02:00", "2026-03-01T02:00", "2026-03-02T02:00"),
        ("2026-03-05T02:00", "2026-03-01T02:00", "2026-03-05T02:00"),
        ("02:30", "2026-03-28T12:00", "2026-03-29T03:30"),  # the clocks skip 02:30
        ("02:30", "2026-10-24T12:00", "2026-10-25T02:30+02:00"),  # it comes twice; the first
    ],
)
def test_a_time_of_day_is_the_next_one_of_its_zone(text, after, wanted):
    zone = "Europe/Berlin"
    assert moment_us(text, zone, moment_us(after, zone, 0)) == moment_us(wanted, zone, 0)


def line(seq, size=100, tokens=10, model="m", endpoint="/v1/x", prompt=b"p"):
    return Line(seq, model, endpoint, prefix_key(prompt), 0, size, tokens, f"id-{seq}")


@given(
    st.lists(
        st.tuples(st.integers(1, 500), st.integers(1, 50), st.sampled_from("mn"), st.sampled_from(("/a", "/b"))),
        min_size=1,
        max_size=60,
    ),
    st.integers(1, 10),
    st.integers(600, 3000),
    st.one_of(st.none(), st.integers(1, 100)),
    st.booleans(),
)
def test_no_part_is_above_a_limit_and_no_item_is_lost(given_lines, rows, size, tokens, one_model):
    lines = [line(seq, *values) for seq, values in enumerate(given_lines)]
    limits = Limits(rows=rows, bytes=size, one_model=one_model)
    made = list(shares(in_order(lines, limits), limits, tokens))
    assert Counter(one.seq for share in made for one in share.lines) == Counter(range(len(lines)))
    for share in made:
        assert len(share.lines) <= rows
        assert share.bytes <= size
        assert tokens is None or share.tokens <= tokens or len(share.lines) == 1
        assert len({one.endpoint for one in share.lines}) == 1
        assert not one_model or {one.model for one in share.lines} == {share.model}


def test_prompts_with_a_common_prefix_are_sent_one_after_the_other():
    limits = Limits(rows=1000, bytes=10**9, one_model=True)
    prefixes = [bytes([65 + number]) * 5000 for number in range(4)]
    lines = [line(seq, prompt=prefixes[seq % 4] + str(seq).encode()) for seq in range(40)]
    order = [one.seq % 4 for one in in_order(lines, limits)]
    changes = sum(1 for before, after in itertools.pairwise(order) if before != after)
    assert changes == 3


@given(st.integers(0, 10**7))
def test_a_safe_id_says_whose_it_is(seq):
    def part(mark):
        return Part("j", 0, "/v1/x", 1, "queued", 1, 1, 1, mark, 0)

    ours, theirs = part("0123456789abcdef0123456789abcdef"), part("f123456789abcdef0123456789abcdef")
    made = safe_id(ours, seq)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", made)
    assert len(made) + len('"","') <= ID_BYTES
    assert (seq_of(ours, made), seq_of(theirs, made), seq_of(ours, "row-1"), seq_of(ours, 5)) == (seq, None, None, None)


def test_the_estimate_names_what_it_does_not_know(world):
    from world import book

    lines = [chat("a", "x" * 4000, max_tokens=500), chat("b", "y" * 4000, model="no-such-model", max_tokens=5)]
    job = batch.submit(world.desk, lines, batch.Order("openai"), book())
    assert job.estimate["unpriced"] == ["no-such-model"]
    assert job.estimate["batch_input_usd"] is None
    known = next(one for one in job.estimate["models"] if one["model"] == "gpt-4o-mini")
    assert known["tokens_out_cap"] == 500
    assert known["batch_output_cap_usd"] == "0.00015"
    assert known["realtime_output_cap_usd"] == "0.0003"


def test_an_answer_without_a_cap_has_no_estimate(world):
    from world import book

    job = batch.submit(world.desk, [chat("a")], batch.Order("openai"), book())
    assert job.estimate["batch_output_cap_usd"] is None
    assert job.estimate["batch_input_usd"] is not None
