"""The envelope: one JSON object that holds a provider call's request and response and what the logger knew of it.

    {"timestamp": "2026-03-02T10:00:00Z", "end_time": "...", "first_token_time": "...", "latency_ms": 812,
     "request": {...}, "response": {...},
     "id": "...", "status": 200, "error": "...", "session_id": "...", "trace_id": "...", "parent_id": "...",
     "user": "...", "api_key": "...", "api_key_alias": "...", "account": "...", "provider": "openai", "region": "...",
     "feature": "search", "team": "...", "environment": "prod", "tags": {...} or ["feature:search"], "metadata": {...},
     "attempt": 1, "retry_of": "...", "is_batch": false}

Only a response is needed. Bodies may be objects, JSON text, event-stream text or a list of stream events; other usual
names of every field are in `NAMES`, `REQUESTS` and `RESPONSES`. A record without such a wrapper is itself the response;
a program's own line of a model and the provider's usage is both.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from app.core.usage import Rejected
from ingest.formats import sse
from ingest.formats.fields import decoded_text

REQUESTS: Final = ("request", "request_body", "requestBody", "req", "input_body", "request_json", "body")
RESPONSES: Final = ("response", "response_body", "responseBody", "resp", "res", "output_body", "response_json")

NAMES: Final[dict[str, str]] = {
    alias: name
    for name, aliases in {
        "start": "timestamp time ts start_time startTime started_at request_time created_at createdAt "
        "request_created_at",
        "date": "date Date",
        "end": "end_time endTime ended_at completed_at response_created_at finished_at",
        "first": "first_token_time first_token_at firstTokenTime completion_start_time completionStartTime",
        "latency_ms": "latency_ms duration_ms elapsed_ms latencyMs durationMs request_duration_ms delay_ms "
        "processing_ms",
        "latency_s": "latency_s duration_s latency duration elapsed response_time",
        "ttft_ms": "ttft_ms time_to_first_token_ms ttftMs",
        "itl_p50_ms": "itl_p50_ms",
        "itl_p99_ms": "itl_p99_ms",
        "status": "status status_code http_status http_status_code statusCode response_status",
        "error": "error error_message exception",
        "id": "id request_id requestId call_id log_id uuid event_id",
        "trace": "trace_id traceId",
        "parent": "parent_id parentId parent_span_id",
        "session": "session_id sessionId conversation_id conversationId thread_id",
        "user": "user user_id userId end_user customer_id",
        "key": "api_key apiKey key key_id api_key_id api_key_hash",
        "key_alias": "api_key_alias api_key_name key_name key_alias",
        "account": "account organization organization_id org_id project_id workspace workspace_id",
        "tags": "tags labels request_tags",
        "metadata": "metadata properties custom attributes",
        "feature": "feature feature_name",
        "team": "team team_id team_name",
        "environment": "environment env stage",
        "provider": "provider vendor",
        "host": "host url base_url api_base",
        "path": "path endpoint request_path",
        "region": "region",
        "tier": "service_tier",
        "model": "model request_model",
        "deployment": "deployment deployment_name",
        "attempt": "attempt",
        "retry_of": "retry_of",
        "batch": "is_batch batch",
    }.items()
    for alias in aliases.split()
}


class Exchange(msgspec.Struct, gc=False):
    """A record taken apart: the bodies and the envelope's own fields (empty where there is no envelope).

    Either `response` or `chunks` (the events of a stream) may be given; both None is a call without an answer.
    """

    request: dict[str, Any] | None
    response: dict[str, Any] | None
    chunks: list[dict[str, Any]] | None
    outer: dict[str, Any]


# Lines of the inputs of Gemini's and Bedrock's batches.
_BATCH_INPUTS: Final = ({"key", "request"}, {"recordId", "modelInput"})


def unwrap(record: Any) -> Exchange | Rejected:
    """Take a record apart; Rejected where it holds nothing that could be a provider's answer."""
    if type(record) is list:
        return Exchange(None, None, _events(record), {})
    if type(record) is not dict:
        return Rejected(f"a JSON {_json_type(record)} where an object was expected")
    if is_event(record):
        return Exchange(None, None, [record], {})
    if ("custom_id" in record and "response" not in record) or record.keys() in _BATCH_INPUTS:
        return Rejected("a line of a batch's input: a request that was not answered here")
    request, response = record.get("request"), record.get("response")
    if type(response) is dict and "modelId" in response and type(record.get("usage")) is dict:
        return Exchange(None, record, None, {})  # a result of the AI SDK, which has a `response` of its own
    if type(record.get("done")) is bool and "model" in record and (type(response) is str or "message" in record):
        if record["done"]:
            return Exchange(None, record, None, {})
        return Rejected("a line of a streamed answer of Ollama: the last line tells its tokens", benign=True)
    if request is None and response is None:
        request, response = _first(record, REQUESTS), _first(record, RESPONSES)
        if request is None and response is None and not _lost_bodies(record):
            return _bare(record)
    return _pair(record, request, response)


