"""Column maps: which column of an unknown table is which field of a request, given by a person or proposed from names.

A map is text, inline or in a file of the same lines, YAML or JSON: `input_tokens=ContextTokens, timestamp=TIMESTAMP`.
A column may be a dotted path into nested objects; `model:=gpt-4o` gives every row the same value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import yaml

from app.core.errors import InputError, UsageError
from ingest.formats.fields import integer
from ingest.formats.times import instant

# Each field with what it holds; the names are also the documented columns of the generic layout.
FIELDS: Final[dict[str, str]] = {
    "timestamp": "start of the call: ISO 8601 or seconds, milliseconds, microseconds, nanoseconds since 1970",
    "end_time": "end of the call, written like timestamp",
    "first_token_time": "arrival of the first token, written like timestamp",
    "latency_ms": "duration in milliseconds, where there is no end_time",
    "model": "the model's name as sent or answered",
    "provider": "who served the call",
    "input_tokens": "all prompt tokens, cached and written ones included",
    "uncached_input_tokens": "prompt tokens neither read from nor written to a cache",
    "cache_read_tokens": "prompt tokens read from the provider's cache",
    "cache_write_tokens": "prompt tokens written to the cache with the provider's default lifetime",
    "cache_write_1h_tokens": "prompt tokens written with a lifetime of one hour",
    "output_tokens": "all answer tokens, reasoning included",
    "visible_output_tokens": "answer tokens without reasoning",
    "reasoning_tokens": "answer tokens spent on reasoning",
    "total_tokens": "the provider's own total",
    "cost_usd": "what the source says the call cost, in US dollars",
    "calls": "how many calls the row sums, in a grouped export",
    "request_id": "the source's id of the call",
    "response_id": "the provider's id of the response",
    "session_id": "the conversation or session",
    "trace_id": "the trace",
    "user": "who asked",
    "api_key": "the key used, or its hash",
    "account": "organisation, workspace or project",
    "feature": "the product feature",
    "team": "the team",
    "environment": "production, staging, ...",
    "service_tier": "tier that served the call",
    "is_batch": "true where a batch API served the call",
    "status": "ok, error, aborted, timeout, or an HTTP status",
    "error": "error text",
    "max_tokens": "the limit asked for",
    "temperature": "the temperature asked for",
    "prompt": "the prompt: text, or a JSON list of messages",
    "output": "the answer's text",
}

_ALIASES: Final[dict[str, str]] = {
    # when it began before when it was written down, and the day alone last
    "timestamp": "start start_time start_at started_at started start_timestamp start_ts start_ms start_date begin "
    "begin_time begin_at begin_ts began began_at request_time request_timestamp request_start "
    "request_start_time request_started_at requested_at event_time event_timestamp call_time called_at "
    "sent_at time datetime date_time ts timestamp_utc timestamp_s timestamp_ms timestamp_us timestamp_ns "
    "time_ms ts_ms ts_us unix_time unix_timestamp epoch epoch_ms timegenerated occurred_at received_at "
    "created created_at created_time created_ts creation_time create_time logged_at log_time recorded_at "
    "inserted_at date day",
    "end_time": "end end_at ended_at ended end_timestamp end_ts end_ms end_date completed_at completed completion_time "
    "finished_at finished finish_time stop_time stopped_at response_timestamp responded_at response_created_at",
    "first_token_time": "completion_start_time first_token_at first_token_timestamp",
    "latency_ms": "latency duration_ms duration response_time_ms elapsed_ms",
    "model": "model_name modelname model_id response_model request_model llm_model deployment engine",
    "provider": "provider_name vendor llm_provider custom_llm_provider",
    "input_tokens": "prompt_tokens prompttokens tokens_prompt tokens_in input contexttokens context_tokens in_tokens "
    "num_prompt_tokens request_tokens inputtokens input_token_count native_tokens_prompt",
    "cache_read_tokens": "cached_tokens cached_input_tokens cache_read_input_tokens tokens_cached cache_read cacheread "
    "cached_prompt_tokens prompt_cache_hit_tokens cached native_tokens_cached",
    "cache_write_tokens": "cache_creation_input_tokens cache_creation_tokens cache_write cachewrite "
    "cache_write_5m_tokens",
    "cache_write_1h_tokens": "ephemeral_1h_input_tokens cache_creation_1h_tokens",
    "output_tokens": "completion_tokens completiontokens tokens_completion tokens_out output generatedtokens "
    "generated_tokens out_tokens response_tokens outputtokens output_token_count native_tokens_completion",
    "reasoning_tokens": "tokens_reasoning thinking_tokens reasoning native_tokens_reasoning",
    "total_tokens": "totaltokens tokens_total total_token_count tokens total",
    "cost_usd": "cost total_cost cost_total spend price amount_usd",
    "calls": "requests num_requests n_requests request_count requests_count api_requests num_model_requests "
    "calls_count call_count num_calls n_calls api_calls total_requests total_calls number_of_requests number_of_calls",
    "request_id": "id requestid call_id log_id uuid generation_id",
    "response_id": "responseid completion_id",  # a message of a chat may take several calls
    "session_id": "sessionid conversation_id conversationid thread_id session",
    "trace_id": "traceid trace",
    "user": "user_id userid end_user customer customer_id",
    "api_key": "apikey key key_id api_key_id api_key_name key_name",
    "account": "organization organization_id org project project_id workspace workspace_id",
    "feature": "feature_name use_case usecase app app_name application",
    "team": "team_id team_name department",
    "environment": "env stage",
    "service_tier": "tier servicetier",
    "is_batch": "batch",
    "status": "status_code statuscode http_status response_status",
    "error": "error_message errormessage",
    "max_tokens": "max_output_tokens max_completion_tokens",
    "prompt": "input_text prompt_text messages request_messages",
    "output": "output_text completion response_text completion_text",
}
TIMES: Final = ("timestamp", "end_time", "first_token_time")
_BESIDE_INPUT: Final = ("cache_read_input_tokens", "cache_creation_input_tokens", "cacheread", "cachewrite")
_ITEM: Final = re.compile(r"\s*([a-z0-9_]+)\s*(:=|=|:)\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """`columns`: field to column (or dotted path); `constants`: field to the value that every row has."""

    columns: Mapping[str, str]
    constants: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The map as `--map` takes it."""
        items = [f"{name}={column}" for name, column in self.columns.items()]
        return ", ".join(items + [f"{name}:={value}" for name, value in self.constants.items()])


