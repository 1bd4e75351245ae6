"""LiteLLM's `model_prices_and_context_window.json`: USD per token in one flat object a model, contexts in the names.

Field names: `<base>[_above_<N>k_tokens][_<context>]`. Source: https://github.com/BerriAI/litellm (MIT). It has no
dates, so its rates are those of the day it was taken. Proxy records ({model, input_cost_per_token, ...}) are read too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from app.pricing.rates import per_mtok, per_unit
from app.pricing.tables.table import PriceTable, Problem, TableRow, UnreadableError, amount, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

KIND: Final = "litellm"

_TOKENS: Final = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h",
    "cache_creation_input_token_cost_above_12hr": "cache_write_12h",
    "input_cost_per_audio_token": "input_audio",
    "cache_read_input_audio_token_cost": "cache_read_audio",
    "input_cost_per_image_token": "input_image",
    "output_cost_per_reasoning_token": "reasoning",
    "output_cost_per_audio_token": "output_audio",
    "output_cost_per_image_token": "output_image",
}
_FEES: Final = {
    ("rerank", "input_cost_per_query"): "rerank",
    ("ocr", "ocr_cost_per_page"): "page",
    ("audio_transcription", "input_cost_per_second"): "second",
    ("audio_speech", "input_cost_per_character"): "character",
    ("image_generation", "output_cost_per_image"): "image",
    ("", "input_cost_per_request"): "request",
}
_CONTEXTS: Final = {
    None: "",
    "batches": "batch",
    "flex": "flex",
    "priority": "priority",
    "ultrafast": "service_tier=ultrafast",
    "balanced": "service_tier=balanced",
}
_FIELD: Final = re.compile(
    rf"({'|'.join(sorted(_TOKENS, key=len, reverse=True))})(?:_above_(\d+)k_tokens)?"
    r"(?:_(batches|flex|priority|ultrafast|balanced))?"
)
_SEARCH: Final = "search_context_cost_per_query"
_MONEY: Final = re.compile(r"cost|price|multiplier")
_NO_RATE: Final = frozenset({"deprecation_source", "cost_map"})
_AZURE_PLACES: Final = {
    "us": "deployment=DataZoneStandard",
    "eu": "deployment=DataZoneStandard",
    "apac": "deployment=DataZoneStandard",
    "global": "",
    "global-standard": "",
}
_AWS_PLACE: Final = re.compile(r"(?:us|eu|ap|ca|sa|me|af|il|mx|us-gov)-[a-z]+-\d")


def recognised(content: Any) -> bool:
    """Whether decoded JSON is such a table, or one or several such records."""
    if isinstance(content, dict) and "sample_spec" in content:
        return True
    first = content[0] if isinstance(content, list) and content else content
    entries = [first] if _is_record(first) else list(content.values())[:50] if isinstance(content, dict) else []
    return any(isinstance(entry, dict) and any(_FIELD.fullmatch(str(key)) for key in entry) for entry in entries)


def _is_record(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("model") or entry.get("model_name"), str)


def read(name: str, content: Any, as_of_us: int) -> PriceTable:
    """The table of decoded JSON (numbers as Decimal, int or text)."""
    rows: list[TableRow] = []
    problems: list[Problem] = []
    unread: Counter[str] = Counter()
    for key, entry in _entries(content):
        if key == "sample_spec":
            continue
        try:
            rows += _rows(key, entry, unread)
        except UnreadableError as error:
            problems.append(Problem(key, f"{error}; nothing of this entry is taken"))
    whole = isinstance(content, dict) and "sample_spec" in content
    return PriceTable(
        kind=KIND, name=name, as_of_us=as_of_us, rows=rows, problems=problems, unread=dict(unread), whole=whole
    )


def _entries(content: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    items = [content] if _is_record(content) else content
    if isinstance(items, dict):
        yield from ((str(key), entry) for key, entry in items.items() if isinstance(entry, dict))
        return
    for entry in items:
        if _is_record(entry):
            given = entry.get("litellm_params") or entry.get("model_info") or {}
            yield str(entry.get("model") or entry["model_name"]), {**given, **entry}


def _rows(key: str, entry: dict[str, Any], unread: Counter[str]) -> list[TableRow]:
    by_ctx: dict[str, dict[str, dict[int, Decimal]]] = defaultdict(lambda: defaultdict(dict))
    for field, value in entry.items():
        if value is None:
            continue
        found = _FIELD.fullmatch(field)
        if found is not None:
            base, above, context = found.groups()
            steps = by_ctx[_CONTEXTS[context]][_TOKENS[base]]
            steps[-1 if above is None else int(above) * 1000] = per_mtok(amount(field, value) * 1_000_000)
        elif (fee := _fee(str(entry.get("mode") or ""), field, value)) is not None:
            by_ctx[""][fee[0]][-1] = fee[1]
        elif _MONEY.search(field) and field not in _NO_RATE:
            unread[field] += 1
    provider, model, place = _named(key, entry.get("litellm_provider"))
    return [
        TableRow(
            provider=provider,
            model=model,
            ctx=" ".join(part for part in (ctx, place) if part),
            prices=prices,
            where=key,
            source=str(entry.get("source") or ""),
        )
        for ctx, steps in by_ctx.items()
        if (prices := ordered(steps))
    ]


def _fee(mode: str, field: str, value: Any) -> tuple[str, Decimal] | None:
    if field == _SEARCH and isinstance(value, dict):
        rates = {amount(f"{field}.{size}", rate) for size, rate in value.items()}
        return ("web_search", per_unit(rates.pop())) if len(rates) == 1 else None
    for (wanted, name), fee in _FEES.items():
        if name == field and wanted in ("", mode):
            return fee, per_unit(amount(field, value))
    return None


def _named(key: str, said: Any) -> tuple[str, str, str]:
    """Provider, name and place (a part of a price context) of an entry's key."""
    head, slash, rest = key.partition("/")
    provider = str(said or (head if slash else "")).lower()
    provider = "vertex_ai" if provider.startswith("vertex_ai-") else provider
    provider = "bedrock" if provider.startswith("bedrock") else provider
    name = rest if slash and (head == said or head in (provider, "bedrock", "vertex_ai", "azure_ai")) else key
    first, slash, rest = name.partition("/")
    if provider == "azure" and slash and first in _AZURE_PLACES:
        return provider, rest, _AZURE_PLACES[first]
    if provider == "bedrock" and slash and _AWS_PLACE.fullmatch(first):
        return provider, rest, f"region={first}"
    return provider, name, ""
