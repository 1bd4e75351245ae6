"""Taking the inbox: the shards that wait, merged into the warehouse by whoever holds it.

Shards are merged in groups that fit memory; rows, prices, quarantine and ledger of several groups are one transaction,
and shards are removed after it. Killed at any point, the next take finds them either still waiting or in the ledger.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.core.errors import InputError
from app.warehouse.bills import take_bills
from app.warehouse.merge import Arrivals, Pricer, merge
from app.warehouse.spans import drop_repeating
from ingest.billed_rows import export_of
from ingest.columns import COLUMNS
from ingest.records import UNKNOWN
from ingest.replayed import corrected, whole_file
from ingest.shard import PUSHED, ChunkResult, ShardMeta, discard, read_frame, read_meta, set_aside, sweep, waiting
from ingest.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from app.warehouse.store import Session, Warehouse

GROUP_BYTES: Final = 12 * 1024 * 1024  # packed; in memory several times that
# A row group of DuckDB. A transaction that fills one writes it to the file compressed; the rows of a smaller one go
# through the write-ahead log first, and cost a third more.
TRANSACTION_ROWS: Final = 122_880
_PROBLEMS: Final = 20
_SUMMED: Final = ("read", "stored", "updated", "merged", "benign", "rejected")


@dataclass(frozen=True, slots=True)
class _Taken:
    number: int
    path: Path
    meta: ShardMeta


def take_inbox(warehouse: Warehouse, pricer: Pricer, data_dir: Path) -> Summary:
    """Merge every complete shard of the inbox; returns what that did. Safe to call at any time and again.

    Raises:
        UnavailableError: the warehouse cannot be written; the shards keep waiting.
    """
    with warehouse.write_lock:
        sweep(data_dir)
        return take_shards(warehouse, pricer, waiting(data_dir))


def take_shards(warehouse: Warehouse, pricer: Pricer, shards: Iterable[Path]) -> Summary:
    """Merge these shards, in as few transactions as their rows fill."""
    total = Summary()
    with warehouse.write_lock:
        batch: list[list[Path]] = []
        rows = 0
        for group in _groups(shards):
            batch.append(group)
            rows += sum(map(rows_in, group))
            if rows >= TRANSACTION_ROWS:
                total.add(_take_whole_ones(warehouse, pricer, batch))
                batch, rows = [], 0
        if batch:
            total.add(_take_whole_ones(warehouse, pricer, batch))
    return total


def rows_in(shard: Path) -> int:
    """How many records a shard read; none where it is damaged."""
    try:
        return sum(result.read for result in read_meta(shard).chunks)
    except InputError:
        return 0


def _groups(shards: Iterable[Path]) -> Iterator[list[Path]]:
    """The shards in groups of GROUP_BYTES; without those that somebody else took meanwhile."""
    group: list[Path] = []
    size = 0
    for shard in shards:
        if not shard.exists():
            continue
        weight = sum(entry.stat().st_size for entry in shard.iterdir())
        if group and size + weight > GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(shard)
        size += weight
    if group:
        yield group


def _take_whole_ones(warehouse: Warehouse, pricer: Pricer, groups: list[list[Path]]) -> Summary:
    """Take some groups; a damaged shard in them is set aside and does not hold up the others."""
    paths = [path for group in groups for path in group]
    try:
        return _take_groups(warehouse, pricer, groups)
    except InputError as error:
        if len(paths) == 1:
            aside = set_aside(paths[0])
            return Summary(problems=[f"{error} It was moved to {aside}."])
    total = Summary()
    for path in paths:
        total.add(_take_whole_ones(warehouse, pricer, [[path]]))
    return total


def _take_groups(warehouse: Warehouse, pricer: Pricer, groups: list[list[Path]]) -> Summary:
    summary = Summary()
    fresh = [shards for group in groups if (shards := _not_taken_yet(warehouse, group))]
    for shards in fresh:
        # Texts live in another file, which a transaction cannot share: they go first, and twice is no harm.
        texts = _together(shards, "texts")
        if texts is not None:
            with warehouse.writing() as session:
                session.register("incoming_texts", texts.unique("hash"))
                session.execute("ingest.insert_texts", seen_us=_now_us())
                session.unregister("incoming_texts")
    if fresh:
        with warehouse.writing() as session:
            for shards in fresh:
                summary.add(_merge_group(session, pricer, shards))
    for path in (path for group in groups for path in group):
        if path.exists():
            discard(path)
    return summary


def _not_taken_yet(warehouse: Warehouse, paths: list[Path]) -> list[_Taken]:
    with warehouse.session() as session:
        session.register("waiting_shards", pl.DataFrame({"shard": [path.name for path in paths]}))
        taken = {name for (name,) in session.rows("ingest.taken_shards")}
        session.unregister("waiting_shards")
    left = [path for path in paths if path.name not in taken]
    return [_Taken(number, path, read_meta(path)) for number, path in enumerate(left)]


def _together(shards: list[_Taken], name: str) -> pl.DataFrame | None:
    """One table of all shards, each row with its shard's number."""
    frames = [
        frame.with_columns(shard_no=pl.lit(shard.number, dtype=pl.Int64))
        for shard in shards
        if (frame := read_frame(shard.path, name)) is not None
    ]
    return pl.concat(frames) if frames else None


