"""Portkey's log export: one JSON line a request, with the columns that were asked for.

Source: the export's documentation and the SDK. `cost` is in cents. Where the bodies were exported, the provider's own
usage in them is read; else the three counts are all there is. Answers of Portkey's own cache (`cache_status` HIT or
SEMANTIC HIT) were not billed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent, tokens_in, tokens_out
from ingest.formats import providers
from ingest.formats.dressing import read_tags, set_http_error
from ingest.formats.fields import count, integer, table, text, usd_text
from ingest.formats.format import Format
from ingest.formats.gateway_names import provider_of
from ingest.formats.kept_bodies import event_of_bodies, has_usage
from ingest.formats.times import span_us, utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_OWN: Final = ("ai_org", "ai_model", "req_units", "res_units", "total_units")
_MS: Final = 1_000


def detect(record: Any) -> float:
    if type(record) is list:
        return detect(record[0]) if record and type(record[0]) is dict else 0.0
    return 1.0 if type(record) is dict and sum(name in record for name in _OWN) >= 2 else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event a line; a list gives all of its rows."""
    for row in record if type(record) is list else [record]:
        if type(row) is not dict:
            yield Rejected("no Portkey log: not a JSON object")
        elif not any(name in row for name in _OWN):
            yield Rejected("no Portkey log: it has neither a model nor units")
        else:
            yield _event(row)


def _event(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    place = text(get("request_url"))
    event = event_of_bodies(_body(row, "request"), _body(row, "response"), place)
    warnings += event.warnings or ()
    event.model = text(get("ai_model")) or event.model
    event.provider = provider_of(text(get("ai_org"))) or providers.from_host(place) or event.provider
    event.source_record = text(get("id"))
    event.trace_id = text(get("trace_id"))
    event.start_us = utc_instant(get("created_at"), "created_at", warnings) or event.start_us
    lasted = span_us(get("response_time"), _MS)
    if event.start_us is not None and lasted is not None:
        event.end_us = event.start_us + lasted
    cost = usd_text(get("cost"), "cost", warnings)
    if cost is not None and text(get("cost_currency")) in (None, "USD", "usd"):
        event.cost_reported_usd = format(Decimal(cost).scaleb(-2), "f")
    if "hit" in str(get("cache_status")).lower():
        event.not_billed = True
        event.provider_response_id = None  # the answer kept is that of the call it repeats
    if not has_usage(event):
        _counts(row, event, warnings)
    _outcome(row, event)
    _who(row, event)
    event.warnings = warnings or None
    return event


def _body(row: dict[str, Any], name: str) -> Any:
    """A body under its name or as a flattened column."""
    return row.get(name) or row.get(f"{name}.body")


def _counts(row: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    given = count(row.get("req_units"), "input", warnings), count(row.get("res_units"), "output", warnings)
    if not any(given):
        return
    event.tok_input, event.tok_output = given
    event.tok_cache_read = event.tok_reasoning = None
    if event.tok_input and event.operation != "embedding":
        warnings.append("cache_not_logged")
    event.tok_total_reported = count(row.get("total_units"), "total", warnings)
    if event.tok_total_reported not in (None, (tokens_in(event) or 0) + (tokens_out(event) or 0)):
        warnings.append("sum_mismatch")


def _outcome(row: dict[str, Any], event: UsageEvent) -> None:
    event.http_status = integer(row.get("response_status_code"))
    if event.http_status is not None and event.http_status >= 400:
        set_http_error(event, event.http_status)
    elif str(row.get("is_success")).lower() in ("false", "0"):
        event.status = "error"
    retries = integer(row.get("retry_success_count"))
    if retries is not None and retries > 0:
        event.attempt = retries + 1


def _who(row: dict[str, Any], event: UsageEvent) -> None:
    tags = event.tags or {}
    read_tags(table(row.get("metadata")), tags)
    event.user = tags.pop("_user", None) or event.user
    if "environment" not in tags and "_environment" in tags:
        tags["environment"] = tags.pop("_environment")
    for key, name in (("prompt_slug", "prompt_name"), ("config", "portkey_config")):
        value = text(row.get(key))
        if value is not None:
            tags.setdefault(name, value)
    event.tags = tags or None


FORMAT: Final = Format(
    name="portkey",
    title="Portkey log export",
    convention="The exported body's own usage, else two counts whose cached part is not known; cost in cents.",
    billing="api",
    detect=detect,
    parse=parse,
)
