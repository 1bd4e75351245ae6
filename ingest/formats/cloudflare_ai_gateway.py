"""Cloudflare AI Gateway logs: entries of its logs API, alone, in a list or in a page.

Source: the SDK's log types. Answers of the gateway's own cache carry the tokens of the first call and were not billed.
`step` counts the gateway's own fallbacks. Two counts are all there is: a provider's cache reads cannot be told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import providers
from ingest.formats.dressing import read_tags, set_http_error
from ingest.formats.fields import count, integer, table, text, usd_text
from ingest.formats.format import Format
from ingest.formats.gateway_names import provider_of
from ingest.formats.times import span_us, utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_MS: Final = 1_000


def detect(record: Any) -> float:
    rows = _rows(record)
    row = rows[0] if rows else None
    return 1.0 if type(row) is dict and {"tokens_in", "tokens_out", "cached"} <= row.keys() else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event an entry; lists and pages give all of theirs."""
    for row in _rows(record):
        if type(row) is not dict:
            yield Rejected("no Cloudflare AI Gateway log: not a JSON object")
        elif "tokens_in" not in row and "tokens_out" not in row:
            yield Rejected("no Cloudflare AI Gateway log: it has no tokens")
        else:
            yield _event(row)


def _rows(record: Any) -> list[Any]:
    if type(record) is list:
        return record
    if type(record) is dict and "tokens_in" not in record and type(record.get("result")) is list:
        return list(record["result"])
    return [record]


def _event(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    model = text(get("model"))
    event = UsageEvent(
        source_record=text(get("id")),
        provider=provider_of(text(get("provider"))) or providers.from_model(model),
        model=model,
        start_us=utc_instant(get("created_at"), "created_at", warnings),
        not_billed=get("cached") is True,
        cost_reported_usd=usd_text(get("cost"), "cost", warnings),
        http_status=integer(get("status_code")),
    )
    if "embeddings" in str(get("path")) or "embedding" in str(get("model_type")).lower():
        event.operation = "embedding"
    lasted = span_us(get("duration"), _MS)
    if event.start_us is not None and lasted is not None:
        event.end_us = event.start_us + lasted
    given = count(get("tokens_in"), "input", warnings), count(get("tokens_out"), "output", warnings)
    if any(given):
        event.tok_input, event.tok_output = given
        if event.tok_input and event.operation != "embedding":
            warnings.append("cache_not_logged")
    if not event.not_billed:
        _outcome(row, event)
    step = integer(get("step"))
    if step is not None and step > 0:
        event.attempt = step + 1
    tags: dict[str, str] = {}
    read_tags(table(get("metadata")), tags)
    event.tags = tags or None
    event.warnings = warnings or None
    return event


def _outcome(row: dict[str, Any], event: UsageEvent) -> None:
    if event.http_status is not None and event.http_status >= 400:
        set_http_error(event, event.http_status)
    elif row.get("success") is False:
        event.status = "error"


FORMAT: Final = Format(
    name="cloudflare_ai_gateway",
    title="Cloudflare AI Gateway logs",
    convention="tokens_in and tokens_out are all there is; the cached part of tokens_in is not known.",
    billing="api",
    detect=detect,
    parse=parse,
)
