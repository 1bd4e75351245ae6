"""The relation `model_options`: for each model of the stream every other model that is priced, and what it can do.

One row a (model of the stream, other model) pair: `provider`, `model_id`, `to_provider`, `to_model_id`; `family`,
`size`, `to_family`, `to_size` (size classes order the models of a provider); `to_tokenizer` and `token_ratio` (tokens
there per token here); the abilities of the other model (`context_window`, `max_output`, `tools`, `vision`,
`json_schema`; null is unknown); and list rates of both in pico-USD a token (`r_input` ..., `to_r_input` ...). Sources:
app/pricing/models.yml and the price book at the end of the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.pricing import models

if TYPE_CHECKING:
    from app.plan.rates import Book
    from app.warehouse.store import Session

_RATES: Final = {
    "r_input": "r_input",
    "r_cache_read": "r_cache_read",
    "r_cache_write": "r_cache_write_5m",
    "r_output": "r_output",
    "r_reasoning": "r_reasoning",
}
_RATE_COLUMNS: Final = dict.fromkeys((*_RATES, *(f"to_{name}" for name in _RATES)), pl.Float64)
SCHEMA: Final[dict[str, Any]] = {
    **dict.fromkeys(("provider", "model_id", "family", "to_provider", "to_model_id", "to_family"), pl.String),
    **dict.fromkeys(("size", "to_size"), pl.Int64),
    "to_tokenizer": pl.String,
    "token_ratio": pl.Float64,
    **dict.fromkeys(("context_window", "max_output"), pl.Int64),
    **dict.fromkeys(("tools", "vision", "json_schema"), pl.Boolean),
    **_RATE_COLUMNS,
}


def frame(session: Session, book: Book, at_us: int | None) -> pl.DataFrame:
    """The options of every model in the stream, at list rates of `at_us`. Retired models are never an option."""
    if at_us is None:
        return pl.DataFrame(schema=SCHEMA)
    priced = {
        (model.provider, model.model): rates
        for model in models.known()
        if not model.retired and (rates := _rates(book, model.provider, model.model, at_us)) is not None
    }
    rows = [
        row
        for provider, model_id in session.rows("plan.models")
        if (here := models.find(provider, model_id)) is not None
        and (rates := _rates(book, provider, model_id, at_us)) is not None
        for there in models.known()
        if (there.provider, there.model) in priced and there.model != here.model
        if (row := _row((provider, model_id), here, rates, there, priced[there.provider, there.model])) is not None
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _rates(book: Book, provider: str, model_id: str, at_us: int) -> dict[str, float | None] | None:
    found = book.rate(provider, model_id, at_us=at_us)
    if found is None:
        return None
    return {name: None if (rate := found.rates.get(column)) is None else float(rate) for name, column in _RATES.items()}


def _row(
    name: tuple[str, str],
    here: models.Model,
    rates: dict[str, float | None],
    there: models.Model,
    to_rates: dict[str, float | None],
) -> dict[str, Any] | None:
    ratio = models.token_ratio(here.tokenizer, there.tokenizer)
    if ratio is None:
        return None
    return {
        "provider": name[0],
        "model_id": name[1],
        "family": here.family,
        "to_provider": there.provider,
        "to_model_id": there.model,
        "to_family": there.family,
        "size": here.size,
        "to_size": there.size,
        "to_tokenizer": there.tokenizer,
        "token_ratio": ratio,
        "context_window": there.context,
        "max_output": there.max_output,
        "tools": there.tools,
        "vision": there.vision,
        "json_schema": there.json_schema,
        **rates,
        **{f"to_{column}": rate for column, rate in to_rates.items()},
    }
