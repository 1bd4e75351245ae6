"""The rows of one shard while it grows: plain lists, turned into Polars frames once.

Snapshots of one call are joined here first, by the same law as in the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.core.usage import INPUT_CLASSES, TOKEN_CLASSES, UsagePart
from app.warehouse.labels import united_labels
from app.warehouse.ranks import lent_frame
from app.warehouse.snapshots import CHARGE, CHARGED, FILLED
from ingest.columns import AT, FROM, WIDTH, fullness_of, number_column, request_frame
from ingest.redact import redact_columns, text_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.usage import SpanLink, UsageEvent

# What a row takes from the fullest snapshot that knows it; never tokens. Values as they are stored, and what they are
# made of beside them.
_FILLED: Final = tuple((AT[FROM.get(name, name)], name, name in CHARGE) for name in FILLED)
_OWN: Final = tuple(
    AT[name]
    for name in (
        *TOKEN_CLASSES, "tok_total_reported", "calls_summed", "warnings_text", "error", "status", "not_billed"
    )
)  # fmt: skip
_PLACED: Final = tuple(AT[name] for name in ("record_id", "origin_line", "chunk_no", "tie"))
_PROMPT: Final = tuple(AT[name] for name in ("exact_key", "prefix_scope", "prompt_bytes"))
_PART_FIELDS: Final = UsagePart.__struct_fields__
_TAGS: Final = AT["tags_json"]
_CHUNK: Final = AT["chunk_no"]
_BATCH: Final = AT["is_batch"]
_CONTEXT: Final = AT["context_json"]

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
        # The requests' values one after another, WIDTH for each: a column is a stride, and no row is an object.
        self._values: list[Any] = []
        self._by_key: dict[int, int] = {}
        self._prompt_slot: list[int] = []  # of each request: the slot whose segments are its own
        self._next = 0
        self._segments: list[tuple[Any, ...]] = []
        # Takes one row in the order of SEGMENT_COLUMNS. The list's own method: it is called for every part.
        self.segment = self._segments.append
        self._parts: list[tuple[Any, ...]] = []
        self._with_parts: set[int] = set()
        self._line_of: list[int] = []
        self._line_count: list[int] = []
        self._lines: list[tuple[int, int]] = []
        self._texts: dict[int, str] = {}
        self._links: list[tuple[str, str, str, int | None]] = []
        # The place of the fullest row of each other chunk that was folded into one: (key, chunk) -> (record, line,
        # fullness).
        self._folded: dict[tuple[int, int], tuple[str, int, int]] = {}
        # Of rows that were folded: how full their own snapshot is, and who lent them what (fields, labels).
        self._full: dict[int, int] = {}
        self._lent: dict[int, tuple[dict[str, int], dict[str, int]]] = {}
        self._sources: dict[int, str] = {}
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

    def begin(self, chunk_no: int, source: str) -> None:
        """Say which source a chunk is of, before its first row."""
        self._sources[chunk_no] = source

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
        """Join a snapshot with the one that stands, by the law of `app/warehouse/snapshots.py`."""
        self.reduced = True
        at = slice(index * WIDTH, (index + 1) * WIDTH)
        standing = self._values[at]
        now, was = fullness_of(values), self._full.get(index)
        was = fullness_of(standing) if was is None else was
        fields, labels = self._lent.pop(index, ({}, {}))
        own = now > was or (now == was and self._order(values) < self._order(standing))
        merged = list(standing)
        if own:
            for field in (*_OWN, *_PLACED):
                merged[field] = values[field]
        full = max(now, was)
        lent = _filled(merged, values, now, (fields, was))
        merged[_BATCH] = values[_BATCH] or standing[_BATCH]
        if values[_TAGS] != standing[_TAGS] or labels:
            merged[_TAGS], labels = united_labels((values[_TAGS], {}, now), (standing[_TAGS], labels, was))
        rank = self._fold_prompt(index, slot, values, merged, (now, fields.get("prompt_bytes", was)))
        if rank < full and merged[AT["prompt_bytes"]] is not None:
            lent["prompt_bytes"] = rank
        if values[_CHUNK] != standing[_CHUNK]:
            other, fullness = (standing, was) if own else (values, now)
            place = other[AT["record_id"]], other[AT["origin_line"]], fullness
            known = self._folded.get((key, other[_CHUNK]))
            if known is None or known[2] < fullness:
                self._folded[key, other[_CHUNK]] = place
        self._values[at] = merged
        self._full[index] = full
        if lent or labels:
            self._lent[index] = lent, labels
        if own:
            if key in self._with_parts:
                self._parts = [row for row in self._parts if row[0] != key]
            self._add_parts(key, parts or ())

    def _order(self, values: Sequence[Any]) -> tuple[str, ...]:
        """What goes first of equally full snapshots: by the names of source and record, then by what they say."""
        said = ("" if values[at] is None else str(values[at]) for at in _OWN)
        return self._sources.get(values[_CHUNK], ""), values[AT["record_id"]] or "", "\0".join(said)

    def _fold_prompt(
        self, index: int, slot: int, values: Sequence[Any], merged: list[Any], ranks: tuple[int, int]
    ) -> int:
        """The prompt is that of the fullest snapshot that has one; returns how full that is."""
        new, old = values[AT["prompt_bytes"]], merged[AT["prompt_bytes"]]
        now, rank = ranks
        keys = (new, values[AT["exact_key"]] or 0), (old, merged[AT["exact_key"]] or 0)
        if new is None or (old is not None and (rank, keys[1]) >= (now, keys[0])):
            return rank
        self._prompt_slot[index] = slot
        for field in _PROMPT:
            merged[field] = values[field]
        return now

    def _add_parts(self, key: int, parts: Sequence[UsagePart]) -> None:
        if parts:
            self._with_parts.add(key)
        for number, part in enumerate(parts):
            self._parts.append((key, number, *(getattr(part, name) for name in _PART_FIELDS)))

    def frames(self) -> dict[str, pl.DataFrame]:
        """requests, segments, lines, texts, parts, links, folded, lent, former; empty ones are left out."""
        found: dict[str, pl.DataFrame] = {}
        if self._values:
            columns = [self._values[at::WIDTH] for at in range(WIDTH)]
            requests = request_frame(columns)
            if self._full:
                requests = requests.with_columns(
                    requests["fullness"].scatter(list(self._full), list(self._full.values()))
                )
            found["requests"] = requests
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
            names = ("request_key", "chunk_no", "source_record", "origin_line", "fullness")
            rows = [(*key, *place) for key, place in self._folded.items()]
            folded = [
                text_column(name, list(values)) if name == "source_record" else number_column(name, values, pl.Int64)
                for name, values in zip(names, zip(*rows, strict=True), strict=True)
            ]
            found["folded"] = redact_columns(pl.DataFrame(folded), ["source_record"])
        if self._lent:
            keys = {index: self._values[index * WIDTH + AT["request_key"]] for index in self._lent}
            found["lent"] = lent_frame((keys[index], *who) for index, who in self._lent.items())
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
                pl.Series("request_key", requests[AT["request_key"]], dtype=pl.Int64),
                number_column("start_us", requests[AT["start_us"]], pl.Int64),
                number_column("prompt_bytes", requests[AT["prompt_bytes"]], pl.Int64),
                *(number_column(name, requests[AT[name]], pl.Int64) for name in INPUT_CLASSES),
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


def _filled(merged: list[Any], values: Sequence[Any], now: int, ranks: tuple[dict[str, int], int]) -> dict[str, int]:
    """Fill a row from a snapshot that is `now` full; returns who lent what.

    `ranks`: who lent the row what it knows, and how full its own snapshot is.
    """
    fields, was = ranks
    full = max(now, was)
    charged, before = _charged(values), _charged(merged)
    lent: dict[str, int] = {}
    for field, name, of_charge in _FILLED:
        new, old, rank = values[field], merged[field], fields.get(name, was)
        if new is not None:
            by_charge = of_charge and charged != before
            if old is None or (charged if by_charge else _better(now, new, rank, old)):
                merged[field], rank = new, now
        if rank < full and merged[field] is not None:
            lent[name] = rank
    return lent


def _charged(values: Sequence[Any]) -> bool:
    context = values[_CONTEXT]
    return context is not None and CHARGED in context


def _better(now: int, new: Any, rank: int, old: Any) -> bool:
    """Whether a field's value of a snapshot goes before the one that stands, given how full their givers are."""
    if now != rank:
        return now > rank
    return bool(new > old) if type(new) is type(old) else str(new) > str(old)
