"""`halve replay`: what a prefix cache with a given lifetime would have served of a trace.

A call is known by its block hashes (serving traces) or by its text. Both become boundaries of the cache primitive:
blocks as they are, texts through their exact prefix tree. Capacity is unlimited; every call writes its whole prompt.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from app.core.errors import InputError, UsageError
from app.replay.prefix_tree import boundaries
from app.replay.primitive import EVENT_SCHEMA, UNLIMITED_US, hits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.warehouse.store import Session

HASH_BLOCK_BYTES: Final = 512  # the grain of stored hashes inside long parts (DESIGN.md section 4)
_UNITS_US: Final = {"ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}


@dataclass(frozen=True, slots=True)
class TraceCall:
    """One call of a trace: either `blocks` (hashes of whole prefixes, `block_tokens` tokens each) or `text`.

    `cache` names what the calls must share to share a cache at all (provider, model, account); `tokens` is None where
    the trace does not say, then shares are of bytes. `start_us` is None where the trace gives no time.
    """

    start_us: int | None
    session: str = ""
    cache: str = ""
    tokens: int | None = None
    blocks: Sequence[int] | None = None
    block_tokens: int | None = None
    text: bytes | None = None


@dataclass(frozen=True, slots=True)
class TraceTotals:
    """Sums over calls. None is unknown: blocks of text calls, tokens of calls that do not say."""

    requests: int
    blocks: int | None
    hit_blocks: int | None
    tokens: int | None
    hit_tokens: int | None
    bytes: int | None
    hit_bytes: int | None
    hash_only_hit_bytes: int | None

    @property
    def hit_rate(self) -> float | None:
        """Share of tokens served by the cache, of bytes where tokens are unknown, of blocks where both are."""
        pairs = ((self.hit_tokens, self.tokens), (self.hit_bytes, self.bytes), (self.hit_blocks, self.blocks))
        return next((hit / of for hit, of in pairs if hit is not None and of), None)

    @property
    def hash_only_hit_rate(self) -> float | None:
        """The share that 512-byte block hashes alone would find; None where there is no text to compare with."""
        if self.hash_only_hit_bytes is None or not self.bytes:
            return None
        return self.hash_only_hit_bytes / self.bytes

    def as_dict(self) -> dict[str, int | float | None]:
        names = ("requests", "blocks", "hit_blocks", "tokens", "hit_tokens", "bytes", "hit_bytes")
        row: dict[str, int | float | None] = {name: getattr(self, name) for name in names}
        row["hit_rate"] = self.hit_rate
        row["hash_only_hit_rate"] = self.hash_only_hit_rate
        return row


@dataclass(frozen=True, slots=True)
class TraceReport:
    """The answer of `halve replay`: the totals, and by session where asked."""

    ttl_us: int | None
    scope: Literal["session"] | None
    total: TraceTotals
    by_scope: Mapping[str, TraceTotals]

    def as_dict(self) -> dict[str, object]:
        """The documented object of `halve replay --json`."""
        row: dict[str, object] = dict(self.total.as_dict())
        row["ttl_s"] = None if self.ttl_us is None else self.ttl_us / 10**6
        row["scope"] = self.scope
        row["by_scope"] = [{"name": name, **totals.as_dict()} for name, totals in self.by_scope.items()]
        return row


def ttl_from_text(text: str) -> int | None:
    """A lifetime in microseconds of `90s`, `5m`, `1h`, `1d` or `unlimited` (None).

    Raises:
        UsageError: anything else.
    """
    if text == "unlimited":
        return None
    for unit in sorted(_UNITS_US, key=len, reverse=True):
        number = text.removesuffix(unit)
        if number != text and number.isdecimal() and int(number) > 0:
            return int(number) * _UNITS_US[unit]
    raise UsageError(f"{text!r} is no lifetime. Write 90s, 5m, 1h, 1d or unlimited.")


def replay_trace(
    session: Session, calls: Iterable[TraceCall], *, ttl_us: int | None, scope: Literal["session"] | None = None
) -> TraceReport:
    """Replay calls, in order of time, against a cache whose entries live `ttl_us` after their last touch (None: ever).

    With scope "session", calls share a cache only inside a session. Texts are held in memory. Calls without a time come
    first, in the order given.

    Raises:
        InputError: a call has neither blocks nor text, or no time although entries die.
    """
    ordered = sorted(calls, key=_start)
    timeless = sum(call.start_us is None for call in ordered)
    if timeless and ttl_us is not None:
        raise InputError(
            f"{timeless:,} of {len(ordered):,} calls carry no time, so nobody knows which entries had died before "
            "them. Replay them with `--ttl unlimited`, or leave their files out with --exclude."
        )
    caches = [(call.cache, call.session if scope == "session" else "") for call in ordered]
    lifetime = UNLIMITED_US if ttl_us is None else ttl_us
    found = hits(session, _events(ordered, caches, lifetime))
    deepest = found.filter(pl.col("is_hit") == 1).group_by("request_key").agg(pl.max("tokens_upto"), pl.len())
    hit = {number: (depth, count) for number, depth, count in deepest.iter_rows()}
    totals = [_totals_of(call, *hit.get(number, (0, 0))) for number, call in enumerate(ordered)]
    groups: dict[str, list[TraceTotals]] = defaultdict(list)
    if scope == "session":
        for call, one in zip(ordered, totals, strict=True):
            groups[call.session].append(one)
    return TraceReport(ttl_us, scope, _added(totals), {name: _added(members) for name, members in groups.items()})


def _start(call: TraceCall) -> int:
    return 0 if call.start_us is None else call.start_us


def _events(calls: Sequence[TraceCall], caches: Sequence[tuple[str, str]], ttl_us: int) -> pl.DataFrame:
    """One event a boundary: `tokens_upto` counts blocks for block calls and bytes for text calls."""
    columns: dict[str, list[int]] = {"key": [], "request_key": [], "tokens_upto": []}
    nodes: dict[tuple[tuple[str, str], int], int] = {}
    texts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, (call, cache) in enumerate(zip(calls, caches, strict=True)):
        if call.blocks is not None:
            for depth, block in enumerate(call.blocks, start=1):
                columns["key"].append(nodes.setdefault((cache, block), len(nodes)))
                columns["request_key"].append(number)
                columns["tokens_upto"].append(depth)
        elif call.text is not None:
            texts[cache].append(number)
        else:
            raise InputError("A call of the trace has neither block hashes nor text, so there is nothing to replay.")
    free = len(nodes)
    for members in texts.values():
        grown = list(boundaries([calls[number].text or b"" for number in members], free))
        for boundary in grown:
            columns["key"].append(boundary.node)
            columns["request_key"].append(members[boundary.index])
            columns["tokens_upto"].append(boundary.depth)
        free = max((boundary.node for boundary in grown), default=free - 1) + 1
    starts = pl.DataFrame({"request_key": range(len(calls)), "start_us": [_start(call) for call in calls]})
    return (
        pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))
        .join(starts, on="request_key")
        .with_columns(pos=pl.col("tokens_upto"), ready_us=pl.col("start_us"), ttl_us=pl.lit(ttl_us))
        .select(EVENT_SCHEMA.keys())
    )


def _totals_of(call: TraceCall, depth: int, count: int) -> TraceTotals:
    if call.blocks is not None:
        size = call.block_tokens
        hit_tokens = None if size is None else depth * size if call.tokens is None else min(depth * size, call.tokens)
        return TraceTotals(1, len(call.blocks), count, call.tokens, hit_tokens, None, None, None)
    length = len(call.text or b"")
    hit_tokens = None if call.tokens is None else round(call.tokens * depth / length) if length else 0
    whole = depth // HASH_BLOCK_BYTES * HASH_BLOCK_BYTES
    return TraceTotals(1, None, None, call.tokens, hit_tokens, length, depth, depth if depth == length else whole)


def _added(parts: Sequence[TraceTotals]) -> TraceTotals:
    """Sums; a column that any call does not know stays unknown."""

    def add(name: str) -> int | None:
        values = [getattr(part, name) for part in parts]
        return None if not values or None in values else sum(values)

    names = ("blocks", "hit_blocks", "tokens", "hit_tokens", "bytes", "hit_bytes", "hash_only_hit_bytes")
    return TraceTotals(sum(part.requests for part in parts), *(add(name) for name in names))
