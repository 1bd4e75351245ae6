"""The rows of one shard while it grows: plain lists, turned into Polars frames once.

Partial snapshots of one call are reduced here first: the fuller one stays and takes what only the other knew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.core.usage import INPUT_CLASSES, TOKEN_CLASSES, UsageEvent, UsagePart
from app.warehouse.origins import united_tags
from ingest.redact import redact_columns, text_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.usage import SpanLink

EXTRA: Final = (
    "request_key",
    "chunk_no",
    "origin_line",
    "record_id",
    "user_hash",
    "api_key_hash",
    "alias",
    "tags_json",
    "units_json",
    "context_json",
    "params_hash",
    "stop_hash",
    "exact_key",
    "prefix_scope",
    "prompt_bytes",
    "out_hash",
    "warnings_text",
    "tie",
    "cost_reported_pusd",
)
_NAMES: Final = UsageEvent.__struct_fields__ + EXTRA
_WIDTH: Final = len(_NAMES)
_AT: Final = {name: index for index, name in enumerate(_NAMES)}
_FROM: Final = {
    "source_record": "record_id",
    "api_key_alias": "alias",
    "tags": "tags_json",
    "units": "units_json",
    "price_context": "context_json",
    "warnings": "warnings_text",
}

_INTEGERS = (
    "request_key chunk_no origin_line user_hash api_key_hash params_hash max_tokens n seed stop_hash start_us "
    "first_token_us end_us itl_p50_us itl_p99_us http_status attempt "
    + " ".join(TOKEN_CLASSES)
    + " tok_total_reported cost_reported_pusd exact_key prefix_scope prompt_bytes out_hash tie"
)
_TEXTS = (
    "source_record provider_response_id trace_id parent_id session_id account api_key_alias tags provider model "
    "operation region service_tier response_format reasoning_effort price_context status finish_reason retry_of error "
    "units warnings"
)
COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    **dict.fromkeys(_INTEGERS.split(), pl.Int64),
    **dict.fromkeys(_TEXTS.split(), pl.String),
    **dict.fromkeys(("is_batch", "stream", "not_billed"), pl.Boolean),
    **dict.fromkeys(("temperature", "top_p"), pl.Float64),
}
# Facts that name or count nothing by their own text; everything else may carry a secret.
_CLEAN: Final = {"operation", "status", "warnings", "units", "price_context", "service_tier", "region", "provider"}
_MAX_ERROR: Final = 512
_MOST_TOKENS: Final = 2**39 - 1
_TOKENS: Final = slice(_AT[TOKEN_CLASSES[0]], _AT[TOKEN_CLASSES[-1]] + 1)
# What a fuller snapshot takes over from the other where it knows nothing itself; never tokens or money.
_FILLED: Final = tuple(
    index
    for name, index in _AT.items()
    if name not in TOKEN_CLASSES
    and name
    not in ("tok_total_reported", "cost_reported_usd", "cost_reported_pusd", "warnings", "warnings_text", "error")
    and name not in ("request_key", "chunk_no", "origin_line", "record_id", "source_record", "tie", "status")
    and name not in ("prompt_bytes", "prefix_scope", "exact_key")
)
_PROMPT: Final = tuple(_AT[name] for name in ("exact_key", "prefix_scope", "prompt_bytes"))
_PART_FIELDS: Final = UsagePart.__struct_fields__
_TAGS: Final = _AT["tags_json"]
_CHUNK: Final = _AT["chunk_no"]
_REPORTED: Final = _AT["cost_reported_pusd"]

LINK_COLUMNS: Final = ("trace_id", "span_id", "parent_id")
SEGMENT_COLUMNS: Final = {
    "slot": pl.Int64,
    "pos": pl.Int32,
    "role": pl.String,
    "kind": pl.String,
    "seg_hash": pl.Int64,
    "chain_hash": pl.Int64,
    "bytes": pl.Int64,
    "bytes_upto": pl.Int64,
    "is_boundary": pl.Boolean,
}

FORMER_COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    **dict.fromkeys(("request_key", "former_key", "chunk_no"), pl.Int64),
    **dict.fromkeys(("source_record", "provider_response_id"), pl.String),
    "start_us": pl.Int64,
    "strong": pl.Boolean,
}


class Rows:
    """Collects requests, segments, lines, texts and parts; `frames()` gives them as they go into the shard."""

    def __init__(self) -> None:
        # The requests' values one after another, _WIDTH for each: a column is a stride, and no row is an object.
        self._values: list[Any] = []
        self._by_key: dict[int, int] = {}
        self._prompt_slot: list[int] = []  # of each request: the slot whose segments are its own
        self._next = 0
        self._segments: list[tuple[Any, ...]] = []
        # Takes one row in the order of SEGMENT_COLUMNS. The list's own method: it is called for every part.
        self.segment = self._segments.append
        self._parts: list[tuple[Any, ...]] = []
        self._line_of: list[int] = []
        self._line_count: list[int] = []
        self._lines: list[tuple[int, int]] = []
        self._texts: dict[int, str] = {}
        self._links: list[tuple[str, str, str, int | None]] = []
        # The first place in each other chunk of a row that was folded into one: (key, chunk) -> (record, line).
        self._folded: dict[tuple[int, int], tuple[str, int]] = {}
        # Keys that calls had before their ids were known by their shapes, with what must be equal of what stands there.
        self._former: list[tuple[int, int, int, str, str | None, int | None, bool]] = []
        self.reduced = False

    def __len__(self) -> int:
        return len(self._prompt_slot)

    def next_slot(self) -> int:
        """A number that ties a snapshot to its segments."""
        self._next += 1
        return self._next

    def lines(self, segment: int, lines: list[tuple[int, int]]) -> None:
        """The lines (hash, bytes) of a segment that this worker has not handed over before."""
        self._line_of.append(segment)
        self._line_count.append(len(lines))
        self._lines += lines

    def text(self, segment: int, text: str) -> None:
        self._texts[segment] = text

    def link(self, given: SpanLink) -> None:
        """A span that is no call, and what it stands under."""
        self._links.append((given.trace_id, given.span_id, given.parent_id, given.start_us))

    def former(self, key: int, former: int, chunk_no: int, event: UsageEvent, record_id: str, *, strong: bool) -> None:
        """A call that may stand under an earlier key; `strong` where its response id alone is its identity today."""
        self._former.append((key, former, chunk_no, record_id, event.provider_response_id, event.start_us, strong))

    def add(
        self, slot: int, key: int, event: tuple[Any, ...], extra: tuple[Any, ...], parts: Sequence[UsagePart] | None
    ) -> None:
        """Add a snapshot of a call (its event's fields, the values of EXTRA), or fold it into the one that stands."""
        slots = self._prompt_slot
        index = self._by_key.setdefault(key, len(slots))
        if index == len(slots):
            values = self._values
            values += event
            values += extra
            slots.append(slot)
            if parts:
                self._add_parts(key, parts)
            return
        self._fold(index, slot, key, event + extra, parts)

    def _fold(
        self, index: int, slot: int, key: int, values: tuple[Any, ...], parts: Sequence[UsagePart] | None
    ) -> None:
        """Of a snapshot and the one that stands the fuller one stays, and takes what only the other knew."""
        self.reduced = True
        at = slice(index * _WIDTH, (index + 1) * _WIDTH)
        standing = tuple(self._values[at])
        fuller = _fullness(values) > _fullness(standing)
        winner, other = (values, standing) if fuller else (standing, values)
        merged = list(winner)
        for field in _FILLED:
            if merged[field] is None:
                merged[field] = other[field]
        merged[_TAGS] = united_tags(winner[_TAGS], other[_TAGS])
        if other[_CHUNK] != winner[_CHUNK]:
            if merged[_REPORTED] is None:
                merged[_REPORTED] = other[_REPORTED]  # what another log claims that the call cost
            self._folded.setdefault((key, other[_CHUNK]), (other[_AT["record_id"]], other[_AT["origin_line"]]))
        winners_slot = slot if fuller else self._prompt_slot[index]
        others_slot = self._prompt_slot[index] if fuller else slot
        if winner[_AT["prompt_bytes"]] is None and other[_AT["prompt_bytes"]] is not None:
            for field in _PROMPT:
                merged[field] = other[field]
            winners_slot = others_slot
        self._prompt_slot[index] = winners_slot
        self._values[at] = merged
        if fuller and parts:
            self._parts = [row for row in self._parts if row[0] != key]
            self._add_parts(key, parts)

    def _add_parts(self, key: int, parts: Sequence[UsagePart]) -> None:
        for number, part in enumerate(parts):
            self._parts.append((key, number, *(getattr(part, name) for name in _PART_FIELDS)))

    def frames(self) -> dict[str, pl.DataFrame]:
        """requests, segments, lines, texts, parts, links, folded, former; empty ones are left out."""
        found: dict[str, pl.DataFrame] = {}
        if self._values:
            columns = [self._values[at::_WIDTH] for at in range(_WIDTH)]
            found["requests"] = _request_frame(columns)
            if self._segments:
                found["segments"] = self._segment_frame(columns)
        if self._lines:
            found["lines"] = self._line_frame()
        if self._texts:
            texts = text_column("text", list(self._texts.values()))
            frame = pl.DataFrame([pl.Series("hash", list(self._texts), dtype=pl.Int64), texts])
            found["texts"] = redact_columns(frame, ["text"])
        if self._parts:
            found["parts"] = self._part_frame()
        if self._links:
            *ids, starts = zip(*self._links, strict=True)
            named = [text_column(name, list(values)) for name, values in zip(LINK_COLUMNS, ids, strict=True)]
            links = pl.DataFrame([*named, number_column("start_us", starts, pl.Int64)])
            found["links"] = links.unique(maintain_order=True)
        if self._folded:
            names = ("request_key", "chunk_no", "source_record", "origin_line")
            rows = [(*key, *place) for key, place in self._folded.items()]
            folded = [
                text_column(name, list(values)) if name == "source_record" else number_column(name, values, pl.Int64)
                for name, values in zip(names, zip(*rows, strict=True), strict=True)
            ]
            found["folded"] = redact_columns(pl.DataFrame(folded), ["source_record"])
        if self._former:
            former = pl.DataFrame(
                [
                    text_column(name, list(values)) if dtype == pl.String else number_column(name, values, dtype)
                    for (name, dtype), values in zip(
                        FORMER_COLUMNS.items(), zip(*self._former, strict=True), strict=True
                    )
                ]
            )
            found["former"] = redact_columns(former, ["source_record", "provider_response_id"])
        return found

    def _segment_frame(self, requests: Sequence[Sequence[Any]]) -> pl.DataFrame:
        columns = zip(*self._segments, strict=True)
        frame = pl.DataFrame(
            [
                pl.Series(name, values, dtype=dtype)
                for (name, dtype), values in zip(SEGMENT_COLUMNS.items(), columns, strict=True)
            ]
        )
        owners = pl.DataFrame(
            [
                pl.Series("slot", self._prompt_slot, dtype=pl.Int64),
                pl.Series("request_key", requests[_AT["request_key"]], dtype=pl.Int64),
                number_column("start_us", requests[_AT["start_us"]], pl.Int64),
                number_column("prompt_bytes", requests[_AT["prompt_bytes"]], pl.Int64),
                *(number_column(name, requests[_AT[name]], pl.Int64) for name in INPUT_CLASSES),
            ]
        ).select(
            "slot",
            "request_key",
            "start_us",
            "prompt_bytes",
            prompt_tokens=pl.when(pl.any_horizontal(pl.col(name).is_not_null() for name in INPUT_CLASSES)).then(
                pl.sum_horizontal(pl.col(name).fill_null(0) for name in INPUT_CLASSES)
            ),
        )
        owned = frame.join(owners, on="slot", how="inner")
        tokens, size, upto = pl.col("prompt_tokens"), pl.col("prompt_bytes"), pl.col("bytes_upto")
        # Whole-number rounding of tokens x upto / size: floor((2ab + c) / 2c); nothing is known of an empty prompt.
        scaled = pl.when(size > 0).then((2 * tokens * upto + size) // (2 * size))
        return owned.with_columns(tokens_upto=scaled).drop("slot", "prompt_bytes", "prompt_tokens")

    def _line_frame(self) -> pl.DataFrame:
        counts = pl.DataFrame(
            [
                pl.Series("seg_hash", self._line_of, dtype=pl.Int64),
                pl.Series("count", self._line_count, dtype=pl.Int64),
            ]
        )
        spread = counts.select(
            pl.col("seg_hash").repeat_by("count").explode(),
            pl.int_ranges(0, pl.col("count"), dtype=pl.Int32).explode().alias("pos"),
        )
        hashes, sizes = zip(*self._lines, strict=True)
        return spread.with_columns(
            pl.Series("line_hash", hashes, dtype=pl.Int64), pl.Series("bytes", sizes, dtype=pl.Int64)
        )

    def _part_frame(self) -> pl.DataFrame:
        names = ("request_key", "part", *_PART_FIELDS)
        return pl.DataFrame(
            [
                text_column(name, values) if name == "model" else number_column(name, values, pl.Int64)
                for name, values in zip(names, zip(*self._parts, strict=True), strict=True)
            ]
        )


def _request_frame(columns: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """The request rows; `columns` in the order of _NAMES."""
    series = []
    for name, dtype in COLUMNS.items():
        values = columns[_AT[_FROM.get(name, name)]]
        series.append(text_column(name, values) if dtype == pl.String else number_column(name, values, dtype))
    suspects = [
        column.name
        for column in series
        if column.dtype == pl.String and column.name not in _CLEAN and column.null_count() < len(column)
    ]
    known = pl.sum_horizontal(pl.col(name).is_not_null().cast(pl.Int64) for name in TOKEN_CLASSES)
    tokens = pl.sum_horizontal(pl.col(name).fill_null(0) for name in TOKEN_CLASSES).clip(0, _MOST_TOKENS)
    ending = (
        pl.col("finish_reason").is_not_null().cast(pl.Int64) * 4
        + pl.col("end_us").is_not_null().cast(pl.Int64) * 2
        + (pl.col("exact_key").is_not_null() | pl.col("cost_reported_pusd").is_not_null()).cast(pl.Int64)
    )
    return (
        redact_columns(pl.DataFrame(series), suspects)
        .with_columns(
            pl.col("error").str.slice(0, _MAX_ERROR),
            fullness=known * 2**58 + tokens * 2**19 + ending * 2**16 + pl.col("tie"),
        )
        .drop("tie")
    )


def _fullness(values: tuple[Any, ...]) -> tuple[int, int, int, int]:
    """How much a snapshot says: classes known, then tokens, then how it ended.

    The last number comes from the record's own bytes, so that of two equally full snapshots the same one wins in any
    order. The column `fullness` is the same, packed into one number.
    """
    tokens = [value for value in values[_TOKENS] if value is not None]
    ending = (
        (values[_AT["finish_reason"]] is not None) * 4
        + (values[_AT["end_us"]] is not None) * 2
        + (values[_AT["exact_key"]] is not None or values[_AT["cost_reported_pusd"]] is not None)
    )
    return len(tokens), min(max(sum(tokens), 0), _MOST_TOKENS), ending, values[_AT["tie"]]


def number_column(name: str, values: Sequence[Any], dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    """A column of numbers; a value that the store cannot hold becomes unknown, never a wrong number."""
    try:
        return pl.Series(name, values, dtype=dtype)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, [_fitting(value, dtype) for value in values], dtype=dtype)


def _fitting(value: Any, dtype: pl.DataType | type[pl.DataType]) -> Any:
    if dtype == pl.Boolean:
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if dtype == pl.Float64:
        return float(value)
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else None
