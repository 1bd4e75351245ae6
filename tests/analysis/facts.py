"""Small made facts: requests, prompts and sources written straight into the fact tables."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import polars as pl

from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.warehouse.store import Session

INTEGERS = (
    "request_key", "start_us", "first_token_us", "end_us", "user_hash", "api_key_hash", "exact_key",
    "tok_input", "tok_cache_read", "tok_cache_write_5m", "tok_cache_write_1h", "tok_output", "tok_reasoning",
    "input_pusd", "cache_read_pusd", "cache_write_pusd", "output_pusd", "reasoning_pusd", "other_pusd",
    "cost_pusd", "cost_list_pusd", "fullness",
)  # fmt: skip
TEXTS = (
    "source", "account", "provider", "model", "model_id", "operation", "status", "cost_state", "tags",
    "api_key_alias", "origin_file", "session_id", "service_tier", "price_row", "price_book", "warnings",
)  # fmt: skip
SCHEMA = dict.fromkeys(INTEGERS, pl.Int64) | dict.fromkeys(TEXTS, pl.String) | {"is_batch": pl.Boolean}
DEFAULTS = {
    "source": "log", "operation": "chat", "status": "ok", "cost_state": "priced", "is_batch": False, "fullness": 1,
}  # fmt: skip


def open_warehouse() -> Warehouse:
    warehouse = Warehouse(None)
    migrate(warehouse)
    return warehouse


def hashed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def add_requests(session: Session, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert requests given by the columns that matter; keys are numbered where they are not given."""
    full = [{"request_key": number} | DEFAULTS | dict(row) for number, row in enumerate(rows, 1)]
    frame = pl.DataFrame([{name: row.get(name) for name in SCHEMA} for row in full], schema=SCHEMA)
    session.register("made_requests", frame)
    columns = ", ".join(SCHEMA)
    session.connection.execute(f"INSERT INTO requests ({columns}) SELECT {columns} FROM made_requests")
    session.connection.unregister("made_requests")


def add_prompts(session: Session, prompts: Mapping[int, Sequence[tuple[str, str]]]) -> None:
    """Insert the segments and lines of prompts: request key -> [(role, text)]."""
    segments: list[tuple[int, int, str, int]] = []
    lines: dict[tuple[int, int], tuple[int, int]] = {}
    for key, parts in prompts.items():
        for pos, (role, text) in enumerate(parts):
            segments.append((key, pos, role, hashed(text)))
            for place, line in enumerate(text.split("\n")):
                lines[hashed(text), place] = (hashed(line), len(line))
    session.register(
        "made_segments",
        pl.DataFrame(segments, schema=["request_key", "pos", "role", "seg_hash"], orient="row"),
    )
    session.register(
        "made_lines",
        pl.DataFrame(
            [(seg, place, line, size) for (seg, place), (line, size) in lines.items()],
            schema={"seg_hash": pl.Int64, "pos": pl.Int64, "line_hash": pl.Int64, "bytes": pl.Int64},
            orient="row",
        ),
    )
    session.connection.execute(
        "INSERT INTO segments SELECT s.request_key, s.pos, s.role, 'text', s.seg_hash, s.seg_hash, 1, 1, NULL, true, "
        "r.start_us FROM made_segments s LEFT JOIN requests r ON r.request_key = s.request_key"
    )
    session.connection.execute("INSERT INTO lines SELECT seg_hash, pos, line_hash, bytes FROM made_lines")
    session.connection.unregister("made_segments")
    session.connection.unregister("made_lines")


def add_source(session: Session, name: str, billing: str) -> None:
    session.connection.execute("INSERT INTO sources VALUES (?, 'made', ?, 'user')", [name, billing])
