"""Ollama's own API: counters of whole answers and streams; what it does not tell is unknown and never free."""

from __future__ import annotations

import pytest

from app.core.usage import Rejected

CHAT = {
    "model": "qwen3:8b",
    "created_at": "2026-03-02T10:00:05.5Z",
    "message": {"role": "assistant", "content": "Yes", "thinking": "hm"},
    "done": True,
    "done_reason": "stop",
    "total_duration": 5_000_000_000,
    "prompt_eval_count": 26,
    "eval_count": 298,
}
GENERATE = {**{name: value for name, value in CHAT.items() if name != "message"}, "response": "Yes", "context": [1, 2]}
ASKED = {
    "model": "qwen3:8b",
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "Is it?"}],
    "options": {"temperature": 0.2, "num_predict": 9, "num_ctx": 4096},
    "stream": False,
}


def pieces(body):
    piece = {name: body[name] for name in ("model", "created_at")} | {"done": False}
    if "message" in body:
        ends = {**body, "message": {"role": "assistant", "content": ""}}
        return [{**piece, "message": {"role": "assistant", "content": said}} for said in ("Y", "es")] + [ends]
    return [{**piece, "response": said} for said in ("Y", "es")] + [{**body, "response": ""}]


@pytest.mark.parametrize("body", [CHAT, GENERATE])
def test_the_two_counters_are_the_classes(one, body):
    for record in (body, {"request": ASKED, "response": body}, {"request": ASKED, "response": pieces(body)}):
        event = one(record, form="ollama")
        assert (event.provider, event.model, event.tok_input, event.tok_output) == ("ollama", "qwen3:8b", 26, 298)
        assert (event.status, event.finish_reason, event.output) == ("ok", "stop", "Yes")
        assert (event.end_us - event.start_us, event.end_us) == (5_000_000, 1_772_445_605_500_000)
        assert (event.not_billed, event.cost_reported_usd) == (False, None)
    assert (event.temperature, event.max_tokens, event.params) == (0.2, 9, '{"num_ctx":4096}')
    assert [(part.role, part.text) for part in event.prompt] == [("system", "Be brief."), ("user", "Is it?")]


@pytest.mark.parametrize("body", [CHAT, GENERATE])
def test_lines_of_a_stream_are_one_call_by_the_last(read, body):
    items = read(*pieces(body), *pieces(body))
    events = [item for item in items if not isinstance(item, Rejected)]
    assert [event.tok_output for event in events] == [298, 298]
    assert all(item.benign for item in items if isinstance(item, Rejected))
    assert sum(not isinstance(item, Rejected) for item in read(pieces(body) + pieces(body), form="ollama")) == 2


def test_a_prompt_without_a_count_is_unknown(one):
    event = one({name: value for name, value in CHAT.items() if name != "prompt_eval_count"})
    assert (event.tok_input, event.tok_output) == (None, 298)
    bad = one({**CHAT, "eval_count": -1})
    assert (bad.tok_output, bad.warnings) == (None, ["bad_number:output"])


def test_an_embedding_has_a_prompt_alone(one):
    event = one({"model": "embeddinggemma", "embeddings": [[0.1]], "total_duration": 14143917, "prompt_eval_count": 8})
    assert (event.operation, event.tok_input, event.tok_output) == ("embedding", 8, None)


def test_a_broken_stream_and_the_time_of_the_envelope(one):
    cut = one({"request": ASKED, "response": pieces(CHAT)[:2], "timestamp": "2026-03-02T09:00:00Z"})
    assert (cut.status, cut.tok_input, cut.output) == ("aborted", None, "Yes")
    assert (cut.start_us, cut.end_us) == (1_772_442_000_000_000, None)