def _merge_group(session: Session, pricer: Pricer, shards: list[_Taken]) -> Summary:
    _note_sources(session, shards)
    requests = _whole(_placed(shards, "requests"))
    links = _together(shards, "links")
    changed: dict[tuple[int, int], tuple[int, int]] = {}
    if requests is None:
        drop_repeating(session, None, links)
    else:
        arrivals = Arrivals(
            requests=requests,
            segments=_together(shards, "segments"),
            lines=_first_of_each(_together(shards, "lines")),
            parts=_together(shards, "parts"),
            links=links,
            folded=_placed(shards, "folded"),
            former=_placed(shards, "former"),
            lent=_together(shards, "lent"),
        )
        merged = merge(session, arrivals, pricer).select("shard_no", "chunk_no", "stored", "updated")
        changed = {(shard, chunk): (stored, updated) for shard, chunk, stored, updated in merged.iter_rows()}
    billed = _billed(shards)
    contradicted: tuple[str, ...] = ()
    if billed is not None:
        taken = take_bills(session, billed)
        contradicted = taken.contradicted
        for shard, chunk, stored, updated in taken.chunks.iter_rows():
            before = changed.get((shard, chunk), (0, 0))
            changed[shard, chunk] = (before[0] + stored, before[1] + updated)
    _quarantine(session, shards)
    summary = _note_chunks(session, shards, changed)
    summary.problems[:0] = contradicted[:_PROBLEMS]
    return summary


def _placed(shards: list[_Taken], name: str) -> pl.DataFrame | None:
    """One table of all shards that tells of calls, with the shard's number, source and file."""
    frames = []
    for shard in shards:
        frame = read_frame(shard.path, name)
        if frame is None:
            continue
        chunks = [result.chunk for result in shard.meta.chunks]
        if len(chunks) == 1:
            named = frame.with_columns(source=pl.lit(chunks[0].source), origin_file=pl.lit(chunks[0].file))
        else:
            places = pl.DataFrame(
                [(number, chunk.source, chunk.file) for number, chunk in enumerate(chunks)],
                schema={"chunk_no": pl.Int64, "source": pl.String, "origin_file": pl.String},
                orient="row",
            )
            named = frame.join(places, on="chunk_no", how="left", maintain_order="left")
        frames.append(named.with_columns(shard_no=pl.lit(shard.number, dtype=pl.Int64)))
    return pl.concat(frames, how="diagonal") if frames else None  # a shard of an older version may lack a column


def _whole(requests: pl.DataFrame | None) -> pl.DataFrame | None:
    """The requests with the columns that shards of an older version did not have: nothing is known of them."""
    if requests is None:
        return None
    missing = {name: dtype for name, dtype in COLUMNS.items() if name not in requests.columns and name != "tie"}
    return requests.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in missing.items())


def _billed(shards: list[_Taken]) -> pl.DataFrame | None:
    """The lines of bills of all shards, each with its shard's number and what the next export of its days must know."""
    frames = []
    for shard in shards:
        frame = read_frame(shard.path, "billed")
        if frame is None:
            continue
        places = pl.DataFrame(
            [
                (
                    number,
                    chunk.source,
                    chunk.file,
                    chunk.path,
                    export_of(chunk.path),
                    chunk.file_bytes,
                    chunk.file_mtime_ns,
                    chunk.byte_from,
                )
                for number, chunk in enumerate(result.chunk for result in shard.meta.chunks)
            ],
            schema={
                "chunk_no": pl.Int64,
                **dict.fromkeys(("source", "file", "path", "export"), pl.String),
                **dict.fromkeys(("file_bytes", "file_mtime_ns", "byte_from"), pl.Int64),
            },
            orient="row",
        )
        named = frame.join(places, on="chunk_no", how="left", maintain_order="left").rename({"usage_class": "class"})
        frames.append(named.with_columns(task=pl.lit(shard.meta.name), shard_no=pl.lit(shard.number, dtype=pl.Int64)))
    return pl.concat(frames, how="diagonal") if frames else None


def _first_of_each(lines: pl.DataFrame | None) -> pl.DataFrame | None:
    """The lines of each segment from one shard only."""
    if lines is None:
        return None
    first = lines.filter(pl.col("pos") == 0).group_by("seg_hash").agg(pl.col("shard_no").min())
    if first.height == lines.select((pl.col("pos") == 0).sum()).item():
        return lines
    return lines.join(first, on=["seg_hash", "shard_no"], how="semi")


