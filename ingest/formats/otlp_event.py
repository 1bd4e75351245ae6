"""One span as a call: what it says, by meaning, becomes a `UsageEvent`."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from app.core.usage import UsageEvent
from ingest.formats import langfuse_usage, providers
from ingest.formats.addresses import read_address, region_of
from ingest.formats.anthropic_usage import read_context
from ingest.formats.dressing import MAX_TAG, read_tags, set_http_error
from ingest.formats.fields import canonical, compact, count, decoded_text, integer, number, table, text, usd_text
from ingest.formats.grounding import searches_sold
from ingest.formats.otlp_content import read_content
from ingest.formats.otlp_packed import NOTHING, Packed, unpack
from ingest.formats.otlp_spans import Span, attributes
from ingest.formats.otlp_usage import has_usage, read_usage
from ingest.formats.otlp_vocabulary import ABOVE, NONE, Vendor, meanings, vocabulary
from ingest.formats.times import instant, span_us

_MS: Final = 1_000
_S: Final = 1_000_000
# bedrock-runtime.us-east-1.amazonaws.com, us-central1-aiplatform.googleapis.com
_REGIONS: Final = (
    re.compile(r"\b([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com"),
    re.compile(r"\b([a-z]+-[a-z]+\d+)-aiplatform\.googleapis\.com"),
)
_PENDING: Final = "pending_span"  # Logfire's notice that a span began, which comes again when it ends
_FIRST_EVENTS: Final = ("first token stream event", "gen_ai.first_token", "llm.content.completion.chunk")
_HIT_ID: Final = re.compile(r"_cache_hit[\d.]+$")  # LiteLLM's: an id of its own, and the second
_TRUTH: Final = {"true": True, "false": False}
_OWN_PARAMETERS: Final = {
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens"),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "n": ("n",),
    "seed": ("seed",),
    "stop": ("stop", "stop_sequences"),
    "stream": ("stream",),
    "reasoning_effort": ("reasoning_effort",),
    "tier_asked": ("service_tier",),
}


class Reading(msgspec.Struct):
    """A span and what it says. `kind` is the operation, `above` (stands above calls) or `none` (no call)."""

    span: Span
    said: dict[str, Any]
    kind: str
    vendor: Vendor | None
    usage: bool
    packed: Packed = NOTHING


def read(span: Span) -> Reading:
    """What a span says, by meaning, and what it is."""
    words = vocabulary()
    vendor = next((one for one in words.beside if span.name.startswith(one.span)), None)
    said = meanings(span.attributes, words.names)
    if vendor is not None:
        said |= meanings(span.attributes, vendor.names)
        said.setdefault("provider", vendor.provider)
    operation = _operation(span, said, words.operations)
    packed = unpack(span.attributes, said, above=operation == ABOVE)
    usage = has_usage(said) or packed.usage is not None
    return Reading(span, said, _kind(operation, said, usage=usage), vendor, usage, packed)


def read_counters(reading: Reading, event: UsageEvent, warnings: list[str]) -> None:
    """Fill the token classes of `event` from what a span says of its tokens."""
    packed = reading.packed
    if packed.usage is not None:
        langfuse_usage.read_usage(packed.usage, event, warnings)
        return
    beside = packed.beside or reading.vendor is not None
    read_usage(reading.said, event, warnings, beside=beside, apart=packed.apart)


def _kind(operation: str | None, said: dict[str, Any], *, usage: bool) -> str:
    """The operation of a span; where it names none, counters beside a model make it a call."""
    if said.get("span_type") == _PENDING:
        return NONE
    if operation is not None:
        return NONE if operation == ABOVE and not usage else operation
    return "chat" if usage and ("model" in said or "model_asked" in said) else NONE


def _operation(span: Span, said: dict[str, Any], operations: dict[str, str]) -> str | None:
    named = said.get("operation")
    found = operations.get(named.strip('"').lower()) if type(named) is str else None
    return operations.get(span.name.lower()) if found is None else found


def event_of(reading: Reading, parent: str | None) -> UsageEvent:
    """The call of a span; `parent` is the id of what it stands under."""
    span, said = reading.span, reading.said
    warnings: list[str] = []
    event = UsageEvent(
        source_record=f"{span.trace_id}/{span.span_id}" if span.trace_id and span.span_id else None,
        trace_id=span.trace_id or None,
        parent_id=parent,
        operation="chat" if reading.kind == ABOVE else reading.kind,
        model=text(said.get("model")) or text(said.get("model_asked")),
        session_id=text(said.get("session")),
        user=text(said.get("user")),
        account=text(said.get("account")),
        api_key=text(said.get("api_key")),
        api_key_alias=text(said.get("api_key_alias")),
    )
    if reading.vendor is not None and (request := text(said.get("request"))) is not None:
        event.source_record = request  # by which the vendor's log record of the same call is known
    event.provider = _provider(said, event.model)
    read_address((), said.get("model_asked"), event)
    if reading.kind == ABOVE:  # what stands above calls sums them, and may carry the id of one
        event.calls_summed = 0
    else:
        event.provider_response_id = text(said.get("response_id"))
    if reading.usage:
        read_counters(reading, event, warnings)
        searches = count(said.get("searches"), "web_search", warnings)
        if searches:
            event.units = {"web_search": searches_sold(event.model, searches)}
    event.cost_reported_usd = usd_text(said.get("cost_usd"), "cost_usd", warnings)
    _read_times(span, said, event, warnings)
    _read_outcome(span, said, event)
    if _from_own_cache(said):
        _set_not_billed(event)
    _read_parameters(said, event)
    _read_served(said, event)
    read_content(span, said, event)
    event.tags = tags_of(span.attributes, span.resource, said)
    event.warnings = warnings or None
    return event


def start_of(span: Span) -> int | None:
    """When a span began, in microseconds UTC; None where it does not say."""
    return instant(_nano(span.start), "start", [])


def provider_named(name: Any) -> str | None:
    """Halve's name of a provider that an instrumentation names."""
    if type(name) is not str or not name:
        return None
    known = vocabulary().providers
    lower = name.lower()
    head = lower.partition(".")[0]
    return known.get(lower) or known.get(head) or head


