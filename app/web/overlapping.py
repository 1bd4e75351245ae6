"""Sources that tell of the same calls, as the Sources page shows them: what was found, what counts, who decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.analysis import overlap
from app.control import overlaps as kept
from app.core.money import usd_text
from app.web import cells
from app.web import format as show
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from app.analysis.overlap import Held, Overlap
    from app.web.page import Context

BOTH: Final = "both"
"""What the form sends where the two sources are different traffic."""


@dataclass(frozen=True, slots=True)
class OverlapForm:
    """Asks which of two sources counts. `chosen` is what somebody said, empty where nobody did; `said` explains."""

    source_a: str
    source_b: str
    said: str
    chosen: str
    options: tuple[tuple[str, str], ...]


def stamp(context: Context) -> Hashable:
    """Changes whenever a decision does."""
    return tuple(sorted(kept.decisions(context.deps.control).items()))


def forms(context: Context) -> tuple[OverlapForm, ...]:
    """One form a pair of sources that must not add up, those that nobody decided first."""
    decided = kept.decisions(context.deps.control)
    out = _held(context)
    found = [one for one in overlap.standing(context.session) if one.is_double or overlap.stands(one, decided)]
    return tuple(_form(one, decided, out) for one in sorted(found, key=lambda one: (one.pair in decided, one.pair)))


def _form(one: Overlap, decided: Mapping[kept.Pair, str | None], out: Mapping[tuple[str, str], Held]) -> OverlapForm:
    shared = f"{show.percent(one.share)} of the calls of {one.other(one.larger)} are in {one.larger} too"
    if one.pair not in decided:
        held = out.get((one.other(one.larger), one.larger))
        amount = "" if held is None else f" ({show.plural(held.requests, 'request')}, {show.money(held.cost_pusd)})"
        said = f"{shared}. Until you say which one counts, {one.other(one.larger)}{amount} is in no sum where both log."
    else:
        counted = decided[one.pair]
        said = f"{shared}. Both count, as you said." if counted is None else f"{shared}. {counted} counts, as you said."
    return OverlapForm(
        one.source_a,
        one.source_b,
        said,
        "" if one.pair not in decided else decided[one.pair] or BOTH,
        (
            (one.source_a, f"{one.source_a} counts"),
            (one.source_b, f"{one.source_b} counts"),
            (BOTH, "Both count: they are different calls"),
        ),
    )


def _held(context: Context) -> dict[tuple[str, str], Held]:
    return {(one.source, one.counted): one for one in overlap.held(context.session)}


def table(context: Context) -> Table:
    """Every pair of sources with calls in common, beyond what chance gives; empty where there is none."""
    decided = kept.decisions(context.deps.control)
    out = _held(context)
    return Table(
        "overlaps",
        "The same calls in two sources",
        (
            Column("source_a", "Source", width="mid"),
            Column("source_b", "And source", width="mid"),
            Column("calls_a", "Calls", "number", "In the time that both cover"),
            Column("calls_b", "Calls of the other", "number"),
            Column("twins", "In both", "number", "Same model and tokens, at most 2 s apart"),
            Column("by_chance", "By chance", "number", "As many meet where one clock is moved by ten minutes"),
            Column("share", "Share", "number", "Of the smaller source, beyond chance; above 20% they do not add up"),
            Column("counts", "Counts", width="mid"),
            Column("held_out", "In no sum", "number"),
            Column("held_out_usd", "Worth", "number"),
        ),
        tuple(_row(one, decided, out) for one in overlap.standing(context.session) if one.twins - one.chance >= 1),
        frame_note="No call is deleted: what is in no sum stays in the store and counts again when you say so.",
        stacked=True,
    )


def _row(
    one: Overlap, decided: Mapping[kept.Pair, str | None], out: Mapping[tuple[str, str], Held]
) -> tuple[Cell, ...]:
    held = [out[pair] for pair in (one.pair, (one.source_b, one.source_a)) if pair in out]
    worth = [item.cost_pusd for item in held if item.cost_pusd is not None]
    waits = one.is_double and one.pair not in decided
    counted = (decided.get(one.pair, one.larger) if overlap.stands(one, decided) else None) or BOTH
    return (
        cells.text(one.source_a),
        cells.text(one.source_b),
        cells.count(one.calls_a),
        cells.count(one.calls_b),
        cells.count(one.twins),
        Cell(round(one.chance, 1), f"{one.chance:,.0f}"),
        Cell(one.share, show.percent(one.share), tone="worse" if waits else ""),
        Cell(counted, "both" if counted == BOTH else counted, note="until you say so" if waits else ""),
        cells.count(sum(item.requests for item in held)),
        Cell(usd_text(sum(worth)) if worth else None, show.money(sum(worth)) if worth else "–"),
    )


def notices(context: Context, request_key: int) -> tuple[str, ...]:
    """What the page of a request says where another source's call counts instead of it."""
    counted = overlap.counted_instead(context.session, request_key)
    if counted is None:
        return ()
    return (
        f"This request is in no sum, because {counted} tells of the same calls. The page Sources says which counts.",
    )
