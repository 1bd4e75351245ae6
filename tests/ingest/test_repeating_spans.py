"""A call is counted at the lowest span that reports it, in whatever order and exports the spans of a trace come."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from pathlib import Path

TRACE = "0af7651916cd43dd8448eb211c80319c"
AGENT, NODE, TOOL, CHAT, OTHER = (f"00f067aa0ba902b{n}" for n in range(5))
START = 1_790_000_000_000_000_000


def span(span_id: str, parent: str = "", tokens: tuple[int, int] | None = None, **more: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", **more}
    if tokens is not None:
        attributes |= {"gen_ai.usage.input_tokens": tokens[0], "gen_ai.usage.output_tokens": tokens[1]}
    listed = [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in attributes.items()
        if value != ""
    ]
    return {
        "traceId": TRACE,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": "call",
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(START + 10**9),
        "attributes": listed,
    }


def above(span_id: str, parent: str = "", tokens: tuple[int, int] | None = None) -> dict[str, Any]:
    return span(span_id, parent, tokens, **{"gen_ai.operation.name": "invoke_agent"})


def plain(span_id: str, parent: str) -> dict[str, Any]:
    return span(span_id, parent, **{"gen_ai.operation.name": "execute_tool", "gen_ai.request.model": ""})


def export(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}) + "\n"


def stored(folder: Path, exports: list[str]) -> dict[str, tuple[int, int]]:
    """Tokens of what is stored, by span, after each export came on its own; the summaries add up."""
    folder.mkdir()
    warehouse = Warehouse(folder / "store", memory_limit="256MB")
    try:
        migrate(warehouse)
        for number, text in enumerate(exports):
            (folder / f"{number}.jsonl").write_text(text, encoding="utf-8")
            done = ingest_paths(
                [folder / f"{number}.jsonl"],
                warehouse=warehouse,
                pricer=Unpriced(),
                data_dir=folder / "store",
                source="app",
            )
            assert done.read == done.stored + done.updated + done.merged + done.benign + done.rejected
        with warehouse.session() as session:
            rows = session.connection.execute("SELECT source_record, tok_input, tok_output FROM requests").fetchall()
        return {record.partition("/")[2]: (tokens_in, tokens_out) for record, tokens_in, tokens_out in rows}
    finally:
        warehouse.close()


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_an_agent_above_calls_is_not_counted_whatever_comes_first(tmp_path, order):
    spans = [
        above(AGENT, "", (300, 30)),
        plain(TOOL, AGENT),
        span(CHAT, TOOL, (100, 10)),
        span(OTHER, AGENT, (200, 20)),
    ]
    found = stored(tmp_path / "each", [export(spans[n]) for n in order])
    assert found == {CHAT: (100, 10), OTHER: (200, 20)}


@pytest.mark.parametrize("apart", [False, True])
def test_an_agent_beside_a_call_of_the_same_size_is_counted(tmp_path, apart):
    """Equal sums are no link: that call stands under another agent."""
    spans = [
        plain(TOOL, ""),
        above(AGENT, TOOL, (5, 1)),
        above(NODE, TOOL, (1, 1)),
        span(CHAT, NODE, (5, 1)),
    ]
    exports = [export(one) for one in spans] if apart else [export(*spans)]
    assert stored(tmp_path / "x", exports) == {AGENT: (5, 1), CHAT: (5, 1)}


def test_an_agent_whose_calls_report_nothing_is_counted(tmp_path):
    found = stored(tmp_path / "x", [export(above(AGENT, "", (300, 30))), export(plain(TOOL, AGENT))])
    assert found == {AGENT: (300, 30)}


def test_agents_above_agents_are_passed_too_when_the_highest_comes_last(tmp_path):
    exports = [
        export(span(CHAT, NODE, (100, 10))),
        export(above(NODE, AGENT, (100, 10))),
        export(above(AGENT, "", (100, 10))),
    ]
    assert stored(tmp_path / "x", exports) == {CHAT: (100, 10)}


def test_a_call_of_the_same_operation_above_another_is_its_repeat(tmp_path):
    exports = [export(span(AGENT, "", (28, 0))), export(span(CHAT, AGENT, (28, 0)))]
    assert stored(tmp_path / "x", exports) == {CHAT: (28, 0)}


def test_a_call_with_a_response_and_counters_of_its_own_stays_above_another(tmp_path):
    own = span(AGENT, "", (500, 5), **{"gen_ai.response.id": "resp_of_the_outer_call"})
    under = span(CHAT, AGENT, (28, 1), **{"gen_ai.response.id": "resp_of_the_inner_call"})
    both = {AGENT: (500, 5), CHAT: (28, 1)}
    assert stored(tmp_path / "together", [export(own, under)]) == both
    assert stored(tmp_path / "apart", [export(under), export(own)]) == both


def test_a_repeat_that_is_sent_again_comes_to_nothing(tmp_path):
    exports = [export(span(CHAT, AGENT, (100, 10))), export(above(AGENT, "", (100, 10)))]
    assert stored(tmp_path / "x", [*exports, *exports[::-1]]) == {CHAT: (100, 10)}


def test_spans_that_stand_under_each_other_in_a_ring_end(tmp_path):
    exports = [export(plain(TOOL, NODE), plain(NODE, TOOL), span(CHAT, TOOL, (1, 1)))]
    assert stored(tmp_path / "x", exports) == {CHAT: (1, 1)}


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[int]]:
    """Spans of one tree, each a plain one, an agent with usage or a call, and how they are dealt to exports."""
    size = draw(st.integers(2, 7))
    spans = []
    for number in range(size):
        parent = "" if number == 0 else f"{draw(st.integers(0, number - 1)) + 1:016x}"
        kind = draw(st.sampled_from(("plain", "above", "call")))
        name = f"{number + 1:016x}"
        if kind == "plain":
            spans.append(plain(name, parent))
        elif kind == "above":
            spans.append(above(name, parent, (draw(st.integers(1, 9)), 1)))
        else:
            spans.append(span(name, parent, (draw(st.integers(1, 9)), 1)))
    return draw(st.permutations(spans)), draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))


@settings(max_examples=12, deadline=None)
@given(traces())
def test_how_spans_are_dealt_to_exports_changes_nothing(tmp_path_factory, drawn):
    spans, dealt = drawn
    whole = stored(tmp_path_factory.mktemp("w") / "x", [export(*spans)])
    parts = [[one for one, to in zip(spans, dealt, strict=True) if to == number] for number in range(3)]
    assert stored(tmp_path_factory.mktemp("p") / "x", [export(*part) for part in parts if part]) == whole


def test_a_span_that_two_sources_hand_in_is_one_call(tmp_path):
    warehouse = Warehouse(tmp_path / "store", memory_limit="256MB")
    migrate(warehouse)
    for source in ("collector", "phoenix"):
        log = tmp_path / f"{source}.jsonl"
        log.write_text(export(span(CHAT, "", (100, 10)), span(OTHER, "", (7, 1), **{"gen_ai.response.id": "short"})))
        ingest_paths([log], warehouse=warehouse, pricer=Unpriced(), data_dir=tmp_path / "store", source=source)
    with warehouse.session() as session:
        found = session.connection.execute("SELECT tok_input, warnings FROM requests ORDER BY ALL").fetchall()
    warehouse.close()
    assert found == [(7, None), (100, None)]


@pytest.mark.parametrize(
    ("own", "counted"), [((300, 31), True), ((301, 30), True), ((0, 30), True), ((300, 0), True), ((300, 30), False)]
)
def test_a_call_with_an_id_of_its_own_is_a_repeat_only_if_both_sides_are_the_sum(tmp_path, own, counted):
    ids = [{"gen_ai.response.id": f"chatcmpl-0123456789abcdef0123456{n}"} for n in range(3)]
    exports = [
        export(span(AGENT, "", own, **ids[0])),
        export(span(CHAT, AGENT, (100, 10), **ids[1])),
        export(span(OTHER, AGENT, (200, 20), **ids[2])),
    ]
    found = stored(tmp_path / "x", exports)
    assert found == {CHAT: (100, 10), OTHER: (200, 20)} | ({AGENT: own} if counted else {})


def test_a_call_above_another_with_the_same_id_is_its_repeat_whatever_it_counts(tmp_path):
    """Ids too short to be a key still say that both speak of one answer."""
    same = {"gen_ai.response.id": "resp-1"}
    exports = [export(span(AGENT, "", (120, 12), **same)), export(span(CHAT, AGENT, (100, 10), **same))]
    assert stored(tmp_path / "x", exports) == {CHAT: (100, 10)}
    assert stored(tmp_path / "y", exports[::-1]) == {CHAT: (100, 10)}
