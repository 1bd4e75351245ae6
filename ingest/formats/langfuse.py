"""Langfuse: trace exports, lists and pages of observations, blob-export rows and ingestion batches.

Source: the Langfuse v2 API, its blob exports and its ingestion events. Calls are observations of type GENERATION or
EMBEDDING. A generation above others that carry usage repeats theirs and is not counted; that is decided by the parent
links, never by names. In a batch, events of one observation are merged field by field, the newest winning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.usage import Part, Rejected, SpanLink, UsageEvent, tokens_in, tokens_out
from ingest.formats import providers
from ingest.formats.dressing import read_tags
from ingest.formats.fields import compact, decoded_text, integer, number, table, text, usd_text
from ingest.formats.format import Format
from ingest.formats.langfuse_usage import read_usage
from ingest.formats.otlp_vocabulary import meanings, vocabulary
from ingest.formats.prompts import message_parts, tool_parts
from ingest.formats.times import utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

CALLS: Final = ("GENERATION", "EMBEDDING")
_TYPES: Final = frozenset((*CALLS, "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL"))
_FEATURES: Final = ("feature", "team", "environment")


def detect(record: Any) -> float:
    if type(record) is list:
        return detect(record[0]) if record and type(record[0]) is dict else 0.0
    if type(record) is not dict:
        return 0.0
    if type(record.get("observations")) is list:
        return 1.0
    if _is_observation(record):
        return 1.0
    if _is_rendering(record) or _beside(record) is not None:
        return 0.6
    for name in ("data", "batch"):
        inner = record.get(name)
        if type(inner) is list and inner and type(inner[0]) is dict:
            body = inner[0].get("body") if name == "batch" else inner[0]
            if type(body) is dict and _beside(body) is not None:
                return 0.6
            if type(body) is dict and ((name == "batch" and "type" in inner[0]) or _is_observation(body)):
                return 1.0
    return 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The calls of a trace, a page, a batch or a single observation."""
    if type(record) is list:
        yield from _trace({}, record)
        return
    if type(record) is not dict:
        yield Rejected("no Langfuse record: not a JSON object")
    elif type(record.get("observations")) is list:
        trace = record.get("trace")
        yield from _trace(trace if type(trace) is dict else record, record["observations"])
    elif type(record.get("batch")) is list:
        yield from _trace({}, _merged(record["batch"]))
    elif type(record.get("data")) is list:
        yield from _trace({}, record["data"])
    elif _is_observation(record):
        yield from _trace({}, [record])
    elif (what := _beside(record)) is not None:
        yield Rejected(f"a Langfuse {what} is no call", benign=True)
    elif _is_rendering(record):
        yield Rejected("a ChatML rendering of Langfuse observations, no log: it has no model, time or usage")
    else:
        yield Rejected("no Langfuse record: neither a trace nor an observation nor a batch")


