"""What the envelope knows beyond the bodies: times, outcome, who asked, tags. Explicit fields win over the bodies'."""

from __future__ import annotations

from typing import Any, Final

from app.core.usage import Status, UsageEvent, tokens_in
from ingest.formats import providers
from ingest.formats.addresses import read_address
from ingest.formats.envelope import Exchange, meta
from ingest.formats.fields import compact, integer, text
from ingest.formats.openai_chat import error_text
from ingest.formats.times import instant, span_us

MAX_TAG: Final = 512
_MS: Final = 1_000
_S: Final = 1_000_000
STATUSES: Final[dict[str, Status]] = {
    "ok": "ok", "success": "ok", "succeeded": "ok", "completed": "ok", "200": "ok",
    "error": "error", "failure": "error", "failed": "error", "fail": "error",
    "timeout": "timeout", "timed_out": "timeout",
    "aborted": "aborted", "cancelled": "aborted", "canceled": "aborted", "abandoned": "aborted",
}  # fmt: skip
_FIELDS: Final = {
    "id": "source_record",
    "trace": "trace_id",
    "parent": "parent_id",
    "session": "session_id",
    "user": "user",
    "key": "api_key",
    "key_alias": "api_key_alias",
    "account": "account",
    "region": "region",
    "retry_of": "retry_of",
}
TIMEOUT_STATUSES: Final = (408, 504)
# Refused before any token was made; 408, 409 and 5xx may still be billed.
UNBILLED_STATUSES: Final = frozenset((400, 401, 402, 403, 404, 405, 413, 415, 422, 429))


def dress(event: UsageEvent, exchange: Exchange, warnings: list[str]) -> None:
    """Complete the event of an exchange from its envelope, and attach the warnings."""
    if exchange.outer:
        known = meta(exchange.outer)
        _when(event, known, warnings)
        _outcome(event, exchange, known)
        _identity(event, known)
        _labels(event, known)
        if "host" in known or "path" in known:
            asked = exchange.request.get("model") if exchange.request is not None else None
            read_address((known.get("host"), known.get("path")), asked, event)
    elif event.status == "ok" and exchange.response is not None and event.error is not None:
        event.status = "error"
    if event.source_record is None:
        event.source_record = event.provider_response_id
    if warnings:
        event.warnings = warnings


def read_tags(value: Any, tags: dict[str, str]) -> None:
    """Add tags given as an object or as a list of `name:value` texts; values above MAX_TAG are content, no tags."""
    if type(value) is dict:
        for key, given in value.items():
            if given is not None and given != "":
                plain = given if type(given) is str else compact(given)
                if len(plain) <= MAX_TAG:
                    tags[key] = plain
    elif type(value) is list:
        for item in value:
            if type(item) is str and 0 < len(item) <= MAX_TAG:
                name, colon, given = item.partition(":")
                tags[name if colon and given else item] = given if colon and given else "true"


def _when(event: UsageEvent, known: dict[str, Any], warnings: list[str]) -> None:
    start = instant(known["start"], "start", warnings) if "start" in known else None
    if start is None and event.start_us is None and "date" in known:
        start = instant(known["date"], "date", warnings)
    if start is not None:
        event.start_us = start
    if "end" in known:
        event.end_us = instant(known["end"], "end", warnings)
    if "first" in known:
        event.first_token_us = instant(known["first"], "first_token", warnings)
    if "itl_p50_ms" in known or "itl_p99_ms" in known:
        event.itl_p50_us = span_us(known.get("itl_p50_ms"), _MS)
        event.itl_p99_us = span_us(known.get("itl_p99_ms"), _MS)
    if event.start_us is not None:
        _durations(event, event.start_us, known)


def _durations(event: UsageEvent, start_us: int, known: dict[str, Any]) -> None:
    """End and first token from durations, where their times are not given."""
    if event.end_us is None:
        lasted = span_us(known.get("latency_ms"), _MS)
        if lasted is None:
            lasted = span_us(known.get("latency_s"), _S)
        event.end_us = start_us + lasted if lasted is not None else None
    if event.first_token_us is None and "ttft_ms" in known:
        waited = span_us(known["ttft_ms"], _MS)
        event.first_token_us = start_us + waited if waited is not None else None


def _outcome(event: UsageEvent, exchange: Exchange, known: dict[str, Any]) -> None:
    status = known.get("status")
    http = integer(status)
    if http is not None:
        event.http_status = http
        if http >= 400:
            set_http_error(event, http)
    elif type(status) is str and exchange.outer is not exchange.response:
        event.status = STATUSES.get(status.lower(), event.status)
    error = known.get("error")
    if error and exchange.outer is not exchange.response:
        event.error = event.error or error_text(error)
        if event.status == "ok":
            event.status = "timeout" if "timeout" in str(event.error).lower() else "error"
    if exchange.response is None and exchange.chunks is None and event.status == "ok":
        event.status = "error" if http is None or http >= 300 else "aborted"


def set_http_error(event: UsageEvent, http: int) -> None:
    """The status of a failed HTTP call, and whether it is known that nothing was billed."""
    event.status = "timeout" if http in TIMEOUT_STATUSES else "error"
    event.not_billed = http in UNBILLED_STATUSES and tokens_in(event) is None


def _identity(event: UsageEvent, known: dict[str, Any]) -> None:
    for name, value in known.items():
        field = _FIELDS.get(name)
        if field is not None:
            given = text(value)
            if given is not None:
                setattr(event, field, given)
    if event.model is None:
        event.model = text(known.get("model"))
    served_by = text(known.get("provider")) or providers.from_host(known.get("host"))
    if served_by is not None:
        event.provider = served_by.lower()
    if known.get("batch") is True:
        event.is_batch = True
    if "attempt" in known:
        event.attempt = integer(known["attempt"])


def _labels(event: UsageEvent, known: dict[str, Any]) -> None:
    tags = event.tags or {}
    if "metadata" in known:
        read_tags(known["metadata"], tags)
    if "tags" in known:
        read_tags(known["tags"], tags)
    for name in ("feature", "team", "environment"):
        value = text(known.get(name))
        if value is not None:
            tags[name] = value
    if "environment" not in tags and "env" in tags:
        tags["environment"] = tags["env"]
    deployment = text(known.get("deployment")) or tags.get("modelDeploymentName")
    if deployment is not None:
        event.price_context = {**(event.price_context or {}), "deployment": deployment}
    event.tags = tags or None
    if event.session_id is None:
        event.session_id = tags.get("session_id")
