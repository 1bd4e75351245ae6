"""DashScope's own shape: the model of the request, details inside the counts, streams with running counts."""

from __future__ import annotations

import pytest

ASKED = {
    "model": "qwen-plus",
    "input": {"messages": [{"role": "user", "content": "Is it?"}]},
    "parameters": {"temperature": 0.5, "result_format": "message"},
}
USAGE = {
    "input_tokens": 3000,
    "output_tokens": 110,
    "total_tokens": 3110,
    "prompt_tokens_details": {
        "cached_tokens": 1000,
        "cache_creation_input_tokens": 500,
        "cache_creation": {"ephemeral_5m_input_tokens": 500},
    },
    "output_tokens_details": {"reasoning_tokens": 60},
}


def answer(usage, **output):
    choices = [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Yes"}}]
    return {"output": output or {"choices": choices}, "usage": usage, "request_id": "0daf962f-a275-9a3c-839a-04785464"}


def classes(event):
    return {
        name: value for name in event.__struct_fields__ if name.startswith("tok_") and (value := getattr(event, name))
    }


@pytest.mark.parametrize("record", [answer(USAGE), {"request": ASKED, "response": answer(USAGE)}])
def test_cached_written_and_thought_tokens_are_inside_the_counts(one, record):
    event = one(record)
    assert (event.provider, event.model) == ("alibaba", "qwen-plus" if "request" in record else None)
    assert classes(event) == {
        "tok_input": 1500,
        "tok_cache_read": 1000,
        "tok_cache_write_5m": 500,
        "tok_output": 50,
        "tok_reasoning": 60,
        "tok_total_reported": 3110,
    }
    assert (event.output, event.finish_reason, event.warnings) == ("Yes", "stop", None)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 20, "output_tokens": 7}, {"tok_input": 20, "tok_output": 7}),
        (
            {"input_tokens": 1271, "output_tokens": 55, "image_tokens": 1247},
            {"tok_input": 24, "tok_input_image": 1247, "tok_output": 55},
        ),
        (
            {"input_tokens": 33, "output_tokens": 10, "audio_tokens": 85},
            {"tok_input": 33, "tok_input_audio": 85, "tok_output": 10},
        ),
        (
            {"input_tokens": 90, "output_tokens": 10, "total_tokens": 185, "audio_tokens": 85},
            {"tok_input": 90, "tok_input_audio": 85, "tok_output": 10, "tok_total_reported": 185},
        ),
        (
            {"input_tokens": 90, "output_tokens": 10, "total_tokens": 100, "audio_tokens": 85},
            {"tok_input": 5, "tok_input_audio": 85, "tok_output": 10, "tok_total_reported": 100},
        ),
    ],
)
def test_pictures_are_inside_and_sound_where_it_fits(one, usage, expected):
    event = one(answer(usage, text="Yes", finish_reason="stop"))
    assert (classes(event), event.output, event.warnings) == (expected, "Yes", None)


@pytest.mark.parametrize("grows", [True, False])
def test_a_stream_counts_by_its_last_event(one, grows):
    texts = ("Ye", "Yes") if grows else ("Ye", "s")
    events = [
        answer({"input_tokens": 20, "output_tokens": count}, text=said, finish_reason=end)
        for said, count, end in zip(texts, (1, 2), ("null", "stop"), strict=True)
    ]
    event = one({"request": ASKED, "response": events})
    assert (event.tok_input, event.tok_output, event.output, event.status) == (20, 2, "Yes", "ok")
    assert one({"request": ASKED, "response": events[:1]}).status == "aborted"


def test_what_is_not_told_is_unknown_and_embeddings_have_a_total(one):
    event = one({"request": ASKED, "response": {"output": {"text": "Yes"}, "request_id": "a"}})
    assert (event.tok_input, event.tok_output) == (None, None)
    body = answer({"total_tokens": 26}, embeddings=[{"embedding": [0.1], "text_index": 0}])
    numbers = one({"request": {"model": "text-embedding-v4", "input": {"texts": ["a"]}}, "response": body})
    assert (numbers.operation, numbers.tok_input, numbers.tok_output) == ("embedding", 26, None)
