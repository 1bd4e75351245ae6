"""Made OpenTelemetry spans and log records, and one call told in every vocabulary."""

from __future__ import annotations

TRACE, SPAN, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "53995c3f42cd8ad8"


def value(given):
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(item) for item in given]}}
    return {"stringValue": given}


def listed(attributes):
    return [{"key": key, "value": value(given)} for key, given in attributes.items()]


def span(attributes, **fields):
    return {
        "traceId": TRACE,
        "spanId": SPAN,
        "parentSpanId": PARENT,
        "name": "call",
        "startTimeUnixNano": "1790000000123456789",
        "endTimeUnixNano": "1790000002000000000",
        "attributes": listed(attributes),
        "status": {},
        **fields,
    }


def export(*spans, resource=None):
    return {
        "resourceSpans": [{"resource": {"attributes": listed(resource or {})}, "scopeSpans": [{"spans": list(spans)}]}]
    }


def logs(*records, scope="com.anthropic.claude_code.events"):
    return {"resourceLogs": [{"scopeLogs": [{"scope": {"name": scope}, "logRecords": list(records)}]}]}


def chat(**attributes):
    named = {name.replace("__", "."): given for name, given in attributes.items()}
    return span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", **named})


def classes(event):
    return (
        event.tok_input,
        event.tok_cache_read,
        event.tok_cache_write_5m or event.tok_cache_write_30m,
        event.tok_output,
        event.tok_reasoning,
    )


CURRENT = {
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.cache_read.input_tokens": 600,
    "gen_ai.usage.cache_write.input_tokens": 100,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.reasoning.output_tokens": 30,
}
OLD = {
    "gen_ai.usage.prompt_tokens": 1000,
    "gen_ai.usage.cache_read_input_tokens": 600,
    "gen_ai.usage.cache_creation_input_tokens": 100,
    "gen_ai.usage.completion_tokens": 50,
    "gen_ai.usage.reasoning_tokens": 30,
    "llm.usage.total_tokens": 1050,
}
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-5",
    "llm.token_count.prompt": 1000,
    "llm.token_count.prompt_details.cache_read": 600,
    "llm.token_count.prompt_details.cache_write": 100,
    "llm.token_count.completion": 50,
    "llm.token_count.completion_details.reasoning": 30,
    "llm.token_count.total": 1050,
}
AI_SDK = {
    "operation.name": "ai.generateText.doGenerate",
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "gpt-5",
    "ai.model.provider": "openai.chat",
    "ai.usage.inputTokens": 1000,
    "ai.usage.inputTokenDetails.cacheReadTokens": 600,
    "ai.usage.inputTokenDetails.cacheWriteTokens": 100,
    "ai.usage.outputTokens": 50,
    "ai.usage.outputTokenDetails.reasoningTokens": 30,
}
DETAILS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.details.cache_read_tokens": 600,
    "gen_ai.usage.details.cache_write_tokens": 100,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.details.reasoning_tokens": 30,
}