def _provider(said: dict[str, Any], model: str | None) -> str | None:
    named = provider_named(said.get("provider"))
    served = providers.from_host(said.get("host"))
    if served is not None and named in (None, "openai"):  # OpenAI's protocol is spoken by many
        return served
    return named or providers.from_model(model)


def _read_times(span: Span, said: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    event.start_us = instant(_nano(span.start), "start", warnings)
    event.end_us = instant(_nano(span.end), "end", warnings)
    if event.start_us is None:
        return
    waited = span_us(said.get("first_s"), _S)
    if waited is None:
        waited = span_us(said.get("first_ms"), _MS)
    if waited is not None:
        event.first_token_us = event.start_us + waited
        return
    if said.get("first_at") is not None:
        event.first_token_us = instant(str(said["first_at"]).strip('"'), "first_token", warnings)
        return
    for item in span.events:
        if type(item) is dict and str(item.get("name")).lower() in _FIRST_EVENTS:
            time = item.get("timeUnixNano", item.get("time_unix_nano", item.get("timestamp")))
            event.first_token_us = instant(_nano(time), "first_token", warnings)
            return


def _nano(value: Any) -> Any:
    """Nanoseconds since 1970; 0 is how protobuf writes an absent one."""
    return None if value in (0, "0") else value


def _read_outcome(span: Span, said: dict[str, Any], event: UsageEvent) -> None:
    reasons = said.get("finish")
    if type(reasons) is str and reasons.startswith("["):
        reasons = decoded_text(reasons) or reasons
    if type(reasons) is list:
        reasons = next((reason for reason in reasons if reason), None)
    event.finish_reason = text(reasons)
    kind = text(said.get("error_kind"))
    http = integer(said.get("http_status"))
    if http is None and kind is not None and kind.isdigit() and len(kind) == 3:
        http = int(kind)
    event.http_status = http
    failed = span.failed or said.get("level") == "ERROR"
    if not failed and kind is None and event.finish_reason != "error":
        return
    event.error = span.message or _exception(span, said) or kind
    event.status = "timeout" if kind is not None and "timeout" in kind.lower() else "error"
    if http is not None and http >= 400:
        set_http_error(event, http)


def _from_own_cache(said: dict[str, Any]) -> bool:
    """Whether a gateway answered out of its own cache: LiteLLM says so, or gives the response an id that does."""
    named = said.get("response_id")
    return str(said.get("cache_hit")).lower() == "true" or (type(named) is str and _HIT_ID.search(named) is not None)


def _set_not_billed(event: UsageEvent) -> None:
    """The response's id and cost may still be those of the call that was paid for."""
    event.not_billed = True
    event.provider_response_id = None
    if event.cost_reported_usd is not None:
        event.cost_reported_usd = "0"


def _exception(span: Span, said: dict[str, Any]) -> str | None:
    told = text(said.get("error_text"))
    if told is not None:
        return told
    for item in span.events:
        if type(item) is dict and item.get("name") == "exception":
            held = attributes(item.get("attributes"))
            return text(held.get("exception.message")) or text(held.get("exception.type"))
    return None


def _read_parameters(said: dict[str, Any], event: UsageEvent) -> None:
    sent = table(said.get("parameters"))
    for field, names in _OWN_PARAMETERS.items():
        if field not in said:
            for name in names:
                if sent.get(name) is not None:
                    said[field] = sent[name]
                    break
    event.max_tokens = integer(said.get("max_tokens"))
    event.temperature = number(said.get("temperature"))
    event.top_p = number(said.get("top_p"))
    event.n = integer(said.get("n"))
    event.seed = integer(said.get("seed"))
    stop = said.get("stop")
    event.stop = None if stop is None or stop == [] else compact(stop)
    wanted = said.get("response_format")
    event.response_format = wanted if type(wanted) is str else None
    event.reasoning_effort = text(said.get("reasoning_effort"))
    stream = said.get("stream")
    event.stream = stream if type(stream) is bool else _TRUTH.get(str(stream).lower())
    used = {name for names in _OWN_PARAMETERS.values() for name in names} | {"model", "messages", "tools"}
    rest = {name: value for name, value in sent.items() if name not in used}
    event.params = canonical(rest) if rest else None


def _read_served(said: dict[str, Any], event: UsageEvent) -> None:
    tier = text(said.get("tier"))
    if tier is None:
        asked = text(said.get("tier_asked"))
        tier = asked if asked not in (None, "auto") else None
    event.service_tier = tier
    event.region = text(said.get("region")) or _region(said.get("host"))
    event.is_batch = tier == "batch"
    speed = text(said.get("speed"))
    read_context({"speed": None if speed == "normal" else speed, "inference_geo": said.get("geo")}, event)


def _region(host: Any) -> str | None:
    if type(host) is not str:
        return None
    for pattern in _REGIONS:
        found = pattern.search(host)
        if found is not None:
            return found[1]
    return region_of(host)


def tags_of(own: dict[str, Any], resource: dict[str, Any], said: dict[str, Any]) -> dict[str, str] | None:
    """The tags that attributes, those of the resource, and what they say by meaning give."""
    words = vocabulary()
    tags: dict[str, str] = {}
    for meaning, value in meanings(resource, words.resource).items():
        _tag(tags, meaning.removeprefix("tag."), value)
    for name, value in own.items():
        if name.startswith(words.tag_prefixes):
            prefix = next(one for one in words.tag_prefixes if name.startswith(one))
            _tag(tags, name[len(prefix) :], value)
    metadata = table(said.get("metadata"))
    read_tags(metadata, tags)
    listed = said.get("tags")
    read_tags(decoded_text(listed) if type(listed) is str else listed, tags)
    for meaning, value in said.items():
        if meaning.startswith("tag."):
            _tag(tags, meaning[4:], value)
    return tags or None


def _tag(tags: dict[str, str], name: str, value: Any) -> None:
    plain = value if type(value) is str else None if value is None else compact(value)
    if name and plain and len(plain) <= MAX_TAG:
        tags[name] = plain
