"""Anthropic's usage: pages of the Admin API's usage report, of the newer analytics usage, and the console's export.

Source: the Admin API's documentation and the SDK's analytics types. All classes are disjoint. The priority tier stands
here and never in the cost report.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BilledLine
from app.core.usage import Rejected
from ingest.formats.bills.values import (
    PAYER,
    BadLineError,
    amount,
    day,
    items,
    nested,
    of_pages,
    pages,
    rejected,
    scope_of_account,
    scope_of_item,
    text,
    whole,
)
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

REPORT: Final = "anthropic_usage"
_FIELDS: Final = (
    ("input", "uncached_input_tokens"),
    ("cache_read", "cache_read_input_tokens"),
    ("cache_write_5m", "cache_creation.ephemeral_5m_input_tokens"),
    ("cache_write_1h", "cache_creation.ephemeral_1h_input_tokens"),
    ("output", "output_tokens"),
    ("web_search", "server_tool_use.web_search_requests"),
)
_COLUMNS: Final = {
    "uncached_input_tokens": "usage_input_tokens_no_cache",
    "cache_read_input_tokens": "usage_input_tokens_cache_read",
    "cache_creation.ephemeral_5m_input_tokens": "usage_input_tokens_cache_write_5m",
    "cache_creation.ephemeral_1h_input_tokens": "usage_input_tokens_cache_write_1h",
    "output_tokens": "usage_output_tokens",
    "server_tool_use.web_search_requests": "web_search_count",
    "model": "model_version",
    "workspace_id": "workspace",
    "service_tier": "usage_type",
}


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    if "usage_date_utc" in record and "usage_output_tokens" in record:
        return 1.0
    if any("uncached_input_tokens" in result for _, result in pages(record)):
        return 1.0
    return 1.0 if any(isinstance(item.get("usage"), dict) for item in _analytics(record)) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The lines of a page, a bucket, an analytics item or a row of the export."""
    found = False
    if isinstance(record, dict):
        if "usage_date_utc" in record:
            found = True
            row = {name: record.get(column) for name, column in _COLUMNS.items()}
            yield from _lines(record["usage_date_utc"], {**record, **row}, page=False)
        for bucket, result in pages(record):
            found = True
            yield from _lines(bucket.get("starting_at"), result, page=True)
        for item in _analytics(record):
            group, usage = item.get("group"), item.get("usage")
            if isinstance(usage, dict):
                found = True
                one = {**(group if isinstance(group, dict) else {}), **usage}
                page = "data" in record
                scope = scope_of_item(item, ("usage",)) if page else ""
                yield from _lines(item.get("starting_at"), one, page=page, scope=scope)
    if not found:
        yield Rejected("an empty page of a usage report", benign=isinstance(record, dict) and "data" in record)


def _analytics(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = record["data"] if isinstance(record.get("data"), list) else [record]
    yield from (item for item in items(listed) if "starting_at" in item and "results" not in item)


def _lines(
    starts: Any, result: dict[str, Any], *, page: bool, scope: str = ""
) -> Iterator[UsageEvent | BilledLine | Rejected]:
    try:
        on = day(starts, "the start of the bucket")
        found = [(name, amount(nested(result, field), field) or Decimal(0)) for name, field in _FIELDS]
        requests = whole(result.get("requests"), "requests")
    except BadLineError as error:
        yield rejected(error)
        return
    tier = text(result.get("service_tier"))
    kept = [item for item in found if item[1]]
    for number, (name, quantity) in enumerate(kept):
        yield BilledLine(
            report=REPORT,
            scope=scope or scope_of_account(text(result.get(PAYER)), text(result.get("workspace_id"))),
            payer=text(result.get(PAYER)),
            day=on,
            provider="anthropic",
            account=text(result.get("workspace_id")),
            model=text(result.get("model")),
            usage_class=name,
            region=text(result.get("inference_geo")),
            service_tier="standard" if tier == "batch" else tier,
            is_batch=None if tier is None else tier == "batch",
            unit="searches" if name == "web_search" else "tokens",
            quantity=quantity,
            requests=requests if number == 0 else None,
            page=page,
        )
    if not kept:
        yield Rejected("a group without usage", benign=True)


FORMAT = Format(
    name="anthropic_usage_report",
    title="Anthropic usage report",
    convention="uncached input, cache reads, cache writes by lifetime and output are disjoint; no cost.",
    billing="api",
    detect=detect,
    parse=of_pages(parse),
)
