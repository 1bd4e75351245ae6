from __future__ import annotations

import pytest

from app.core.usage import tokens_in, tokens_out

CHAT = {
    "id": "c14c80c3",
    "finish_reason": "COMPLETE",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
    "usage": {
        "billed_units": {"input_tokens": 5, "output_tokens": 418},
        "tokens": {"input_tokens": 71, "output_tokens": 420},
        "cached_tokens": 64,
    },
}
REQUEST = {
    "model": "command-a-03-2025",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it?"}],
    "documents": [{"id": "d", "data": {"text": "fact"}}],
    "p": 0.8,
    "max_tokens": 9,
    "safety_mode": "NONE",
}


def test_billed_units_are_the_classes(one):
    event = one({"request": REQUEST, "response": CHAT})
    assert (event.provider, event.model, event.tok_input, event.tok_output) == ("cohere", "command-a-03-2025", 5, 418)
    assert event.tok_cache_read is None
    assert [(part.role, part.kind) for part in event.prompt] == [
        ("user", "document"),
        ("system", "text"),
        ("user", "text"),
    ]
    assert (event.top_p, event.max_tokens, event.params, event.output) == (0.8, 9, '{"safety_mode":"NONE"}', "Yes.")


def test_the_first_version_bills_in_its_meta(one):
    body = {"generation_id": "g", "text": "Yes.", "finish_reason": "COMPLETE"}
    billed = {"billed_units": {"input_tokens": 7, "output_tokens": 2}, "tokens": {"input_tokens": 70}}
    request = {"model": "command-r", "message": "Is it?", "preamble": "Be brief.", "chat_history": []}
    event = one({"request": request, "response": {**body, "meta": billed}})
    assert (event.tok_input, event.tok_output, event.output, event.provider_response_id) == (7, 2, "Yes.", "g")
    assert [part.text for part in event.prompt] == ["Be brief.", "Is it?"]


def test_streams_tell_their_usage_at_the_end(one):
    events = [
        {"type": "message-start", "id": "c14c80c3", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Ye"}}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "s."}}}},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": CHAT["usage"]}},
    ]
    event = one(events, form="cohere")
    assert (event.tok_input, event.tok_output, event.output, event.status) == (5, 418, "Yes.", "ok")
    cut = one(events[:2], form="cohere")
    assert (cut.status, tokens_in(cut), cut.output) == ("aborted", None, "Ye")
    old = [{"event_type": "text-generation"}, {"event_type": "stream-end", "response": {**CHAT, "meta": {}}}]
    assert one(old, form="cohere").tok_output == 418


def test_an_embedding_has_no_answer_tokens(one):
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 4, "image_tokens": 0}}
    event = one({"request": {"model": "embed-v4.0", "texts": ["a"]}, "response": {"embeddings": [[0.1]], "meta": meta}})
    assert (event.operation, event.tok_input, event.tok_output, event.tok_input_image) == ("embedding", 4, None, None)


RANKED = [{"index": 0, "relevance_score": 0.9}]


def test_a_rerank_of_cohere_is_search_units_without_tokens(one):
    body = {"id": "r", "results": RANKED, "meta": {"billed_units": {"search_units": 2}}}
    request = {"model": "rerank-v3.5", "query": "q", "documents": ["a", {"text": "b"}], "top_n": 1}
    event = one({"request": request, "response": body})
    assert (event.provider, event.model, event.operation) == ("cohere", "rerank-v3.5", "rerank")
    assert event.units == {"rerank": 2.0}
    assert (tokens_in(event), tokens_out(event)) == (None, None)
    assert [part.text for part in event.prompt] == ["a", '{"text":"b"}', "q"]


@pytest.mark.parametrize("holder", ["data", "results"])
def test_others_count_a_reranks_tokens(one, holder):
    event = one({"object": "list", "model": "rerank-2.5", holder: RANKED, "usage": {"total_tokens": 26}})
    assert (event.operation, event.tok_input, event.tok_output, event.units) == ("rerank", 26, None, None)


def test_a_rerank_that_says_nothing_is_unknown(one):
    event = one({"request": {"model": "m", "query": "q", "documents": []}, "response": {"results": RANKED}})
    assert (event.units, tokens_in(event), event.not_billed) == (None, None, False)
