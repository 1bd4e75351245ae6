"""Streams that a program logged chunk by chunk: each answer is one call, with the counters of its last chunk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.exchanges import parse
from ingest.formats.format import Origin
from ingest.formats.stream_events import holds_events
from ingest.formats.streams import gather

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.usage import UsageEvent

HERE = Origin("app", "a.jsonl", 1)
MODEL = "gpt-4o-2024-08-06"


def chat(number: int, *, usage: bool = True) -> list[dict[str, Any]]:
    base = {
        "id": f"chatcmpl-{number:029d}a",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": MODEL,
    }
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {"content": f"word{number}"}]
    found = [{**base, "choices": [{"index": 0, "delta": delta}], "usage": None} for delta in deltas]
    found.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None})
    counted = {"prompt_tokens": 100 + number, "completion_tokens": 10 + number, "total_tokens": 110 + 2 * number}
    return [*found, {**base, "choices": [], "usage": counted}] if usage else found


def messages(number: int) -> list[dict[str, Any]]:
    usage = {"input_tokens": 100 + number, "cache_read_input_tokens": 0, "output_tokens": 1}
    message = {
        "id": f"msg_01{number:022d}",
        "type": "message",
        "model": "claude-sonnet-4-5",
        "content": [],
        "usage": usage,
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f"word{number}"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 10 + number}},
        {"type": "message_stop"},
    ]


def responses(number: int) -> list[dict[str, Any]]:
    whole: dict[str, Any] = {"id": f"resp_{number:048x}", "object": "response", "model": MODEL, "status": "in_progress"}
    usage = {"input_tokens": 100 + number, "output_tokens": 10 + number, "total_tokens": 110 + 2 * number}
    said = [{"type": "message", "content": [{"type": "output_text", "text": f"word{number}"}]}]
    return [
        {"type": "response.created", "response": whole},
        {"type": "response.output_text.delta", "item_id": "i", "delta": f"word{number}"},
        {"type": "response.completed", "response": whole | {"status": "completed", "usage": usage, "output": said}},
    ]


def gemini(number: int, *, named: bool = True) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for at, text in enumerate(("wo", "rd", str(number))):
        ended = {"finishReason": "STOP"} if at == 2 else {}
        count = (10 + number) * (at + 1) // 3
        found.append(
            {
                "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **ended}],
                "usageMetadata": {"promptTokenCount": 100 + number, "candidatesTokenCount": count},
                "modelVersion": "gemini-2.5-flash",
                **({"responseId": f"answer-{number}"} if named else {}),
            }
        )
    return found


def converse(number: int) -> list[dict[str, Any]]:
    usage = {"inputTokens": 100 + number, "outputTokens": 10 + number, "totalTokens": 110 + 2 * number}
    return [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": f"word{number}"}}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": usage, "metrics": {"latencyMs": 5}}},
    ]


def cohere(number: int) -> list[dict[str, Any]]:
    usage = {"billed_units": {"input_tokens": 100 + number, "output_tokens": 10 + number}}
    return [
        {"type": "message-start", "id": f"c{number}"},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": f"word{number}"}}}},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}},
    ]


STREAMS = {
    "chat": chat, "messages": messages, "responses": responses, "gemini": gemini, "converse": converse, "cohere": cohere
}  # fmt: skip
WRAPPERS = {
    "chunk": lambda event: {"chunk": event},
    "event": lambda event: {"level": "debug", "event": event},
    "response": lambda event: {"response": event},
    "message": lambda event: {"message": event},
    "text": lambda event: {"msg": json.dumps(event)},
    "sse": lambda event: {"data": f"event: x\ndata: {json.dumps(event)}\n\n"},
    "twice": lambda event: {"log": json.dumps({"payload": {"chunk": event}})},
}


def read(records: Sequence[Any]) -> list[UsageEvent]:
    """The calls of records that stand one a line."""
    found = [given for _, record in gather(enumerate(records)) for given in parse(record, HERE)]
    assert all(hasattr(given, "tok_input") for given in found), found
    return found  # type: ignore[return-value]


def mixed(streams: list[list[Any]], order: Sequence[int]) -> list[Any]:
    """The records of some streams in one log; each draws from the next stream that still has one."""
    waiting = [list(stream) for stream in streams]
    found = []
    for pick in order:
        left = [stream for stream in waiting if stream]
        if left:
            found.append(left[pick % len(left)].pop(0))
    return found + [record for stream in waiting for record in stream]


def around(event: dict[str, Any], number: int, at: int) -> dict[str, Any]:
    return {"request_id": f"call-{number}", "timestamp": f"2026-10-01T10:00:{at:02d}Z", "feature": "chat", **event}


@pytest.mark.parametrize("stream", STREAMS)
def test_streams_one_after_the_other_are_a_call_each(stream: str) -> None:
    events = read([*STREAMS[stream](1), *STREAMS[stream](2)])
    assert [(event.tok_input, event.tok_output, event.output) for event in events] == [
        (101, 11, "word1"),
        (102, 12, "word2"),
    ]


@given(
    wrapper=st.sampled_from(sorted(WRAPPERS)),
    stream=st.sampled_from(sorted(STREAMS)),
    order=st.lists(st.integers(0, 5)),
)
def test_wrapped_chunks_of_interleaved_calls_are_told_apart_by_the_id_of_the_call(
    wrapper: str, stream: str, order: list[int]
) -> None:
    streams = [
        [around(WRAPPERS[wrapper](event), number, at) for at, event in enumerate(STREAMS[stream](number))]
        for number in (1, 2, 3)
    ]
    assert holds_events(mixed(streams, order))
    events = sorted(read(mixed(streams, order)), key=lambda event: event.tok_input or 0)
    assert [(event.tok_input, event.tok_output, event.output) for event in events] == [
        (100 + number, 10 + number, f"word{number}") for number in (1, 2, 3)
    ]
    assert [event.source_record for event in events] == ["call-1", "call-2", "call-3"]
    assert all(event.tags == {"feature": "chat"} for event in events)
    assert all(event.end_us > event.start_us for event in events if event.start_us and event.end_us)


@given(order=st.lists(st.integers(0, 5)), stream=st.sampled_from(["chat", "responses", "gemini"]))
def test_bare_chunks_that_carry_their_answers_id_may_be_interleaved(order: list[int], stream: str) -> None:
    events = read(mixed([STREAMS[stream](number) for number in (1, 2, 3)], order))
    assert sorted((event.tok_input, event.tok_output) for event in events) == [(101, 11), (102, 12), (103, 13)]


def counted(number: int) -> list[dict[str, Any]]:
    """Anthropic's events as of 2025: the last counters name the prompt's too."""
    start, text, delta, stop = messages(number)
    usage = {**delta["usage"], "input_tokens": 100 + number, "cache_read_input_tokens": 0}
    return [start, text, {**delta, "usage": usage}, stop]


@given(order=st.lists(st.integers(0, 5)), stream=st.sampled_from([messages, cohere]))
def test_interleaved_events_without_an_id_give_no_call_the_counters_of_another(order: list[int], stream: Any) -> None:
    events = read(mixed([stream(number) for number in (1, 2, 3)], order))
    assert len(events) == 3
    for event in events:
        number = int((event.provider_response_id or "")[-1])
        known = 100 + number, 10 + number, f"word{number}"
        assert event.tok_output in (known[1], None)
        assert event.tok_input in (known[0], None)
        assert event.output in (known[2], None)
        assert (event.tok_output is None) == ("interleaved_stream" in (event.warnings or ()))
        assert event.status == "ok"


@pytest.mark.parametrize("stream", [messages, cohere, counted])
def test_two_answers_without_an_id_that_ran_at_once_are_unknown_and_those_around_them_known(stream: Any) -> None:
    turns = [*stream(1), *mixed([stream(2), stream(3)], [0, 1, 0, 1, 0, 1]), *stream(4)]
    outputs = {(event.provider_response_id or "")[-1]: event.tok_output for event in read(turns)}
    told = stream is counted
    assert outputs == {"1": 11, "2": 12 if told else None, "3": 13 if told else None, "4": 14}


@given(order=st.lists(st.integers(0, 5)))
def test_counters_that_name_their_prompt_are_known_however_they_are_interleaved(order: list[int]) -> None:
    events = read(mixed([counted(number) for number in (1, 2, 3)], order))
    assert sorted((event.tok_input, event.tok_output) for event in events) == [(101, 11), (102, 12), (103, 13)]
    assert not any(event.warnings for event in events)


@given(order=st.lists(st.integers(0, 5)))
def test_interleaved_usage_that_comes_whole_is_a_calls_own(order: list[int]) -> None:
    events = read(mixed([converse(number) for number in (1, 2, 3)], order))
    assert sorted((event.tok_input, event.tok_output) for event in events) == [(101, 11), (102, 12), (103, 13)]


@pytest.mark.parametrize("cut", [1, 2])
def test_an_answer_that_broke_off_takes_nothing_from_those_after_it(cut: int) -> None:
    log = [*messages(1)[:cut], *messages(2), *messages(3)]
    broken, *others = sorted(read(log), key=lambda event: event.tok_input or 0)
    assert (broken.status, broken.tok_output) == ("aborted", None)
    assert [(event.tok_output, event.warnings) for event in others] == [(12, None), (13, None)]


def test_cumulative_counters_of_gemini_without_an_id_are_never_added_up() -> None:
    events = read([*gemini(1, named=False), *gemini(1, named=False), *gemini(2, named=False)])
    assert [(event.tok_input, event.tok_output, event.output) for event in events] == [
        (101, 11, "word1"), (101, 11, "word1"), (102, 12, "word2"),
    ]  # fmt: skip


def test_whole_answers_of_gemini_side_by_side_stay_calls_of_their_own() -> None:
    whole = [stream[-1] for stream in (gemini(1, named=False), gemini(1, named=False))]
    assert len(read(whole)) == 2
    no_reason = [{**one, "candidates": [{"content": one["candidates"][0]["content"]}]} for one in whole]
    assert len(read(no_reason)) == 2


@pytest.mark.parametrize("stream", ["chat", "messages", "responses", "gemini", "converse"])
def test_what_a_stream_without_its_end_made_is_unknown_and_never_nothing(stream: str) -> None:
    cut = [around({"chunk": event}, 1, at) for at, event in enumerate(STREAMS[stream](1)[:2])]
    whole = [around({"chunk": event}, 2, at) for at, event in enumerate(STREAMS[stream](2))]
    broken, other = read(mixed([cut, whole], [0, 1, 0, 1]))[:2]
    if broken.tok_input != 101 and broken.tok_output == 12:
        broken, other = other, broken
    assert broken.status == "aborted"
    assert broken.tok_output != 0
    assert (other.tok_input, other.tok_output) == (102, 12)


def test_a_single_event_that_is_no_call_is_named_and_no_request() -> None:
    for event in (responses(1)[1], converse(1)[1], cohere(1)[1], messages(1)[2]):
        (given,) = parse(event, HERE)
        assert not hasattr(given, "tok_input")
        assert "event" in given.reason


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_an_answer_of_gemini_in_a_single_chunk_is_a_call_in_any_wrapper(wrapper: str) -> None:
    (event,) = read([around(WRAPPERS[wrapper](gemini(1)[-1]), 1, 0)])
    assert (event.tok_input, event.tok_output, event.source_record) == (101, 11, "call-1")
