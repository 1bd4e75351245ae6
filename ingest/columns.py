"""The columns of request rows as they go into a shard, and how full a snapshot of a call is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.core.usage import TOKEN_CLASSES, UsageEvent
from ingest.redact import redact_columns, text_column

if TYPE_CHECKING:
    from collections.abc import Sequence

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
NAMES: Final = UsageEvent.__struct_fields__ + EXTRA
WIDTH: Final = len(NAMES)
AT: Final = {name: index for index, name in enumerate(NAMES)}
FROM: Final = {
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
    "calls_summed": pl.Int32,
    **dict.fromkeys(_TEXTS.split(), pl.String),
    **dict.fromkeys(("is_batch", "stream", "not_billed"), pl.Boolean),
    **dict.fromkeys(("temperature", "top_p"), pl.Float64),
}
# Facts that name or count nothing by their own text; everything else may carry a secret.
_CLEAN: Final = {"operation", "status", "warnings", "units", "price_context", "service_tier", "region", "provider"}
_MAX_ERROR: Final = 512
_MOST_TOKENS: Final = 2**39 - 1
_TOKENS: Final = slice(AT[TOKEN_CLASSES[0]], AT[TOKEN_CLASSES[-1]] + 1)


def request_frame(columns: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """The request rows; `columns` in the order of NAMES."""
    series = []
    for name, dtype in COLUMNS.items():
        values = columns[AT[FROM.get(name, name)]]
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


def fullness_of(values: Sequence[Any]) -> int:
    """How much a snapshot says: classes known, then tokens, then how it ended; the number in the column `fullness`.

    Its last bits come from the record's own bytes, so that of two snapshots which say equally much the same one wins in
    any order.
    """
    tokens = [value for value in values[_TOKENS] if _fitting(value, pl.Int64) is not None]
    ending = (
        (values[AT["finish_reason"]] is not None) * 4
        + (values[AT["end_us"]] is not None) * 2
        + (values[AT["exact_key"]] is not None or values[AT["cost_reported_pusd"]] is not None)
    )
    known = min(max(sum(tokens), 0), _MOST_TOKENS)
    return int(len(tokens) * 2**58 + known * 2**19 + ending * 2**16 + values[AT["tie"]])


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
