"""OpenAI's organisation usage: pages and buckets of `/v1/organization/usage/*`, and the usage export of the dashboard.

Source: the SDK's `types/admin/organization/usage_*`. Input tokens hold cached, cache-written, audio and image ones;
tokens by modality are uncached. Bodies of before the counts by modality came (2025) counted text alone, with audio
beside it: real ones have more audio tokens than tokens. There is no cost: that stands in the cost report.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.billed import BilledLine
from app.core.usage import Rejected
from ingest.formats.bills.values import (
    BadLineError,
    amount,
    day,
    of_pages,
    pages,
    rejected,
    scope_of_account,
    text,
    whole,
)
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

_RESULT: Final = "organization.usage."
_BY_MODALITY: Final = frozenset({"input_text_tokens", "input_uncached_tokens", "output_text_tokens"})
# Where a kind of usage counts its units: (class, field, unit).
_UNITS: Final = {
    "embeddings": ("input", "input_tokens", "tokens"),
    "moderations": ("input", "input_tokens", "tokens"),
    "images": ("other", "images", "images"),
    "audio_speeches": ("other", "characters", "characters"),
    "audio_transcriptions": ("other", "seconds", "seconds"),
    "vector_stores": ("other", "usage_bytes", "bytes"),
    "code_interpreter_sessions": ("other", "num_sessions", "sessions"),
    "file_searches": ("other", "num_requests", "searches"),
    "web_searches": ("web_search", "num_requests", "searches"),
}


def detect(record: Any) -> float:
    if not isinstance(record, dict):
        return 0.0
    if any(str(result.get("object", "")).startswith(_RESULT) for _, result in pages(record)):
        return 1.0
    if {"start_time", "num_model_requests", "input_tokens"} <= record.keys():
        return 1.0
    return 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | BilledLine | Rejected]:
    """The lines of a page, a bucket or a row of the export; a result without usage gives none."""
    found = False
    if isinstance(record, dict):
        for bucket, result in pages(record):
            found = True
            yield from _lines(bucket, result, page=True)
        if not found and "num_model_requests" in record:
            found = True
            yield from _lines(record, {"object": f"{_RESULT}completions.result", **record}, page=False)
    if not found:
        yield Rejected("an empty page of a usage report", benign=isinstance(record, dict) and "data" in record)


def _lines(
    bucket: dict[str, Any], result: dict[str, Any], *, page: bool
) -> Iterator[UsageEvent | BilledLine | Rejected]:
    kind = str(result.get("object", "")).removeprefix(_RESULT).removesuffix(".result")
    try:
        quantities = _completions(result) if kind == "completions" else _of_kind(kind, result)
        on = day(bucket.get("start_time"), "start_time")
        requests = whole(result.get("num_model_requests"), "num_model_requests")
    except BadLineError as error:
        yield rejected(error)
        return
    batch = text(result.get("batch")) if not isinstance(result.get("batch"), bool) else str(result["batch"])
    kept = [item for item in quantities if item[1]]
    if not kept and requests:
        kept = [("request", Decimal(requests), "requests")]
    for number, (name, quantity, unit) in enumerate(kept):
        yield BilledLine(
            report=f"openai_usage_{kind}",
            scope=scope_of_account(None, text(result.get("project_id"))),
            day=on,
            provider="openai",
            account=text(result.get("project_id")),
            model=text(result.get("model")),
            usage_class=name,
            service_tier=text(result.get("service_tier")),
            is_batch=None if batch is None else batch.lower() == "true",
            unit=unit,
            quantity=quantity,
            requests=requests if number == 0 else None,
            page=page,
        )


def _of_kind(kind: str, result: dict[str, Any]) -> list[tuple[str, Decimal, str]]:
    if kind not in _UNITS:
        raise BadLineError(f"usage of the kind {kind[:40]!r} is not known")
    name, field, unit = _UNITS[kind]
    return [(name, amount(result.get(field), field) or Decimal(0), unit)]


def _completions(result: dict[str, Any]) -> list[tuple[str, Decimal, str]]:
    def given(field: str) -> Decimal:
        return amount(result.get(field), field) or Decimal(0)

    cached, cached_audio = given("input_cached_tokens"), given("input_cached_audio_tokens")
    short, long = given("input_cache_write_30m_tokens"), given("input_cache_write_12h_tokens")
    written = max(given("input_cache_write_tokens"), short + long)
    audio, image = given("input_audio_tokens"), given("input_image_tokens")
    uncached = amount(result.get("input_uncached_tokens"), "input_uncached_tokens")
    if uncached is None:
        uncached = given("input_tokens") - cached - written
    spoken, drawn = given("output_audio_tokens"), given("output_image_tokens")
    answer = given("output_tokens")
    if _BY_MODALITY & result.keys():
        uncached, answer = uncached - audio - image, answer - spoken - drawn
    if min(uncached, cached - cached_audio, answer) < 0:
        raise BadLineError("its token classes are larger than their sums")
    return [
        ("input", uncached, "tokens"),
        ("cache_read", cached - cached_audio, "tokens"),
        ("cache_read_audio", cached_audio, "tokens"),
        ("cache_write_30m", short, "tokens"),
        ("cache_write_12h", long, "tokens"),
        ("cache_write", written - short - long, "tokens"),
        ("input_audio", audio, "tokens"),
        ("input_image", image, "tokens"),
        ("output", answer, "tokens"),
        ("output_audio", spoken, "tokens"),
        ("output_image", drawn, "tokens"),
    ]


FORMAT = Format(
    name="openai_org_usage",
    title="OpenAI organisation usage",
    convention="input_tokens holds cached, cache-written, audio and image tokens; they are taken apart; no cost.",
    billing="api",
    detect=detect,
    parse=of_pages(parse),
)
