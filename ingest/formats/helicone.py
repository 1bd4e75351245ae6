"""Helicone requests: what its query API and its export tool give of each call, alone, in a list or in a page.

Source: `HeliconeRequest` and its queries. A body that is kept says more than the columns; an answer from Helicone's own
cache names the request that it repeats, has no tokens and was not billed. Negative statuses are Helicone's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, Status, UsageEvent
from ingest.formats import providers
from ingest.formats.dressing import read_tags, set_http_error
from ingest.formats.fields import integer, table, text, usd_text
from ingest.formats.format import Format
from ingest.formats.gateway_names import provider_of
from ingest.formats.helicone_usage import read_usage
from ingest.formats.kept_bodies import event_of_bodies, has_usage
from ingest.formats.times import span_us, utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_NO_REFERENCE: Final = "00000000-0000-0000-0000-000000000000"
_OWN_STATUS: Final[dict[int, Status]] = {-1: "timeout", -2: "aborted", -3: "aborted", -4: "error"}
_SESSION: Final = "Helicone-Session-Id"
_MARKS: Final = (
    "request_created_at",
    "response_status",
    "request_path",
    "request_properties",
    "delay_ms",
    "cache_enabled",
)
_MS: Final = 1_000


def detect(record: Any) -> float:
    if type(record) is list:
        return detect(record[0]) if record and type(record[0]) is dict else 0.0
    if type(record) is not dict:
        return 0.0
    if "request_id" in record and sum(name in record for name in _MARKS) >= 3:
        return 1.0
    data = record.get("data")
    return detect(data[0]) if type(data) is list and data and type(data[0]) is dict and "data" not in data[0] else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event a request; lists and pages give all of theirs."""
    rows = record if type(record) is list else [record]
    if type(record) is dict and type(record.get("data")) is list and "request_id" not in record:
        rows = record["data"]
    for row in rows:
        if type(row) is not dict:
            yield Rejected("no Helicone request: not a JSON object")
        elif "request_id" not in row or not any(name in row for name in _MARKS):
            yield Rejected("no Helicone request: it has no request_id beside a time, status or path of its own")
        else:
            yield _event(row)


def _event(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    path = text(get("request_path"))
    event = event_of_bodies(_body(get("request_body")), _body(get("response_body")), path)
    warnings += event.warnings or ()
    named = (text(get(name)) for name in ("response_model", "model", "request_model"))
    event.model = next((name for name in named if name is not None), event.model)
    event.provider = _provider(row) or event.provider or providers.from_model(event.model)
    event.source_record = text(get("request_id"))
    if path is not None and "/embeddings" in path:
        event.operation = "embedding"
    event.start_us = utc_instant(get("request_created_at"), "request_created_at", warnings)
    event.end_us = utc_instant(get("response_created_at"), "response_created_at", warnings)
    _durations(row, event)
    event.cost_reported_usd = usd_text(_cost(row), "cost", warnings)
    _outcome(row, event)
    if not has_usage(event) and not event.not_billed:
        read_usage(row, event, warnings, providers.write_class(event.model, event.provider))
    _who(row, event)
    event.warnings = warnings or None
    return event


def _body(value: Any) -> Any:
    """A kept body; Helicone's note that it lies elsewhere is none."""
    return None if "helicone_message" in table(value) else value


def _cost(row: dict[str, Any]) -> Any:
    return row["costUSD"] if row.get("costUSD") is not None else row.get("cost")


def _provider(row: dict[str, Any]) -> str | None:
    served = providers.from_host(row.get("target_url"))
    return served if served is not None else provider_of(text(row.get("provider")))


def _durations(row: dict[str, Any], event: UsageEvent) -> None:
    if event.start_us is None:
        return
    lasted, waited = span_us(row.get("delay_ms"), _MS), span_us(row.get("time_to_first_token"), _MS)
    if event.end_us is None and lasted is not None:
        event.end_us = event.start_us + lasted
    if waited:
        event.first_token_us = event.start_us + waited


def _outcome(row: dict[str, Any], event: UsageEvent) -> None:
    reference = text(row.get("cache_reference_id"))
    if reference is not None and reference not in (_NO_REFERENCE, event.source_record):
        event.not_billed = True
        event.provider_response_id = None  # the body kept is that of the call it repeats
    status = integer(row.get("response_status"))
    if status is None:
        return
    if status < 0:
        event.status = _OWN_STATUS.get(status, "error")
        return
    event.http_status = status
    if status >= 400:
        set_http_error(event, status)


def _who(row: dict[str, Any], event: UsageEvent) -> None:
    event.user = text(row.get("request_user_id")) or event.user
    tags = event.tags or {}
    for name in ("request_properties", "properties"):
        read_tags(table(row.get(name)), tags)
    event.session_id = tags.pop(_SESSION, None) or event.session_id
    for key in [key for key in tags if key.startswith("Helicone-")]:
        tags[key.removeprefix("Helicone-").lower()] = tags.pop(key)
    prompt = text(row.get("prompt_id"))
    if prompt is not None:
        tags.setdefault("prompt_name", prompt)
    event.tags = tags or None


FORMAT: Final = Format(
    name="helicone",
    title="Helicone requests",
    convention="Cached, audio and reasoning tokens beside the two counts, or inside where that is the row's own cost.",
    billing="api",
    detect=detect,
    parse=parse,
)
