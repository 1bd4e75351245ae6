"""Inspection: how each record of some logs would be stored, and why others would not; for unknown layouts a column map.

It is the real ingest into a store of its own, so that what it shows is what would be stored.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from app.core.errors import InputError
from app.core.money import usd_text
from app.core.usage import COST_PARTS, TOKEN_CLASSES
from ingest.connectors.files import Found, reached
from ingest.formats.column_map import propose
from ingest.pipeline import ingest_paths
from ingest.plan import Choice, NoLedger, Plan, sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from app.warehouse.merge import Pricer
    from app.warehouse.store import Warehouse
    from ingest.formats.column_map import ColumnMap

_PAGE: Final = 5_000
_DECIMALS: Final = ("quantity", "cost", "effective_cost", "list_cost")
_SHOWN: Final = (
    "source",
    "source_record",
    "provider_response_id",
    "trace_id",
    "parent_id",
    "session_id",
    "account",
    "api_key_alias",
    "provider",
    "model",
    "model_id",
    "operation",
    "region",
    "service_tier",
    "is_batch",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "n",
    "seed",
    "response_format",
    "reasoning_effort",
    "status",
    "http_status",
    "finish_reason",
    "attempt",
    "retry_of",
    "error",
)


def inspect_paths(
    paths: Sequence[str | Path],
    *,
    warehouse: Warehouse,
    pricer: Pricer,
    data_dir: Path,
    exclude: Sequence[str] = (),
    format_name: str | None = None,
    column_map: ColumnMap | None = None,
) -> Iterator[dict[str, Any]]:
    """Lines for JSON: `kind` request, billed, rejected or unknown_layout.

    A request has request_key, times (ISO, UTC, and in microseconds), model, feature, status, tokens by class,
    cost_parts, cost_usd (null where unknown), price_row, cost_state, origin and warnings. A line of a bill has what it
    names, its quantity and native amounts; equal lines are one, and `lines` says of how many. A rejected one has
    reason, head and origin; an unknown layout the column map that its columns suggest. `warehouse` and `data_dir` are
    empty and only for this.

    Raises:
        InputError, UsageError: as `ingest_paths`.
    """
    ingest_paths(
        paths,
        warehouse=warehouse,
        pricer=pricer,
        data_dir=data_dir,
        exclude=exclude,
        format_name=format_name,
        column_map=column_map,
        text="none",
        prose=True,
    )
    yield from _requests(warehouse)
    with warehouse.session() as session:
        billed = session.frame("billed.inspect")
    yield from (billed_line(row) for row in billed.iter_rows(named=True))
    with warehouse.session() as session:
        rejected = session.rows("ingest.quarantined")
    for source, file, _, line, _, reason, head, _ in rejected:
        if line == 0 and (proposal := _proposal(file)) is not None:
            yield proposal
        else:
            origin = {"file": file, "line": line}
            yield {"kind": "rejected", "source": source, "reason": reason, "head": head, "origin": origin}


def _requests(warehouse: Warehouse) -> Iterator[dict[str, Any]]:
    file, line, key = "", -1, -(2**63)
    origins: dict[int, list[dict[str, Any]]] = {}
    with warehouse.session() as session:
        for key_of, source, _, origin_file, origin_line in session.rows("ingest.inspect_origins"):
            origins.setdefault(key_of, []).append({"source": source, "file": origin_file, "line": origin_line})
    while True:
        with warehouse.session() as session:
            page = session.frame("ingest.inspect_rows", file=file, line=line, key=key, size=_PAGE)
        for row in page.iter_rows(named=True):
            made = request_line(row)
            yield {**made, "origins": origins.get(row["request_key"]) or [{"source": made["source"], **made["origin"]}]}
            file, line, key = row["origin_file"], row["origin_line"], row["request_key"]
        if page.height < _PAGE:
            return


def request_line(row: dict[str, Any]) -> dict[str, Any]:
    """One stored request as a line for machines."""
    tags = json.loads(row["tags"]) if row["tags"] else {}
    return {
        "kind": "request",
        "request_key": str(row["request_key"]),
        **{name: row[name] for name in _SHOWN},
        "start": _iso(row["start_us"]),
        "start_us": row["start_us"],
        "first_token": _iso(row["first_token_us"]),
        "end": _iso(row["end_us"]),
        "end_us": row["end_us"],
        "feature": tags.get("feature") or tags.get("project"),
        "team": tags.get("team"),
        "environment": tags.get("environment"),
        "tags": tags,
        "tokens": {name.removeprefix("tok_"): row[name] for name in TOKEN_CLASSES},
        "tokens_total_reported": row["tok_total_reported"],
        "calls_summed": row["calls_summed"],
        "units": json.loads(row["units"]) if row["units"] else {},
        "cost_parts": {f"{name.removesuffix('_pusd')}_usd": usd_text(row[name]) for name in COST_PARTS},
        "cost_usd": usd_text(row["cost_pusd"]),
        "cost_list_usd": usd_text(row["cost_list_pusd"]),
        "cost_reported_usd": usd_text(row["cost_reported_pusd"]),
        "cost_state": row["cost_state"],
        "price_row": row["price_row"],
        "price_book": row["price_book"],
        "exact_key": None if row["exact_key"] is None else str(row["exact_key"]),
        "prefix_scope": None if row["prefix_scope"] is None else str(row["prefix_scope"]),
        "prompt_bytes": row["prompt_bytes"],
        "origin": {"file": row["origin_file"], "line": row["origin_line"]},
        "warnings": row["warnings"].split(" ") if row["warnings"] else [],
    }


def billed_line(row: dict[str, Any]) -> dict[str, Any]:
    """One stored line of a bill as a line for machines."""
    named = {name: row[name] for name in row if name not in ("file", "line", *_DECIMALS)}
    amounts = {name: None if row[name] is None else f"{row[name].normalize():f}" for name in _DECIMALS}
    return {
        "kind": "billed",
        "charge": named.pop("kind"),
        **named,
        **amounts,
        "origin": {"file": row["file"], "line": row["line"]},
    }


def _proposal(file: str) -> dict[str, Any] | None:
    """The column map for a table of an unknown layout; None where the file is no table or cannot be read."""
    plan = Plan(NoLedger(), Choice())
    try:
        chunks = [chunk for task in plan.tasks([Found(file, reached(file).resolve())]) for chunk in task.chunks]
        rows = [value for value in sample(chunks[0]) if isinstance(value, dict)] if chunks else []
    except InputError:
        return None
    if not rows:
        return None
    columns = list(dict.fromkeys(name for row in rows for name in row))
    proposed = propose(columns, rows)
    return {
        "kind": "unknown_layout",
        "origin": {"file": file, "line": 0},
        "columns": columns,
        "column_map": proposed.text() or None,
        "reason": "the layout is none that Halve knows; check the column map and give it with --map",
    }


def _iso(moment_us: int | None) -> str | None:
    if moment_us is None:
        return None
    whole, rest = divmod(moment_us, 1_000_000)
    try:
        moment = datetime.fromtimestamp(whole, UTC).replace(microsecond=rest)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.isoformat().replace("+00:00", "Z")
