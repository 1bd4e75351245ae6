"""Fingerprints: equal chains mean equal whole prefixes; keys say what shapes an answer, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.core.usage import Part, UsageEvent
from ingest.fingerprint import Fingerprinter
from ingest.formats.format import Origin
from ingest.install_key import install_key
from ingest.rows import Rows

KEY = bytes(range(32))
PLACE = Origin("s", "f.jsonl", 1)


def frames(*events: UsageEvent, key: bytes = KEY) -> dict[str, Any]:
    rows, prints = Rows(), Fingerprinter(key, "all")
    for number, event in enumerate(events):
        prints.add(rows, event, PLACE, 0, str(number).encode(), 0)
    return rows.frames()


def event(number: int = 0, parts: list[tuple[str, str]] | None = None, **fields: Any) -> UsageEvent:
    prompt = None if parts is None else [Part(role, "text", text) for role, text in parts]
    values = {"provider": "openai", "model": "gpt-4o", "tok_input": 100, "source_record": f"r{number}"} | fields
    return UsageEvent(prompt=prompt, **values)


def exact(**fields: Any) -> int:
    value: int = frames(event(parts=[("user", "hello")], **fields))["requests"]["exact_key"][0]
    return value


def ends(frame: Any) -> list[int]:
    chains: list[int] = frame.filter("is_boundary")["chain_hash"].to_list()
    return chains


TEXTS = st.text(alphabet="ab\n", min_size=1, max_size=12)
PROMPTS = st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXTS), min_size=1, max_size=5)


@given(PROMPTS, PROMPTS)
def test_chains_are_equal_exactly_as_far_as_the_parts_are(first: list[Any], second: list[Any]) -> None:
    found = frames(event(1, first), event(2, second))
    keys = found["requests"]["request_key"].to_list()
    chains = [ends(found["segments"].filter(found["segments"]["request_key"] == key)) for key in keys]
    for end in range(1, min(len(first), len(second)) + 1):
        assert (chains[0][end - 1] == chains[1][end - 1]) == (first[:end] == second[:end])


@given(st.integers(4097, 9000), st.integers(0, 9000))
def test_blocks_share_chains_up_to_the_first_difference(size: int, at: int) -> None:
    text = ("abcdefghij" * 1000)[:size]
    at = min(at, size - 1)
    other = text[:at] + "#" + text[at + 1 :]
    found = frames(event(1, [("system", text), ("user", "q")]), event(2, [("system", other), ("user", "q")]))
    keys = found["requests"]["request_key"].to_list()
    one, two = (found["segments"].filter(found["segments"]["request_key"] == key) for key in keys)
    blocks = [segment.filter(segment["kind"] == "block") for segment in (one, two)]
    equal = [a == b for a, b in zip(*(block["chain_hash"].to_list() for block in blocks), strict=True)]
    assert equal == [upto <= at for upto in blocks[0]["bytes_upto"].to_list()]


def test_a_parts_end_has_the_same_chain_with_and_without_blocks() -> None:
    long = "x" * 5000
    filler = ("user", "y" * 70_000)
    first = frames(event(1, [("system", "s"), ("user", long), ("user", "q")]))["segments"]
    assert first.filter(first["kind"] == "block").height == 9
    later = frames(event(1, [filler, ("user", long), ("user", "q")]))["segments"]
    assert later.filter(later["kind"] == "block")["bytes_upto"].max() == 64 * 1024
    last = frames(event(1, [filler, ("user", long)]))["segments"]
    assert ends(last) == ends(later)[:2]
    assert last.filter(last["kind"] == "block").height == later.filter(later["kind"] == "block").height + 9


def test_positions_and_sizes_cover_the_prompt() -> None:
    found = frames(event(1, [("system", "é" * 3000), ("user", "q\nr")], tok_input=900, tok_cache_read=100))
    segments, size = found["segments"], 6003
    whole = segments.filter("is_boundary")
    assert whole["bytes"].sum() == size == found["requests"]["prompt_bytes"][0]
    assert segments["pos"].to_list() == list(range(segments.height))
    assert segments["tokens_upto"].is_sorted()
    assert segments["tokens_upto"][-1] == 1000
    assert segments["bytes_upto"].is_sorted()
    assert found["lines"].height == 3
    unknown = frames(event(1, [("user", "q")], tok_input=None))
    assert unknown["segments"]["tokens_upto"].to_list() == [None]


def test_the_exact_key_holds_what_shapes_the_answer() -> None:
    base = exact()
    assert exact() == base
    assert exact(user="u", api_key="k", session_id="s", stream=True, service_tier="flex", region="eu") == base
    assert exact(params=json.dumps({"cache_marks": [[0, "5m"]]})) == base
    for change in (
        {"temperature": 0},
        {"temperature": 1.0},
        {"max_tokens": 5},
        {"seed": 1},
        {"model": "gpt-4.1"},
        {"stop": "x"},
        {"params": json.dumps({"tool_choice": "auto"})},
        {"operation": "completion"},
    ):
        assert exact(**change) != base, change
    assert exact(temperature=0) == exact(temperature=0.0)
    assert exact(params='{"a":1,"b":2}') == exact(params='{"b":2,"a":1}')


def test_accounts_do_not_share_prefixes_but_share_exact_keys() -> None:
    found = frames(event(1, [("user", "q")], account="a"), event(2, [("user", "q")], account="b"))
    assert found["requests"]["exact_key"].n_unique() == 1
    assert found["requests"]["prefix_scope"].n_unique() == 2
    assert found["segments"]["chain_hash"].n_unique() == 2


def test_message_level_parameters_break_messages_but_not_the_system_prompt() -> None:
    parts = [("system", "s"), ("user", "q")]
    found = frames(event(1, parts), event(2, parts, params='{"thinking": {"budget_tokens": 1024}}'))
    chains = ends(found["segments"])
    assert chains[0] == chains[2]
    assert chains[1] != chains[3]


def test_hashes_depend_on_the_install_key_but_request_keys_do_not() -> None:
    one, two = (frames(event(1, [("user", "q")], user="u"), key=key) for key in (KEY, bytes(32)))
    assert one["requests"]["request_key"][0] == two["requests"]["request_key"][0]
    for column in ("exact_key", "prefix_scope", "user_hash"):
        assert one["requests"][column][0] != two["requests"][column][0], column


def test_block_ids_become_one_segment_each_with_a_chain_of_their_own() -> None:
    found = frames(
        event(1, prefix_hashes=[1, 2, 3], prefix_block_tokens=512, tok_input=1500),
        event(2, prefix_hashes=[1, 2, 4], prefix_block_tokens=512, tok_input=1536),
    )["segments"]
    chains = found["chain_hash"].to_list()
    assert (chains[:2], chains[2] == chains[5]) == (chains[3:5], False)
    assert found["tokens_upto"].to_list() == [500, 1000, 1500, 512, 1024, 1536]


def test_a_number_that_the_store_cannot_hold_is_unknown(tmp_path: Any) -> None:
    found = frames(event(1, seed=2**70, max_tokens=5))["requests"]
    assert (found["seed"][0], found["max_tokens"][0]) == (None, 5)


def test_the_install_key_is_made_once_and_is_private(tmp_path: Any) -> None:
    key = install_key(tmp_path)
    assert install_key(tmp_path) == key
    assert len(key) == 32
    assert (tmp_path / "install.key").stat().st_mode & 0o777 == 0o600