def from_argument(argument: str) -> ColumnMap:
    """The map that `--map` names: a file, or the map itself.

    Raises:
        UsageError: no pairs, an unknown field, or the same field twice.
        InputError: a file that cannot be read.
    """
    if "=" not in argument and argument.lstrip()[:1] != "{":
        try:
            argument = Path(argument).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"The column map {argument} cannot be read: {error}. Give a readable text file."
            ) from error
    columns: dict[str, str] = {}
    constants: dict[str, str] = {}
    for name, fixed, value in _items(argument):
        if name not in FIELDS:
            raise UsageError(f"{name!r} is no field of a column map. Fields: {', '.join(FIELDS)}.")
        if name in columns or name in constants:
            raise UsageError(f"The column map names {name!r} twice; keep one.")
        (constants if fixed else columns)[name] = value
    if not columns:
        raise UsageError("The column map names no column. Write pairs such as input_tokens=ContextTokens.")
    return ColumnMap(columns, constants)


def propose(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> ColumnMap:
    """The map that the columns' names and the numbers of some rows suggest; empty where nothing is recognised.

    Args:
        columns: names as they stand in the file; columns that hold objects are looked into.
        rows: a few rows, used to tell whether cached tokens are inside or beside the input.
    """
    known: dict[str, str] = {}
    for column in (*columns, *_nested(rows)):
        known.setdefault(_normal(column.rpartition(".")[2]), column)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in FIELDS:
        asked = map(_normal, (name, *_ALIASES.get(name, "").split()))
        named = [match for alias in asked if (match := known.get(alias)) is not None and match not in taken]
        if name in TIMES:  # a time of the day alone, or a count, is no moment
            named.sort(key=lambda column: not _tells_moment(column, rows))
        if named:
            found[name] = named[0]
            taken.add(named[0])
    return ColumnMap(_by_convention(found, rows))


@lru_cache(maxsize=256)
def columns_named(field_name: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Which of some columns may be a field by their names, the likeliest first."""
    known: dict[str, str] = {}
    for column in columns:
        known.setdefault(_normal(column), column)
    asked = map(_normal, (field_name, *_ALIASES[field_name].split()))
    return tuple(dict.fromkeys(match for alias in asked if (match := known.get(alias)) is not None))


def _tells_moment(column: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    return any(instant(value_at(row, column), column, []) is not None for row in rows[:20])


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """The value of a column or of a dotted path; None where there is none."""
    if path in row:
        return row[path]
    value: Any = row
    for step in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value


def _by_convention(found: dict[str, str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Input becomes uncached input where the names or the totals say that cached tokens stand beside it."""
    caches = [found[name] for name in ("cache_read_tokens", "cache_write_tokens") if name in found]
    if "input_tokens" not in found or not caches:
        return found
    beside = any(_normal(column.rpartition(".")[2]) in map(_normal, _BESIDE_INPUT) for column in caches)
    if "total_tokens" in found:
        votes = [vote for row in rows if (vote := _vote(row, found, caches)) is not None]
        beside = sum(votes) * 2 > len(votes) if votes else beside
    if not beside:
        return found
    return {("uncached_input_tokens" if name == "input_tokens" else name): column for name, column in found.items()}


def _vote(row: Mapping[str, Any], found: dict[str, str], caches: list[str]) -> bool | None:
    """True where the total of a row holds the cached tokens beside the input, None where the row cannot tell."""
    total, given_in = integer(value_at(row, found["total_tokens"])), integer(value_at(row, found["input_tokens"]))
    given_out = integer(value_at(row, found["output_tokens"])) if "output_tokens" in found else 0
    cached = sum(integer(value_at(row, column)) or 0 for column in caches)
    if total is None or given_in is None or not cached:
        return None
    if total == given_in + (given_out or 0):
        return False
    return True if total == given_in + (given_out or 0) + cached else None


def _nested(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    paths: dict[str, None] = {}

    def visit(value: Mapping[str, Any], prefix: str, depth: int) -> None:
        for key, inner in value.items():
            if isinstance(inner, Mapping) and depth < 4:
                visit(inner, f"{prefix}{key}.", depth + 1)
            elif prefix:
                paths[f"{prefix}{key}"] = None

    for row in rows[:20]:
        visit(row, "", 0)
    return list(paths)


def _normal(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _items(text: str) -> list[tuple[str, bool, str]]:
    """The pairs of a map: (field, whether the value is fixed, column or value)."""
    if text.lstrip()[:1] == "{":
        return _items_of_object(text)
    items: list[tuple[str, bool, str]] = []
    for piece in re.split(r"[,\n]", text):
        line = piece.split(" #", 1)[0].strip()
        if not line or line.startswith("#"):
            continue
        match = _ITEM.fullmatch(line)
        if match is None or not match.group(3):
            raise UsageError(
                f"{line!r} is no pair of a column map. Write field=column, or field:=value for a fixed value."
            )
        items.append((match.group(1), match.group(2) == ":=", match.group(3).strip("\"'")))
    return items


def _items_of_object(text: str) -> list[tuple[str, bool, str]]:
    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"The column map is no valid JSON or YAML: {error}") from error
    if not isinstance(loaded, dict):
        raise UsageError("The column map must be an object of fields and columns.")
    return [(str(name), False, str(column)) for name, column in loaded.items()]
