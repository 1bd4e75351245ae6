"""The short way through the commonest record gives the same event as the general one, or leaves the record to it."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import format_named
from ingest.formats.format import Origin
from ingest.formats.plain_chat import PlainChat

PLACE = Origin("s", "f.jsonl", 1)
PLAIN: dict[str, Any] = {
    "timestamp": 1_772_445_600.25,
    "end_time": "2026-03-02T10:00:02Z",
    "latency_ms": 812,
    "id": "call-1",
    "status": 200,
    "session_id": "s1",
    "trace_id": "t1",
    "user": "u1",
    "account": "a1",
    "feature": "search",
    "tags": {"environment": "production", "tier": ""},
    "request": {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "developer", "content": "Answer shortly."},
            {"role": "user", "content": "What is due?\nToday"},
            {"role": "assistant", "content": ""},
        ],
        "temperature": 0,
        "max_tokens": 400,
        "seed": 7,
        "stream": False,
        "user": "u0",
    },
    "response": {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion",
        "created": 1_772_445_600,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Nothing.", "refusal": None, "annotations": []},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": 120,
            "completion_tokens": 30,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 10, "audio_tokens": 2, "accepted_prediction_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    },
}


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value inside a record is."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return (
        [at, *(path for name, one in inside for path in paths(one, (*at, name)))]
        if at
        else [path for name, one in inside for path in paths(one, (name,))]
    )


PATHS = paths(PLAIN)
NAMES = [
    "model", "stop", "tools", "tool_calls", "env", "modelDeploymentName", "session_id", "metadata", "error", "provider",
    "cost", "cached_tokens", "image_tokens", "body", "status", "batch", "response_format", "max_completion_tokens",
    "ttft_ms", "first_token_time", "environment", "team", "region", "top_p", "n", "name", "service_tier",
]  # fmt: skip
VALUES = st.sampled_from(
    [
        *(None, "", "x", "gen-1", "o1", "2026-03-02T09:00:00", "5", True, False, 0, 1, -1, 5, 31, 200, 404, 150, 2**70),
        *(0.5, 5.0, -0.5, 1e12, 1e300, 2**53, [], {}, ["feature:a"], {"type": "json_object"}),
        [{"type": "text", "text": "hi"}],
    ]
)
CHANGES = st.lists(
    st.tuples(st.sampled_from(["set", "drop", "add"]), st.sampled_from(PATHS), st.sampled_from(NAMES), VALUES),
    max_size=4,
)


def changed(record: Any, changes: list[tuple[str, tuple[Any, ...], str, Any]]) -> Any:
    record = copy.deepcopy(record)
    for how, path, name, value in changes:
        holder = record
        try:
            for step in path[:-1]:
                holder = holder[step]
            if how == "set":
                holder[path[-1]] = copy.deepcopy(value)
            elif how == "drop":
                del holder[path[-1]]
            else:
                target = holder[path[-1]]
                (target if isinstance(target, dict) else record)[name] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue
    return record


def general(line: bytes) -> list[Any]:
    return list(format_named("openai_chat").parse(json.loads(line), PLACE))


def test_the_commonest_record_is_read_at_once() -> None:
    line = json.dumps(PLAIN).encode()
    event = PlainChat()(line)
    assert event is not None
    assert [event] == general(line)
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (48, 64, 18, 10)
    for name in (
        "end_time",
        "latency_ms",
        "id",
        "status",
        "session_id",
        "trace_id",
        "user",
        "account",
        "feature",
        "tags",
    ):
        less = json.dumps({key: value for key, value in PLAIN.items() if key != name}).encode()
        assert [PlainChat()(less)] == general(less), name


@settings(max_examples=300)
@given(CHANGES)
def test_a_record_is_read_as_the_general_reading_does_or_left_to_it(changes: list[Any]) -> None:
    line = json.dumps(changed(PLAIN, changes)).encode()
    event = PlainChat()(line)
    assert event is None or [event] == general(line)


def test_lines_of_another_shape_are_soon_not_tried_any_more() -> None:
    read, plain = PlainChat(), json.dumps(PLAIN).encode()
    for _ in range(31):
        assert read(b'{"a": 1}\n') is None
    assert read(plain) is not None
    for _ in range(32):
        assert read(b"{torn") is None
    assert read(plain) is None
