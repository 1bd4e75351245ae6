"""Where the prompts of each scope stop being the same although stable text stands behind that place.

By lines first; where a prompt is one long line and its text is kept, by taking volatile values out of it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from app.replay.breakers import Difference, first_difference, masked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.warehouse.store import Session

STABLE_SHARE: Final = 0.5  # of a scope's requests that must share a line for it to be stable
SAMPLED_PARTS: Final = 2_000  # distinct parts a scope whose lines decide what is stable; the replay itself takes all
MIN_BEHIND_BYTES: Final = 256  # stable text behind a break, else a rewrite has nothing to gain
MASKED_PARTS: Final = 5_000  # distinct one-line parts a scope that are looked into
COMPARED_TEXTS: Final = 8
MIN_REORDERED: Final = 0.2  # of the requests with tools, whose set of tools came in several orders


@dataclass(frozen=True, slots=True)
class Break:
    """Where a scope's prompts stop being the same. Bytes are means over its requests; the line is 1-based.

    `tool_orders` above 1: the same tools are sent in so many orders, so prompts part before anything else does.
    `difference` names the changing value where texts are kept, None where only hashes are.
    """

    scope_id: int
    requests: int
    sampled: int
    values_seen: int
    line: int | None
    line_hash: int | None
    seg_hash: int | None
    prompt_bytes: float
    bytes_before: float
    stable_bytes: float
    behind_bytes: float
    zone_bytes: float
    difference: Difference | None = None
    tool_orders: int = 1

    @property
    def kind(self) -> str:
        """What changes: the class of the value where texts are kept, else how often its hash repeats."""
        if self.tool_orders > 1 and self.behind_bytes == 0:
            return "order of the tools"
        if self.difference is not None:
            return self.difference.kind
        if self.values_seen == 0:
            return "value that changes with the request"
        if self.values_seen >= 0.9 * self.sampled:
            return "different in nearly every request, as a time or an id is"
        return f"{self.values_seen:,} values in {self.sampled:,} requests"


def breaks(session: Session) -> dict[int, Break]:
    """Breaks by scope id, from the tables that `layout.prepare` made so far. Makes the table `layout_masked`."""
    found = {row[0]: Break(*row) for row in session.rows("replay.layout_breakers")}
    with_texts = session.rows("replay.layout_has_texts")[0][0] > 0
    rests: list[tuple[int, int, float, int]] = []
    kept = {scope: one for scope, one in found.items() if one.behind_bytes >= MIN_BEHIND_BYTES}
    if with_texts:
        unlined = [
            scope
            for scope, _, _ in session.rows("replay.layout_unlined", most=MASKED_PARTS, bytes=MIN_BEHIND_BYTES)
            if scope in found and scope not in kept
        ]
        for scope, rows in _texts(session, unlined, MASKED_PARTS).items():
            broken, kept_rests = _masked_break(found[scope], rows)
            if broken is not None:
                kept[scope] = broken
                rests += kept_rests
        for scope, rows in _texts(
            session, [one for one in kept if kept[one].difference is None], COMPARED_TEXTS
        ).items():
            kept[scope] = replace(kept[scope], difference=first_difference([text for _, _, _, text in rows]))
    schema = {"scope_id": pl.Int64, "seg_hash": pl.Int64, "share": pl.Float64, "rest": pl.Int64}
    keep(session, "layout_masked", pl.DataFrame(rests, schema=schema, orient="row"))
    reordered = _with_tool_orders(session, kept)
    keep(session, "layout_reordered", pl.DataFrame({"scope_id": reordered}, schema={"scope_id": pl.Int64}))
    return kept


def _with_tool_orders(session: Session, kept: dict[int, Break]) -> list[int]:
    """Add the scopes whose tools change their order to `kept`; returns their ids."""
    session.execute("replay.layout_tools")
    reordered = []
    for scope, requests, moved, orders, prompt_bytes in session.rows("replay.layout_tool_orders"):
        if moved >= MIN_REORDERED * requests:
            reordered.append(scope)
            plain = Break(scope, requests, 0, 0, None, None, None, prompt_bytes, 0.0, 0.0, 0.0, 0.0)
            kept[scope] = replace(kept.get(scope, plain), tool_orders=orders)
    return reordered


_Text = tuple[int, int, int, str]  # hash of the part, requests that have it, bytes, text


def _texts(session: Session, scopes: Sequence[int], most: int) -> dict[int, list[_Text]]:
    if not scopes:
        return {}
    keep(session, "layout_wanted", pl.DataFrame({"scope_id": scopes}, schema={"scope_id": pl.Int64}))
    rows = session.rows("replay.layout_texts", {"wanted": "layout_wanted", "contents": "contents"}, most=most)
    texts: dict[int, list[_Text]] = defaultdict(list)
    for scope, *rest in rows:
        texts[scope].append((rest[0], rest[1], rest[2], rest[3]))
    return texts


def _masked_break(found: Break, rows: Sequence[_Text]) -> tuple[Break | None, list[tuple[int, int, float, int]]]:
    """The break of one-line parts whose rest without volatile values most requests share, and the rests."""
    sizes = {seg: (requests, size) for seg, requests, size, _ in rows}
    rests = masked((seg, text) for seg, _, _, text in rows)
    weight: dict[int, int] = defaultdict(int)
    for one in rests:
        weight[one.rest] += sizes[one.seg_hash][0]
    usual = max(weight, key=lambda rest: weight[rest])
    difference = first_difference([text for _, _, _, text in rows[:COMPARED_TEXTS]])
    same = [one for one in rests if one.rest == usual]
    if difference is None or weight[usual] < STABLE_SHARE * found.requests:
        return None, []
    stable = sum(one.share * sizes[one.seg_hash][1] for one in same) / len(same)
    behind = stable - difference.value_from
    if behind < MIN_BEHIND_BYTES:
        return None, []
    broken = replace(
        found,
        line=1,
        bytes_before=found.bytes_before + difference.value_from,
        stable_bytes=found.stable_bytes + stable,
        behind_bytes=found.behind_bytes + behind,
        difference=difference,
    )
    return broken, [(found.scope_id, one.seg_hash, one.share, one.rest) for one in rests]


def keep(session: Session, name: str, frame: pl.DataFrame) -> None:
    """Store a small frame as a temporary table, so that it outlives the frame."""
    session.register("layout_frame", frame)
    session.execute("replay.layout_keep", {"into": name, "frame": "layout_frame"})
    session.unregister("layout_frame")