def is_event(record: dict[str, Any]) -> bool:
    """True for one event of a provider's stream, standing alone."""
    kind = record.get("type")
    if (type(kind) is str and kind in STREAM_EVENTS) or (type(kind) is str and kind.startswith("response.")):
        return True
    return record.get("object") == "chat.completion.chunk"


STREAM_EVENTS: Final = frozenset(
    (
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
    )
)


def meta(outer: dict[str, Any]) -> dict[str, Any]:
    """The envelope's fields under their first name; a later alias of the same field wins only over nothing."""
    found: dict[str, Any] = {}
    for alias, value in outer.items():
        name = NAMES.get(alias)
        if name is not None and value is not None and name not in found:
            found[name] = value
    return found


def summary_of(record: dict[str, Any]) -> dict[str, Any]:
    """The envelope of a line that a program wrote itself: the usage as the provider gave it, and what else it knew.

    Empty for a provider's own body, whose fields mean what its API says.
    """
    if type(record.get("usage")) is not dict or any(name in record for name in _OF_A_BODY):
        return {}
    return dict(record)


_OF_A_BODY: Final = (
    "object", "type", "choices", "candidates", "usageMetadata", "stop_reason", "stopReason", "embeddings", "meta",
    "generation_id", "results", "steps", "outputs", "output_text", "usage_info", "finishReason",
)  # fmt: skip
_OF_A_REQUEST: Final[tuple[str, ...]] = (
    "model", "messages", "system", "tools", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed",
    "stop", "stream",
)  # fmt: skip


def _bare(record: dict[str, Any]) -> Exchange:
    if type(record.get("stream")) is list:
        return Exchange(None, None, _events(record["stream"]), record)
    outer = summary_of(record) if "model" in record else {}
    asked = None
    if outer and type(record.get("messages")) is list:
        asked = {name: record[name] for name in _OF_A_REQUEST if name in record}
    return Exchange(asked, record, None, outer)


def _pair(record: dict[str, Any], request: Any, response: Any) -> Exchange | Rejected:
    request_body, response_body, chunks = _body(request), _body(response), None
    if type(response_body) is list:
        chunks, response_body = _events(response_body), None
    if type(response_body) is str:
        return Rejected("the response body is neither JSON nor an event stream")
    if response_body is None and chunks is None:
        response_body = _kept_usage(record)
    status = response.get("status_code", response.get("status")) if type(response) is dict else None
    if type(status) is int and "status" not in record:
        record = {**record, "status": status}
    return Exchange(
        request_body if type(request_body) is dict else None,
        response_body if type(response_body) is dict else None,
        chunks,
        record,
    )


def _lost_bodies(record: dict[str, Any]) -> bool:
    """True for an envelope that names a response but kept nothing of it except perhaps the usage."""
    return any(name in record for name in RESPONSES)


def _kept_usage(record: dict[str, Any]) -> dict[str, Any] | None:
    """A response made of the usage that an envelope kept beside a body it did not keep."""
    usage = record.get("usage")
    if type(usage) is list and usage:
        usage = usage[-1]
        usage = usage.get("usage", usage) if type(usage) is dict else None
        return None if usage is None else {"usage": usage, "model": record.get("response_model", record.get("model"))}
    return record if type(usage) is dict else None


def _body(value: Any, depth: int = 0) -> Any:
    """A body as object or list of events; text that is neither JSON nor a stream stays text."""
    if type(value) is dict:
        if "body" in value and depth < 3 and "choices" not in value and "messages" not in value:
            return _body(value["body"], depth + 1)
        return value
    if type(value) is str:
        if not value.strip():
            return None
        decoded = decoded_text(value)
        if decoded is None and sse.is_stream(value):
            return sse.events(value)
        return value if decoded is None else decoded
    return value if type(value) is list else None


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        value = record.get(name)
        if type(value) in (dict, str, list) and value:
            return value
    return None


def _events(values: list[Any]) -> list[dict[str, Any]]:
    return [value for value in values if type(value) is dict]


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "truth value", int: "number", float: "number", str: "text"}.get(type(value), "value")
