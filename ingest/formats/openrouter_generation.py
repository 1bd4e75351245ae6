"""OpenRouter's own account of a call: the generation object of its API, and the rows of its activity export.

Source: the SDK's generation type. `native_tokens_*` are the provider's counts and billed, `tokens_*` are counted anew
by one tokenizer for all models; the export's columns are the billed ones. With the caller's own provider key the total
is OpenRouter's fee alone and the provider's bill stands beside it. The ids are those of the chat responses.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import providers
from ingest.formats.fields import text, usd_text
from ingest.formats.format import Format
from ingest.formats.openai_usage import read_usage
from ingest.formats.times import span_us, utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_MS: Final = 1_000
_FAILED: Final = ("error",)
_NOTHING: Final = (None, "", "unknown")


def detect(record: Any) -> float:
    row = _unwrapped(record)
    return 1.0 if _is_generation(row) or _is_export(row) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The call of a generation object or of a row of the export; a list gives all of its objects."""
    for one in record if type(record) is list else [record]:
        row = _unwrapped(one)
        if _is_generation(row):
            yield _of_generation(row)
        elif _is_export(row):
            yield _of_export(row)
        else:
            yield Rejected("no OpenRouter generation: it has neither its id and native counts nor an export's columns")


def _unwrapped(record: Any) -> Any:
    if type(record) is list:
        return _unwrapped(record[0]) if record and type(record[0]) is dict else None
    if type(record) is dict and type(record.get("data")) is dict:
        return record["data"]
    return record


def _is_generation(row: Any) -> bool:
    return type(row) is dict and "id" in row and ("native_tokens_prompt" in row or "native_tokens_completion" in row)


def _is_export(row: Any) -> bool:
    return type(row) is dict and "generation_id" in row and "tokens_prompt" in row


def _of_generation(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    event = _call(text(get("id")), text(get("model")), get("created_at"), warnings)
    _classes(row, "native_tokens_", event, warnings)
    own_key = get("is_byok") is True
    _charge(get("total_cost", get("usage")), get("upstream_inference_cost") if own_key else None, event, warnings)
    attempts = get("provider_responses")
    if type(attempts) is list and len(attempts) > 1:
        event.attempt = len(attempts)
    event.session_id, event.user = text(get("session_id")), text(get("external_user"))
    event.account = text(get("workspace_id"))
    event.service_tier = text(get("service_tier"))
    if text(get("response_cache_source_id")) is not None and not _positive(event.cost_reported_usd):
        event.not_billed = True
        event.provider_response_id = None
    _times(get("latency"), get("generation_time"), event)
    _outcome(row, get("finish_reason"), event)
    _tags(row, event)
    event.warnings = warnings or None
    return event


def _of_export(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    variant = text(get("variant"))
    model = text(get("model_permaslug"))
    if model is not None and variant not in (None, "standard") and not model.endswith(f":{variant}"):
        model = f"{model}:{variant}"
    event = _call(text(get("generation_id")), model, get("created_at"), warnings)
    _classes(row, "tokens_", event, warnings)
    _charge(get("cost_total"), get("byok_usage_inference"), event, warnings)
    event.user, event.api_key_alias = text(get("user")), text(get("api_key_name"))
    _times(get("time_to_first_token_ms"), get("generation_time_ms"), event)
    _outcome(row, get("finish_reason_normalized") or get("finish_reason_raw"), event)
    _tags(row, event)
    event.warnings = warnings or None
    return event


def _call(name: str | None, model: str | None, created: Any, warnings: list[str]) -> UsageEvent:
    return UsageEvent(
        provider="openrouter",
        model=model,
        source_record=name,
        provider_response_id=name,
        start_us=utc_instant(created, "created_at", warnings),
        price_context={"charge": "reported"},
    )


def _classes(row: dict[str, Any], prefix: str, event: UsageEvent, warnings: list[str]) -> None:
    """Cached tokens are inside the prompt; reasoning and image tokens inside the completion."""
    given = {name: row.get(prefix + name) for name in ("prompt", "completion", "cached", "reasoning")}
    given["images"] = row.get(f"{prefix}completion_images")
    known = {name: None if value == "" else value for name, value in given.items()}
    out = {"reasoning_tokens": known["reasoning"], "image_tokens": known["images"]}
    usage = {
        "prompt_tokens": known["prompt"],
        "completion_tokens": known["completion"],
        "prompt_tokens_details": {"cached_tokens": known["cached"]},
        "completion_tokens_details": {name: value for name, value in out.items() if value is not None},
    }
    read_usage(usage, event, warnings, providers.write_class(event.model, None))


def _charge(charged: Any, upstream: Any, event: UsageEvent, warnings: list[str]) -> None:
    cost, beside = usd_text(charged, "cost", warnings), usd_text(upstream, "upstream_cost", warnings)
    if cost is not None and beside is not None:
        cost = format(Decimal(cost) + Decimal(beside), "f")
    event.cost_reported_usd = cost


def _positive(cost: str | None) -> bool:
    return cost is not None and Decimal(cost) > 0


def _times(waited: Any, generated: Any, event: UsageEvent) -> None:
    """Times from durations in milliseconds: until the first token, and until the last."""
    if event.start_us is None:
        return
    first, whole = span_us(waited, _MS), span_us(generated, _MS)
    if first is not None and whole is not None and first <= whole:
        event.first_token_us = event.start_us + first
    if whole is not None:
        event.end_us = event.start_us + whole


def _outcome(row: dict[str, Any], reason: Any, event: UsageEvent) -> None:
    event.finish_reason = text(reason)
    streamed = str(row.get("streamed")).lower()
    event.stream = streamed == "true" if streamed in ("true", "false") else None
    if str(row.get("cancelled")).lower() == "true":
        event.status = "aborted"
    elif event.finish_reason in _FAILED:
        event.status = "error"
    # OpenRouter does not charge an answer that has no token and either no reason or an error for its end.
    empty = event.tok_output == 0 and not event.tok_reasoning
    if empty and (event.finish_reason in _NOTHING or event.status == "error"):
        event.not_billed = event.not_billed or not _positive(event.cost_reported_usd)


def _tags(row: dict[str, Any], event: UsageEvent) -> None:
    named = {"served_by": row.get("provider_name"), "app": row.get("app_name") or row.get("app_id")}
    tags = {name: given for name, value in named.items() if (given := text(value)) is not None}
    event.tags = tags or None


FORMAT: Final = Format(
    name="openrouter_generation",
    title="OpenRouter generations and activity export",
    convention="The native prompt count holds cached tokens, the completion count reasoning; cost is the charge.",
    billing="api",
    detect=detect,
    parse=parse,
)
