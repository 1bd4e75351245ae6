"""Bedrock model invocation logs, as S3 holds them or as events of CloudWatch Logs.

The log's own counters count; the bodies beside them say what the log leaves out: the lifetimes of cache writes,
thinking, prompt and parameters. Bodies above 100 KB are kept elsewhere by AWS and stay unknown here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.addresses import note_capacity
from ingest.formats.anthropic_usage import read_usage
from ingest.formats.bedrock_models import METRICS
from ingest.formats.envelope import Exchange
from ingest.formats.exchanges import event_of
from ingest.formats.fields import count, decoded_text, integer, table, text
from ingest.formats.format import Format
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import Status
    from ingest.formats.format import Origin

# Refused before the model ran.
_REFUSED: Final = frozenset(
    (
        "ThrottlingException", "ValidationException", "AccessDeniedException", "ResourceNotFoundException",
        "ServiceQuotaExceededException", "ModelNotReadyException",
    )
)  # fmt: skip
_LATE: Final = ("ModelTimeoutException", "RequestTimeoutException")


def detect(record: Any) -> float:
    log = _log_in(record)
    if log is None:
        return 0.0
    return 1.0 if log.get("schemaType") == "ModelInvocationLog" else 0.9


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The call of one log entry."""
    log = _log_in(record)
    if log is None:
        yield Rejected("no Bedrock invocation log: it has no modelId with input or output")
        return
    warnings: list[str] = []
    event = _read_bodies(log, warnings)
    _read_counters(log, event, warnings)
    _read_log(log, event, warnings)
    event.warnings = list(dict.fromkeys(warnings)) or None
    yield event


def body_event(request: Any, response: Any) -> UsageEvent | Rejected:
    """The event that the bodies of an InvokeModel or Converse call give; Rejected where no layout knows them."""
    asked = request if type(request) is dict else decoded_text(request) if type(request) is str else None
    answered = decoded_text(response) if type(response) is str else response
    chunks = None
    if type(answered) is list:
        chunks = [chunk for chunk in answered if type(chunk) is dict]
        answered = None
    return event_of(
        Exchange(
            asked if type(asked) is dict else None,
            answered if type(answered) is dict else None,
            chunks,
            {},
        )
    )


def _log_in(record: Any) -> dict[str, Any] | None:
    """The log entry of a record: itself, or the message of a CloudWatch event that holds it as text."""
    if type(record) is not dict:
        return None
    if "modelId" not in record:
        message = record.get("message", record.get("@message"))
        inner = decoded_text(message) if type(message) is str else message
        record = inner if type(inner) is dict else {}
    if type(record.get("modelId")) is not str or not record.keys() & {"schemaType", "operation", "accountId"}:
        return None
    return record if type(record.get("input")) is dict or type(record.get("output")) is dict else None


def _read_bodies(log: dict[str, Any], warnings: list[str]) -> UsageEvent:
    request, response = table(log.get("input")).get("inputBodyJson"), table(log.get("output")).get("outputBodyJson")
    if request is None and response is None:
        return UsageEvent()
    event = body_event(request, response)
    if type(event) is not UsageEvent:
        event = UsageEvent()
        kept = table(response).get("usage")
        if type(kept) is dict and "cache_creation" in kept:  # of a body that was cut down to its counters
            read_usage(kept, event, warnings)
        return event
    warnings += event.warnings or []
    event.source_record, event.model = None, None
    return event


def _read_counters(log: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """The log's own counters, which exclude what was read from or written to a cache."""
    given, made = table(log.get("input")), table(log.get("output"))
    fresh = count(given.get("inputTokenCount"), "input", warnings)
    read = count(given.get("cacheReadInputTokenCount"), "cache_read", warnings)
    written = count(given.get("cacheWriteInputTokenCount"), "cache_write", warnings)
    answer = count(made.get("outputTokenCount"), "output", warnings)
    if fresh is not None:
        event.tok_input = fresh
    if read is not None:
        event.tok_cache_read = read
    if written is not None:
        long = min(event.tok_cache_write_1h or 0, written)
        event.tok_cache_write_5m, event.tok_cache_write_1h = written - long, long or None
    if answer is not None:
        if event.tok_reasoning is not None and event.tok_reasoning > answer:
            event.tok_reasoning = None
        event.tok_output = answer - (event.tok_reasoning or 0)
    if None not in (fresh, answer):
        event.tok_total_reported = None  # of the body; the counters above are the log's
        for name in ("sum_mismatch", "inconsistent_usage"):
            while name in warnings:
                warnings.remove(name)


def _read_log(log: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = log.get
    event.provider, event.model = "aws", text(get("modelId"))
    note_capacity(event)
    event.source_record = text(get("requestId")) or event.provider_response_id
    event.provider_response_id = event.provider_response_id or event.source_record
    event.account, event.region = text(get("accountId")), text(get("region"))
    event.user = text(table(get("identity")).get("arn"))
    event.start_us = instant(get("timestamp"), "timestamp", warnings)
    response = table(get("output")).get("outputBodyJson")
    lasted = integer(table(table(response).get("metrics")).get("latencyMs")) or _stream_latency(response)
    if lasted is not None and event.start_us is not None:
        event.end_us = event.start_us + lasted * 1_000
    operation = text(get("operation")) or ""
    if operation:
        event.stream = "Stream" in operation
    metadata = get("requestMetadata")
    if type(metadata) is dict and metadata:
        found = {str(key): value for key, value in metadata.items() if type(value) is str}
        event.tags = {**(event.tags or {}), **found}
    latency = text(table(get("performanceConfig")).get("latency"))
    if latency is not None and latency != "standard":
        event.price_context = {**(event.price_context or {}), "speed": latency}
    failure = text(get("errorCode"))
    status = integer(get("status"))
    event.http_status = status
    if failure is not None:
        event.error = event.error or failure
        event.status = _status_of(failure)
        event.not_billed = failure in _REFUSED
    elif "output" not in log and event.status == "ok":
        event.status = "aborted"


def _status_of(failure: str) -> Status:
    return "timeout" if failure in _LATE else "error"


def _stream_latency(response: Any) -> int | None:
    """Milliseconds that the last event of a stream says."""
    if type(response) is not list:
        return None
    for chunk in reversed(response):
        if type(chunk) is dict:
            metrics = table(chunk.get(METRICS)) or table(table(chunk.get("metadata")).get("metrics"))
            lasted = integer(metrics.get("invocationLatency", metrics.get("latencyMs")))
            if lasted is not None:
                return lasted
    return None


FORMAT: Final = Format(
    name="bedrock_invocation_log",
    title="Bedrock model invocation log",
    convention="inputTokenCount, cacheReadInputTokenCount and cacheWriteInputTokenCount stand beside each other; "
    "outputTokenCount holds thinking.",
    billing="api",
    detect=detect,
    parse=parse,
)
