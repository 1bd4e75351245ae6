"""Snapshots of one call make the same row in every order and grouping into shards and transactions, once or twice."""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_logs import make_store

from app.core.usage import Part, UsageEvent, UsagePart
from app.main.runtime import load_book
from app.settings import Settings
from app.warehouse.priced import Pricer
from app.warehouse.ranks import ranked
from app.warehouse.snapshots import joined, paired
from app.warehouse.unchanged import bringing
from ingest.fingerprint import Fingerprinter
from ingest.formats.format import Origin
from ingest.inbox import take_inbox
from ingest.records import Chunk
from ingest.rows import Rows
from ingest.shard import ChunkResult, ShardMeta, write_shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from made_logs import Store

Snapshot = dict[str, Any]
"""Fields of a UsageEvent, with `source`, `tie` (bytes of its record) and `text` (its prompt)."""

KEY: Final = bytes(range(32))


def maybe(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from((None, None, *values))


SNAPSHOTS: Final = st.fixed_dictionaries(
    {
        "source": st.sampled_from(("app", "gateway", "tracer")),
        "tie": st.sampled_from((b"1", b"2", b"3")),
        "text": maybe("hello", "good morning"),
        "model": maybe("gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5"),
        "provider": maybe("openai", "azure", "anthropic"),
        "region": maybe("eu", "us"),
        "service_tier": maybe("flex", "priority", "default"),
        "is_batch": st.booleans(),
        "not_billed": st.sampled_from((False, False, False, True)),
        "session_id": maybe("s1", "s2"),
        "tags": maybe({"feature": "chat"}, {"feature": "search", "team": "web"}, {"team": "ops"}),
        "price_context": maybe({"charge": "reported"}, {"inference_geo": "us"}),
        "cost_reported_usd": maybe("0.01", "0.5", "7"),
        "start_us": maybe(1_760_000_000_000_000, 1_760_000_001_000_000),
        "end_us": maybe(1_760_000_002_000_000),
        "finish_reason": maybe("stop", "length"),
        "stream": maybe(True, False),
        "temperature": maybe(0.0, 1.0),
        "status": st.sampled_from(("ok", "error")),
        "error": maybe("it broke"),
        "warnings": maybe(["cut_short"]),
        "units": maybe({"web_search": 2.0}),
        "account": maybe("org-1", "org-2"),
        "tok_input": maybe(100, 200),
        "tok_cache_read": maybe(50, 0),
        "tok_output": maybe(10, 20),
        "tok_total_reported": maybe(110, 160),
        "calls_summed": maybe(0, 3),
        "parts": maybe(
            [UsagePart(model="claude-sonnet-4-5", tok_input=40, tok_output=4)],
            [UsagePart(model="gpt-4o", tok_input=60, tok_output=6), UsagePart(model="gpt-4o-mini", tok_output=3)],
        ),
    }
)
ID_KINDS: Final = ("strong", "span", "own")
numbers: Final = itertools.count(1)


def a_call(kind: str) -> dict[str, str]:
    """The ids of a call that no test told of before."""
    number = next(numbers)
    if kind == "strong":
        return {"provider_response_id": f"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz{number:06d}"}
    return {"source_record": f"{number:032x}/{'cd' * 8}" if kind == "span" else f"own-{number}"}


@cache
def pricer() -> Pricer:
    return Pricer(load_book(Settings()))


def filled(told: list[tuple[int, Snapshot, dict[str, str]]]) -> Rows:
    """Snapshots as the rows of one shard: a chunk each, from a file of its own."""
    rows, prints = Rows(), Fingerprinter(KEY, "all")
    for chunk_no, (number, snapshot, ids) in enumerate(told):
        fields: dict[str, Any] = {**ids, **snapshot}
        source, tie, text = fields.pop("source"), fields.pop("tie"), fields.pop("text")
        event = UsageEvent(**fields, prompt=None if text is None else [Part("user", "text", text)])
        rows.begin(chunk_no, source)
        prints.add(rows, event, Origin(source, f"{number}.jsonl", 1), chunk_no, tie, 0)
    return rows


def write(store: Store, name: str, told: list[tuple[int, Snapshot]], ids: dict[str, str]) -> None:
    """One shard: a chunk a snapshot, each from a file of its own."""
    rows = filled([(number, snapshot, ids) for number, snapshot in told])
    chunks: list[ChunkResult] = []
    for number, snapshot in told:
        chunk = Chunk(
            source=snapshot["source"], format="made", file=f"{number}.jsonl", path=f"{number}.jsonl",
            compression="none", layout="lines", byte_from=0, byte_to=1, settled_to=1, line_from=0, line_to=1,
            at_end=True, head_bytes=1, head_hash=1, file_bytes=1, file_mtime_ns=1,
        )  # fmt: skip
        chunks.append(ChunkResult(chunk=chunk, line_to=1, tail_hash=1, complete=True, read=1))
    write_shard(store.data_dir, ShardMeta(name=name, billing={}, chunks=chunks, rejects=[]), rows.frames())


def told(store: Store, groups: list[list[list[tuple[int, Snapshot]]]], kind: str) -> dict[str, Any]:
    """What a store keeps of a call after these transactions of shards of snapshots, but for its ids and its place."""
    ids = a_call(kind)
    for number, shards in enumerate(groups):
        for nth, shard in enumerate(shards):
            write(store, f"{next(iter(ids.values())).replace('/', '-')}-{number:03d}-{nth:03d}", shard, ids)
        take_inbox(store.warehouse, pricer(), store.data_dir)
    (name,) = ids.values()
    keys = store.rows(f"SELECT request_key FROM requests WHERE '{name}' IN (provider_response_id, source_record)")
    assert len(keys) == 1
    place = "request_key, source_record, origin_file, origin_line"
    tables = {
        "requests": f"{place}, provider_response_id",
        "request_parts": "request_key",
        "segments": "request_key",
        "request_origins": place,
        "request_lent": "request_key",
    }
    return {
        table: store.rows(f"SELECT * EXCLUDE ({hidden}) FROM {table} WHERE request_key = {keys[0][0]} ORDER BY ALL")
        for table, hidden in tables.items()
    }


@st.composite
def groupings(draw: st.DrawFn, count: int) -> list[list[list[int]]]:
    """Transactions of shards of snapshots, by number: each at least once, in any order."""
    order = draw(st.permutations(range(count))) + draw(st.lists(st.integers(0, count - 1), max_size=2))
    groups: list[list[list[int]]] = [[[]]]
    for number in order:
        where = draw(st.sampled_from(("transaction", "shard", "same")))
        if where == "transaction":
            groups.append([[]])
        elif where == "shard":
            groups[-1].append([])
        groups[-1][-1].append(number)
    return [[shard for shard in shards if shard] for shards in groups if any(shards)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for all calls: each example tells of new ones."""
    store = make_store(tmp_path_factory.mktemp("law"))
    yield store
    store.warehouse.close()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), kind=st.sampled_from(ID_KINDS))
def test_snapshots_of_a_call_make_one_row_however_they_come(shared: Store, data: st.DataObject, kind: str) -> None:
    snapshots = data.draw(st.lists(SNAPSHOTS, min_size=2, max_size=4))
    if kind == "own":
        snapshots = [{**one, "source": "app"} for one in snapshots]
    numbered = list(enumerate(snapshots))
    plain = told(shared, [[[one]] for one in numbered], kind)
    for _ in range(2):
        groups = data.draw(groupings(len(snapshots)))
        chosen = [[[numbered[number] for number in shard] for shard in shards] for shards in groups]
        found = told(shared, chosen, kind)
        for table, rows in plain.items():
            assert found[table] == rows, (table, groups)


def frame(snapshots: list[Snapshot], calls: list[dict[str, str]]) -> pl.DataFrame:
    """One snapshot of each call, as rows that the law joins."""
    told = [(number, *one) for number, one in enumerate(zip(snapshots, calls, strict=True))]
    sources = pl.Series("source", [one["source"] for one in snapshots], dtype=pl.String)
    requests = filled(told).frames()["requests"].with_columns(sources, origin_file=pl.lit("a"), shard_no=pl.lit(0))
    return ranked(requests, None)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_row_that_is_told_at_once_to_bring_nothing_changes_nothing_by_the_law(data: st.DataObject) -> None:
    told = data.draw(st.lists(st.lists(SNAPSHOTS, min_size=4, max_size=4), min_size=1, max_size=12))
    again = [data.draw(st.sampled_from((0, 1, 2, 3))) for _ in told]  # which of them comes again: the last is new
    calls = [a_call("strong") for _ in told]
    first, second, third = (frame([one[nth] for one in told], calls) for nth in range(3))
    stands = joined(paired(third, joined(paired(second, first)).drop("changed", "says_more")))
    now = frame([one[nth] for one, nth in zip(told, again, strict=True)], calls)
    pairs = paired(now, stands.drop("changed", "says_more"))
    left_out = pairs.join(bringing(pairs), on="request_key", how="anti")
    assert not joined(left_out)["changed"].any()
    new = [call["provider_response_id"] for call, nth in zip(calls, again, strict=True) if nth == 3]
    known = joined(pairs.filter(~pl.col("provider_response_id").is_in(new)))
    assert not known["changed"].any()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(snapshots=st.lists(SNAPSHOTS, min_size=1, max_size=12))
def test_what_stands_already_is_told_at_once_to_bring_nothing(snapshots: list[Snapshot]) -> None:
    rows = frame(snapshots, [a_call("strong") for _ in snapshots])
    assert bringing(paired(rows, rows)).is_empty()


A_CALL: Final[Snapshot] = {"source": "app", "tie": b"1", "text": None, "model": "gpt-4o", "tok_input": 1000} | {
    "start_us": 1_760_000_000_000_000,
    "provider": "openai",
}
MILLION: Final = 1_000_000
GROUPS: Final = ("one shard", "one transaction", "one by one")
# Each with what must stand of it, and the cost by hand: gpt-4o is $2.50 a million tokens in and $10 out.
LESS_AND_MORE: Final[dict[str, tuple[Snapshot, Snapshot, str, tuple[Any, ...]]]] = {
    "only the less full one knows of the batch": (
        {**A_CALL, "is_batch": True},
        {**A_CALL, "source": "gateway", "tok_output": 100},
        "is_batch, cost_pusd",
        (True, (1000 * 2_500_000 + 100 * 10 * MILLION) // 2),
    ),
    "what a logger claims is no charge of the provider": (
        {**A_CALL, "provider": "openrouter", "price_context": {"charge": "reported"}, "cost_reported_usd": "0.5"},
        {**A_CALL, "source": "gateway", "provider": "openrouter", "tok_output": 100, "cost_reported_usd": "7"},
        "cost_pusd, cost_reported_pusd",
        (MILLION * MILLION // 2, MILLION * MILLION // 2),
    ),
    "only the less full one names the provider": (
        {**A_CALL, "provider": "azure"},
        {**A_CALL, "source": "gateway", "tok_output": 100, "provider": None},
        "provider, cost_pusd",
        ("azure", 1000 * 2_500_000 + 100 * 10 * MILLION),
    ),
    "what was billed as parts stays billed so": (
        {**A_CALL, "session_id": "s1", "parts": [UsagePart(model="gpt-4o", tok_input=999)]},
        {
            **A_CALL,
            "source": "gateway",
            "tok_output": 100,
            "parts": [
                UsagePart(model="gpt-4o", tok_input=600, tok_output=60),
                UsagePart(model="gpt-4o-mini", tok_input=400, tok_output=40),
            ],
        },
        "session_id, cost_pusd, (SELECT list(tok_input ORDER BY part) FROM request_parts p "
        "WHERE p.request_key = requests.request_key)",
        ("s1", 600 * 2_500_000 + 60 * 10 * MILLION + 400 * 150_000 + 40 * 600_000, [600, 400]),
    ),
    "parts of less usage are none of the fuller one": (
        {**A_CALL, "parts": [UsagePart(model="gpt-4o-mini", tok_input=1000)]},
        {**A_CALL, "source": "gateway", "tok_output": 100},
        "cost_pusd, (SELECT count(*) FROM request_parts p WHERE p.request_key = requests.request_key)",
        (1000 * 2_500_000 + 100 * 10 * MILLION, 0),
    ),
    "nothing was billed, whatever another says that it charged": (
        {**A_CALL, "price_context": {"charge": "reported"}, "cost_reported_usd": "0.5"},
        {**A_CALL, "source": "gateway", "tok_output": 100, "not_billed": True},
        "cost_state, cost_pusd, cost_reported_pusd",
        ("not_billed", 0, MILLION * MILLION // 2),
    ),
}


@pytest.mark.parametrize("grouping", GROUPS)
@pytest.mark.parametrize("backwards", [False, True], ids=["less first", "more first"])
@pytest.mark.parametrize("case", LESS_AND_MORE)
def test_of_two_snapshots_of_a_call(shared: Store, case: str, grouping: str, *, backwards: bool) -> None:
    *snapshots, columns, expected = LESS_AND_MORE[case]
    numbered = list(enumerate(snapshots[::-1] if backwards else snapshots))
    one, other = [numbered[:1], numbered[1:]]
    groups = {"one shard": [[numbered]], "one transaction": [[one, other]], "one by one": [[one], [other]]}[grouping]
    told(shared, groups, "strong")
    newest = shared.one("SELECT max(provider_response_id) FROM requests WHERE provider_response_id IS NOT NULL")
    assert shared.rows(f"SELECT {columns} FROM requests WHERE provider_response_id = '{newest}'") == [expected]
