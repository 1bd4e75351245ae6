"""Prompts and answers that spans carry, in every vocabulary, become segments and text."""

from __future__ import annotations

import json

import pytest
from made_spans import (
    chat,
    export,
    listed,
    span,
)

TWO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


def test_genai_messages_become_segments_and_answers(one):
    messages = [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "What is new?"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "look", "arguments": {}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "nothing"}]},
    ]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Nothing."}], "finish_reason": "stop"}]
    event = one(
        export(
            span(
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": "m",
                    "gen_ai.tool.definitions": json.dumps([{"name": "look"}]),
                    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "House rules."}]),
                    "gen_ai.input.messages": json.dumps(messages),
                    "gen_ai.output.messages": json.dumps(answer),
                }
            )
        )
    )
    assert [(part.role, part.kind) for part in event.prompt] == [
        ("tools", "tool"),
        ("system", "text"),
        ("system", "text"),
        ("user", "text"),
        ("assistant", "tool_use"),
        ("tool", "tool_result"),
    ]
    assert event.prompt[1].text == "House rules."
    assert event.output == "Nothing."


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Hi",
            "gen_ai.completion.0.content": "Ho",
        },
        {
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be brief.",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.contents.0.message_content.type": "text",
            "llm.input_messages.1.message.contents.0.message_content.text": "Hi",
            "llm.output_messages.0.message.content": "Ho",
        },
        {"ai.prompt.messages": json.dumps(TWO), "ai.response.text": "Ho"},
        {"input.value": json.dumps({"messages": TWO}), "output.value": "Ho"},
    ],
)
def test_messages_of_older_vocabularies_are_the_same_segments(one, attributes):
    event = one(export(span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **attributes})))
    assert [(part.role, part.text) for part in event.prompt] == [("system", "Be brief."), ("user", "Hi")]
    assert event.output == "Ho"


def test_messages_in_events_of_a_span_are_read(one):
    events = [
        {"name": "gen_ai.user.message", "attributes": listed({"content": "Hi"})},
        {"name": "gen_ai.choice", "attributes": listed({"content": "Ho"})},
    ]
    event = one(export({**chat(), "events": events}))
    assert [part.text for part in event.prompt] == ["Hi"]
    assert event.output == "Ho"
