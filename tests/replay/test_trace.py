"""`halve replay` on made and public traces."""

from __future__ import annotations

import csv
import json
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import InputError, UsageError
from app.replay.prefix_tree import boundaries, common_prefix
from app.replay.trace import TraceCall, replay_trace, ttl_from_text
from app.warehouse.store import Session, Warehouse

MINUTE_US = 60 * 10**6


@pytest.fixture(scope="module")
def session():
    warehouse = Warehouse(None, threads=1)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_common_prefix_is_the_longest(head: bytes, one: bytes, two: bytes) -> None:
    first, second = head + one, head + two
    length = common_prefix(first, second)
    assert first[:length] == second[:length]
    assert length == min(len(first), len(second)) or first[length] != second[length]


short_texts = st.lists(st.text("ab", max_size=6).map(str.encode), max_size=12)


@given(short_texts)
def test_texts_share_a_boundary_exactly_where_their_prefix_is_the_same(texts: list[bytes]) -> None:
    members: dict[int, set[bytes]] = defaultdict(set)
    by_text: dict[int, dict[int, int]] = defaultdict(dict)
    for boundary in boundaries(texts):
        members[boundary.node].add(texts[boundary.index][: boundary.depth])
        by_text[boundary.index][boundary.node] = boundary.depth
    assert all(len(prefixes) == 1 for prefixes in members.values())
    for i, first in enumerate(texts):
        for j, second in enumerate(texts):
            shared = max((depth for node, depth in by_text[i].items() if node in by_text[j]), default=0)
            assert shared == common_prefix(first, second)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 40), st.text("ab", max_size=6).map(str.encode)), max_size=12))
def test_unlimited_text_replay_is_the_longest_prefix_with_any_earlier_call(session: Session, stream) -> None:
    calls = [TraceCall(start_us=time, text=text) for time, text in stream]
    report = replay_trace(session, calls, ttl_us=None)
    ordered = sorted(stream, key=lambda call: call[0])
    expected = sum(
        max((common_prefix(text, earlier) for _, earlier in ordered[:place]), default=0)
        for place, (_, text) in enumerate(ordered)
    )
    assert (report.total.hit_bytes or 0) == expected


def test_a_block_beyond_its_lifetime_is_no_hit_and_a_hit_renews_it(session: Session) -> None:
    def call(minute: int) -> TraceCall:
        return TraceCall(start_us=minute * MINUTE_US, tokens=700, blocks=(1, 2), block_tokens=512)

    renewed = replay_trace(session, [call(0), call(4), call(8)], ttl_us=5 * MINUTE_US).total
    assert (renewed.hit_blocks, renewed.blocks, renewed.hit_tokens) == (4, 6, 1400)
    late = replay_trace(session, [call(0), call(6)], ttl_us=5 * MINUTE_US).total
    assert (late.hit_blocks, late.hit_tokens) == (0, 0)


def test_calls_without_a_time_are_not_replayed_against_a_lifetime(session: Session) -> None:
    calls = [TraceCall(start_us=None, text=b"the same"), TraceCall(start_us=None, text=b"the same")]
    assert replay_trace(session, calls, ttl_us=None).total.hit_bytes == 8
    with pytest.raises(InputError, match="2 of 3 calls carry no time"):
        replay_trace(session, [TraceCall(start_us=1, text=b"x"), *calls], ttl_us=5 * MINUTE_US)


def test_session_scope_keeps_sessions_apart(session: Session) -> None:
    calls = [TraceCall(start_us=n, session=name, text=b"the same text") for n, name in enumerate("aba")]
    report = replay_trace(session, calls, ttl_us=None, scope="session")
    assert report.total.hit_bytes == 13
    assert {name: totals.hit_bytes for name, totals in report.by_scope.items()} == {"a": 13, "b": 0}
    assert replay_trace(session, calls, ttl_us=None).total.hit_bytes == 26


def test_tokens_that_no_call_names_stay_unknown(session: Session) -> None:
    report = replay_trace(session, [TraceCall(start_us=1, text=b"abc")], ttl_us=None).as_dict()
    assert (report["tokens"], report["hit_tokens"], report["hit_rate"]) == (None, None, 0.0)


@pytest.mark.parametrize(("text", "micros"), [("90s", 90 * 10**6), ("5m", 5 * MINUTE_US), ("1h", 3600 * 10**6)])
def test_lifetimes_are_read(text: str, micros: int) -> None:
    assert ttl_from_text(text) == micros


@pytest.mark.parametrize("text", ["", "5", "-5m", "0s", "5 weeks", "m"])
def test_what_is_no_lifetime_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="lifetime"):
        ttl_from_text(text)


def test_a_call_without_blocks_or_text_is_refused(session: Session) -> None:
    with pytest.raises(InputError, match="neither"):
        replay_trace(session, [TraceCall(start_us=1)], ttl_us=None)


@pytest.mark.data
@pytest.mark.parametrize(
    ("ttl", "hit_blocks"), [("1m", 39_202), ("5m", 71_228), ("10m", 77_265), ("30m", 77_953), ("60m", 77_953)]
)
def test_mooncake_blocks_hit_as_published(session: Session, data_dir, ttl: str, hit_blocks: int) -> None:
    calls = []
    with (data_dir / "mooncake" / "synthetic_trace.jsonl").open() as lines:
        for line in lines:
            row = json.loads(line)
            calls.append(
                TraceCall(
                    start_us=row["timestamp"] * 1000,
                    tokens=row["input_length"],
                    blocks=row["hash_ids"],
                    block_tokens=512,
                )
            )
    total = replay_trace(session, calls, ttl_us=ttl_from_text(ttl)).total
    assert (total.hit_blocks, total.blocks) == (hit_blocks, 121_877)


@pytest.mark.data
def test_lmcache_sessions_hit_within_one_and_a_half_points_of_the_published_rate(session: Session, data_dir) -> None:
    folder = data_dir / "lmcache"
    with (folder / "published_prefix_hit_rates.csv").open() as rows:
        published = {row["session8"]: float(row["published_prefix_hit_pct"]) for row in csv.DictReader(rows)}
    calls = []
    for path in sorted(folder.glob("*/*.jsonl")):
        with path.open() as lines:
            for line in lines:
                row = json.loads(line)
                calls.append(TraceCall(start_us=row["timestamp"], session=path.name[:8], text=row["input"].encode()))
    report = replay_trace(session, calls, ttl_us=None, scope="session")
    exact = {name: 100 * (report.by_scope[name].hit_rate or 0) for name in published}
    hashed = {name: 100 * (report.by_scope[name].hash_only_hit_rate or 0) for name in published}
    assert len(published) == 37
    assert sum(abs(exact[name] - published[name]) <= 1.5 for name in published) == 37
    assert sum(abs(hashed[name] - published[name]) <= 1.5 for name in published) < 37
    assert all(hashed[name] <= exact[name] for name in published)