def _is_observation(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    named = "traceId" in record or "trace_id" in record or "usageDetails" in record or "usage_details" in record
    return type(kind) is str and kind in _TYPES and named and "id" in record


def _beside(record: dict[str, Any]) -> str | None:
    """What else stands in Langfuse's exports and pages beside observations: a score, a trace; None for neither."""
    named = "traceId" in record or "trace_id" in record
    scored = any(name in record for name in ("value", "stringValue", "string_value", "longStringValue"))
    if scored and ("dataType" in record or "data_type" in record) and (named or "source" in record):
        return "score"
    marks = sum(name in record for name in ("public", "bookmarked", "release", "sessionId", "session_id", "tags"))
    return "trace" if "timestamp" in record and "id" in record and "type" not in record and marks >= 3 else None


def _is_rendering(record: dict[str, Any]) -> bool:
    return bool(record) and all(
        type(value) is dict and bool(value) and value.keys() <= {"input", "output", "metadata"}
        for value in record.values()
    )


def _merged(batch: list[Any]) -> list[dict[str, Any]]:
    """Observations of a batch's events: later events win field by field, an absent or null field erases nothing."""
    events = [event for event in batch if type(event) is dict and type(event.get("body")) is dict]
    events.sort(
        key=lambda event: (str(event.get("timestamp")), "update" in str(event.get("type")), str(event.get("id")))
    )
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        kind = str(event.get("type")).partition("-")[0].upper()
        body = {key: value for key, value in event["body"].items() if value is not None}
        name = str(body.get("id"))
        if kind == "OBSERVATION":
            kind = str(body.get("type"))
        if kind in _TYPES:
            found.setdefault(name, {"type": kind}).update({**body, "type": kind})
    return list(found.values())


def _trace(trace: dict[str, Any], observations: list[Any]) -> Iterator[UsageEvent | Rejected]:
    rows = [row for row in observations if type(row) is dict]
    if len(rows) < len(observations):
        yield Rejected("an observation that is not a JSON object")
    repeated = _repeating(rows)
    for row in rows:
        kind = row.get("type")
        if (what := _beside(row)) is not None and kind not in _TYPES:
            yield Rejected(f"a Langfuse {what} is no call", benign=True)
        elif kind not in CALLS:
            known = type(kind) is str and kind in _TYPES
            yield _no_call(row, trace, f"a {kind} observation is no call", benign=known)
        elif id(row) in repeated:
            yield _no_call(row, trace, "a generation that repeats the usage of those under it", benign=True)
        else:
            yield _event(row, trace)


def _no_call(row: dict[str, Any], trace: dict[str, Any], reason: str, *, benign: bool) -> Rejected:
    """An observation that is not counted, kept as a link where calls of other records may stand above and under it."""
    place = _place(row, trace)
    if not benign or place.trace_id is None or place.parent_id is None or place.source_record is None:
        return Rejected(reason, benign=benign)
    return SpanLink(
        reason,
        benign=True,
        trace_id=place.trace_id,
        span_id=place.source_record,
        parent_id=place.parent_id,
        start_us=utc_instant(_get(row, "startTime", "start_time"), "startTime", []),
    )


def _place(row: dict[str, Any], trace: dict[str, Any]) -> UsageEvent:
    """An event that knows only where its observation stands."""
    return UsageEvent(
        source_record=text(row.get("id")),
        trace_id=text(_get(row, "traceId", "trace_id")) or text(trace.get("id")),
        parent_id=text(_get(row, "parentObservationId", "parent_observation_id")),
    )


def _repeating(rows: list[dict[str, Any]]) -> set[int]:
    """The calls above other calls that repeat their usage: their own counters are empty or the sum of those under them.

    A call under which an instrument saw another call with other counters is kept: both were reported.
    """
    by_id = {row["id"]: row for row in rows if type(row.get("id")) is str}
    under: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if row.get("type") in CALLS and _usage(row):
            holder = _call_above(row, by_id)
            if holder is not None:
                under.setdefault(id(holder), []).append(row)
    return {
        id(row) for row in rows if id(row) in under and (not _usage(row) or _tokens([row]) == _tokens(under[id(row)]))
    }


def _call_above(row: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """The nearest call above an observation; other observations in between are passed."""
    seen = {row["id"]} if type(row.get("id")) is str else set()
    parent = _get(row, "parentObservationId", "parent_observation_id")
    while type(parent) is str and parent in by_id and parent not in seen:
        holder = by_id[parent]
        if holder.get("type") in CALLS:
            return holder
        seen.add(parent)
        parent = _get(holder, "parentObservationId", "parent_observation_id")
    return None


def _tokens(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """Prompt and answer tokens of some calls together."""
    total_in = total_out = 0
    for row in rows:
        counted = UsageEvent(model=text(_get(row, "model", "provided_model_name")))
        read_usage(_usage(row), counted, [])
        total_in += tokens_in(counted) or 0
        total_out += tokens_out(counted) or 0
    return total_in, total_out


def _event(row: dict[str, Any], trace: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    metadata = table(row.get("metadata"))
    event = msgspec.structs.replace(
        _place(row, trace),
        session_id=text(_get(row, "sessionId", "session_id")) or text(trace.get("sessionId")),
        account=text(_get(row, "projectId", "project_id")) or text(trace.get("projectId")),
        user=text(_get(row, "userId", "user_id")) or text(trace.get("userId")),
        model=text(_get(row, "model", "provided_model_name")),
        operation="embedding" if row.get("type") == "EMBEDDING" else "chat",
        start_us=utc_instant(_get(row, "startTime", "start_time"), "startTime", warnings),
        first_token_us=utc_instant(
            _get(row, "completionStartTime", "completion_start_time"), "completionStartTime", warnings
        ),
        end_us=utc_instant(_get(row, "endTime", "end_time"), "endTime", warnings),
    )
    event.provider = _provider(metadata, event.model)
    event.provider_response_id = _response_id(metadata, event.source_record)
    if row.get("level") == "ERROR":
        event.status = "error"
        event.error = text(_get(row, "statusMessage", "status_message"))
    usage = _usage(row)
    if usage:
        read_usage(usage, event, warnings)
        event.cost_reported_usd = _cost(row, warnings)
    _read_parameters(_get(row, "modelParameters", "model_parameters"), event)
    _read_served(metadata, event)
    _read_content(row, event)
    event.tags = _tags(row, trace, metadata)
    event.warnings = warnings or None
    return event


def _get(row: dict[str, Any], camel: str, snake: str) -> Any:
    value = row.get(camel)
    return row.get(snake) if value is None else value


def _usage(row: dict[str, Any]) -> dict[str, Any]:
    """The usage map; older rows carry three numbers, where all zero means that nothing was reported."""
    for name in ("usageDetails", "usage_details", "usage"):
        usage = table(row.get(name))
        if any(value for value in usage.values()):
            return {key: value for key, value in usage.items() if key != "unit"}
    for keys in (("inputUsage", "outputUsage", "totalUsage"), ("promptTokens", "completionTokens", "totalTokens")):
        if any(row.get(key) for key in keys):
            return dict(zip(("input", "output", "total"), (row.get(key) for key in keys), strict=True))
    return {}


def _cost(row: dict[str, Any], warnings: list[str]) -> str | None:
    for name in ("totalCost", "total_cost", "calculatedTotalCost"):
        if row.get(name) is not None:
            return usd_text(row[name], "totalCost", warnings)
    return usd_text(table(_get(row, "costDetails", "cost_details")).get("total"), "totalCost", warnings)


def _provider(metadata: dict[str, Any], model: str | None) -> str | None:
    attributes = table(metadata.get("attributes"))
    for known in (metadata, attributes):
        for name in ("ls_provider", "gen_ai.provider.name", "gen_ai.system", "llm.provider"):
            value = text(known.get(name))
            if value is not None:
                return _PROVIDERS.get(value.lower(), value.lower())
    return providers.from_model(model)


def _response_id(metadata: dict[str, Any], name: str | None) -> str | None:
    """The provider's id of the answer: as the instrument kept it, or at the end of the ids of LiteLLM's callback.

    With it the same call in a gateway's or a provider's log is known to be the same.
    """
    for known in (metadata, table(metadata.get("attributes"))):
        for key in ("gen_ai.response.id", "response_id"):
            value = text(known.get(key))
            if value is not None:
                return value
    return name.partition("_")[2] or None if name is not None and name.startswith("time-") else None


_PROVIDERS: Final = {
    "google_vertexai": "google",
    "google_genai": "google",
    "gcp.vertex_ai": "google",
    "gcp.vertex.agent": "google",
    "gcp.gemini": "google",
    "gcp.gen_ai": "google",
    "az.ai.openai": "azure",
    "azure.ai.openai": "azure",
    "aws.bedrock": "aws",
}


def _read_parameters(value: Any, event: UsageEvent) -> None:
    parameters = table(value)
    if not parameters:
        return
    event.temperature = number(parameters.get("temperature"))
    event.top_p = number(parameters.get("top_p", parameters.get("topP")))
    limit = parameters.get("max_tokens", parameters.get("maxTokens", parameters.get("max_completion_tokens")))
    event.max_tokens = integer(limit)
    event.service_tier = event.service_tier or text(parameters.get("service_tier", parameters.get("serviceTier")))


def _read_served(metadata: dict[str, Any], event: UsageEvent) -> None:
    """The tier that served and the region, where the observation came as a span and its attributes are kept."""
    said = meanings(table(metadata.get("attributes")), vocabulary().names)
    event.service_tier = text(said.get("tier")) or event.service_tier or text(said.get("tier_asked"))
    event.is_batch = event.is_batch or event.service_tier == "batch"
    event.region = text(said.get("region"))


def _read_content(row: dict[str, Any], event: UsageEvent) -> None:
    given = row.get("input")
    if type(given) is str:
        given = decoded_text(given) or given
    parts: list[Part] = []
    if type(given) is dict and "messages" in given:
        tool_parts(given.get("tools"), parts, [])
        message_parts(given["messages"], parts, [])
    elif given:
        message_parts(given if type(given) in (list, str) else compact(given), parts, [])
    event.prompt = parts or None
    answer = row.get("output")
    if answer is not None:
        event.output = answer if type(answer) is str else compact(answer)


def _tags(row: dict[str, Any], trace: dict[str, Any], metadata: dict[str, Any]) -> dict[str, str] | None:
    tags: dict[str, str] = {}
    for value in (trace.get("tags"), row.get("tags")):
        read_tags(decoded_text(value) if type(value) is str else value, tags)
    trace_metadata = table(trace.get("metadata"))
    for name in _FEATURES:
        value = text(metadata.get(name)) or text(trace_metadata.get(name))
        if value is not None:
            tags[name] = value
    named = (
        ("environment", row.get("environment") or trace.get("environment")),
        ("name", row.get("name")),
        ("trace_name", row.get("traceName") or row.get("trace_name") or trace.get("name")),
        ("prompt_name", _get(row, "promptName", "prompt_name")),
        ("release", row.get("release") or trace.get("release")),
    )
    for key, given in named:
        value = text(given)
        if value is not None:
            tags.setdefault(key, value)
    return tags or None


FORMAT: Final = Format(
    name="langfuse",
    title="Langfuse traces, observations and ingestion batches",
    convention="usageDetails: details beside input and output, or inside them where only that adds up to the total.",
    billing="api",
    detect=detect,
    parse=parse,
)