def _note_sources(session: Session, shards: list[_Taken]) -> None:
    known = {source: said for shard in shards for source, said in shard.meta.billing.items() if said[0] != UNKNOWN}
    if not known:
        return
    rows = [(source, name, billing) for source, (name, billing) in known.items()]
    session.register("incoming_sources", pl.DataFrame(rows, schema=["source", "format", "billing"], orient="row"))
    session.execute("ingest.known_sources")
    session.unregister("incoming_sources")


def _quarantine(session: Session, shards: list[_Taken]) -> None:
    """Put away what could not be read; places that were read again leave the quarantine."""
    rejects = [reject for shard in shards for reject in shard.meta.rejects]
    ranges = {(one.path, one.line - 1, one.line) for one in rejects}
    for shard in shards:
        ranges.update((path, line - 1, line) for _, path, line in shard.meta.replays)
        ranges.update(
            (result.chunk.path, result.chunk.line_from or -1, max(result.line_to, result.read_to))
            for result in shard.meta.chunks
            if not shard.meta.replays
        )
    frame = pl.DataFrame(
        [
            (one.source, one.file, one.path, one.line, one.byte_from, one.reason, one.head, one.record)
            for one in rejects
        ],
        schema={
            "source": pl.String,
            "file": pl.String,
            "path": pl.String,
            "line": pl.Int64,
            "byte_from": pl.Int64,
            "reason": pl.String,
            "head": pl.String,
            "record_hash": pl.Int64,
        },
        orient="row",
    )
    session.register("incoming_rejects", frame)
    schema = {"path": pl.String, "line_from": pl.Int64, "line_to": pl.Int64}
    session.register("quarantine_ranges", pl.DataFrame(sorted(ranges), schema=schema, orient="row"))
    session.execute("ingest.insert_quarantine", seen_us=_now_us())
    session.unregister("quarantine_ranges")
    session.unregister("incoming_rejects")


def _note_chunks(session: Session, shards: list[_Taken], changed: dict[tuple[int, int], tuple[int, int]]) -> Summary:
    summary = Summary()
    rows = []
    for shard in shards:
        again = bool(shard.meta.replays) and not whole_file(shard.meta)
        if again:
            mine = {number: counts for (owner, number), counts in changed.items() if owner == shard.number}
            rows.append(_correction(shard, corrected(shard.meta, mine)))
        for number, result in enumerate(shard.meta.chunks):
            chunk = result.chunk
            stored, updated = changed.get((shard.number, number), (0, 0))
            merged = result.read - result.benign - result.rejected - stored - updated
            if chunk.format == UNKNOWN:
                summary.add(Summary(read=result.read, rejected=result.rejected))
                continue  # nothing of it was taken: a later run looks at it again
            one = Summary(0, 0, result.read, stored, updated, merged, result.benign, result.rejected)
            summary.add(one)
            if not again:  # else single places of a file, of which the ledger knows the whole
                rows.append({**_place_in_ledger(shard, result), **_counts(one)})
        summary.problems += [
            f"{one.file}{f':{one.line}' if one.line else ''}: {one.reason}" for one in shard.meta.rejects
        ]
    del summary.problems[_PROBLEMS:]
    if not rows:
        return summary
    session.register("incoming_ledger", pl.DataFrame(_folded(rows)))
    session.execute("ingest.insert_ledger", taken_us=_now_us())
    session.unregister("incoming_ledger")
    return summary


def _correction(shard: _Taken, counts: Summary) -> dict[str, Any]:
    """A row that changes counts and says of no part of the file that it was read."""
    nowhere = {"byte_from": 0, "byte_to": 0, "line_from": 0, "line_to": 0, "complete": False, "at_end": False}
    return {**_place_in_ledger(shard, shard.meta.chunks[0]), **nowhere, **_counts(counts)}


def _place_in_ledger(shard: _Taken, result: ChunkResult) -> dict[str, Any]:
    chunk = result.chunk
    return {
        "shard": shard.meta.name,
        "source": chunk.source,
        "format": chunk.format,
        "file": chunk.path,
        "head_bytes": chunk.head_bytes,
        "head_hash": chunk.head_hash,
        "tail_hash": result.tail_hash,
        "file_bytes": chunk.file_bytes,
        "file_mtime_ns": chunk.file_mtime_ns,
        "byte_from": chunk.byte_from,
        "byte_to": chunk.settled_to,
        "line_from": chunk.line_from,
        "line_to": result.line_to,
        "complete": result.complete,
        "at_end": chunk.at_end,
    }


def _counts(summary: Summary) -> dict[str, int]:
    return {name: getattr(summary, name) for name in _SUMMED}


def _folded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of what was pushed one row a shard and source: its segments are gone, and no later run looks for them."""
    kept = []
    folded: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        if not row["shard"].startswith(PUSHED):
            kept.append(row)
            continue
        whole = folded.get((row["shard"], row["source"], row["format"]))
        if whole is None:
            folded[row["shard"], row["source"], row["format"]] = {**row, "file": f"{PUSHED}{row['source']}"}
            continue
        for name in _SUMMED:
            whole[name] += row[name]
    return kept + list(folded.values())


def _now_us() -> int:
    return time.time_ns() // 1000
