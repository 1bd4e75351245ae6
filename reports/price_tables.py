"""A price table's difference from the book, and the lists' disagreements, as text for people and JSON for machines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from app.pricing.rates import FEES
from app.pricing.rule_text import usd
from app.pricing.show import SHOWN
from reports.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.pricing.difference import Item
    from app.pricing.disagreement import Check
    from app.pricing.imported import Import
    from app.pricing.show import PriceLine

LONGEST_ROW: Final = 60
KINDS: Final = (
    ("added", "New: the book has no price for these"),
    ("changed", "Changed: the book has another rate"),
    ("held", "Held back: not taken over"),
)


def difference_document(found: Import) -> dict[str, Any]:
    """Everything an import found, amounts in USD per million tokens (fees: USD each) as text."""
    difference = found.difference
    return {
        "schema": "halve.prices-import.v1",
        "table": {
            "kind": difference.table.kind,
            "name": difference.table.name,
            "as_of": _day(difference.table.as_of_us),
        },
        "counts": {
            **{kind: len(difference.of(kind)) for kind in ("added", "changed", "same", "held")},
            "removed": len(difference.removed),
            "refused": len(difference.table.problems),
        },
        **{kind: [_item(item) for item in difference.of(kind)] for kind in ("added", "changed", "held")},
        "removed": list(difference.removed),
        "refused": [{"where": one.where, "reason": one.reason} for one in difference.table.problems],
        "fields_not_read": dict(sorted(difference.table.unread.items())),
        "applied": None
        if found.taken is None
        else {"added": found.taken.added, "changed": found.taken.changed, "file": str(found.taken.path)},
        "price_book": found.version,
    }


def _item(item: Item) -> dict[str, Any]:
    provider, model, ctx = item.target
    return {
        "name": item.row.where,
        "provider": provider,
        "model": model,
        "context": ctx or "standard",
        "from": None if item.row.from_us is None else _day(item.row.from_us),
        "price_row": item.price_row,
        "rates": [
            {
                "class": change.name,
                "prompt_above": None if change.above < 0 else change.above,
                "old_usd": None if change.old is None else usd(change.name, change.old),
                "new_usd": usd(change.name, change.new),
            }
            for change in item.changes
        ],
        "reason": item.reason or None,
    }


def difference_lines(found: Import, *, most: int | None) -> Iterator[str]:
    """The same for people: counts first, then the first `most` of each kind."""
    difference, table = found.difference, found.difference.table
    yield f"{table.name}: a table of {table.kind} as of {_day(table.as_of_us)}, {len(difference.items)} prices."
    yield "Rates are USD per million tokens, fees USD each."
    for kind, title in KINDS:
        items = difference.of(kind)  # type: ignore[arg-type]
        yield from _section(f"{title}: {len(items)}", [_item_line(item) for item in items], most)
    refused = [f"{one.where}: {one.reason}" for one in table.problems]
    yield from _section(f"Refused: could not be read: {len(refused)}", refused, most)
    removed = list(difference.removed)
    yield from _section(f"No longer named there; they keep their price here: {len(removed)}", removed, most)
    unread = [f"{name} ({count})" for name, count in sorted(table.unread.items(), key=lambda pair: -pair[1])]
    yield from _section(f"Fields that mean money and are not read: {len(unread)}", unread, most)
    yield f"Equal: {len(difference.of('same'))}."
    yield ""
    yield _ending(found)


def _ending(found: Import) -> str:
    if found.taken is not None:
        return (
            f"Taken over: {found.taken.added} added, {found.taken.changed} changed, in {found.taken.path}. The price "
            f"book is now {found.version}. A running service uses it from now on. What was stored before keeps its "
            "figures: `halve prices reprice` shows what would change."
        )
    if found.difference.of("added") or found.difference.of("changed"):
        return "Nothing was changed. Repeat with --apply to take the new and changed rates over."
    return "Nothing to take over."


def _section(title: str, lines: Sequence[str], most: int | None) -> Iterator[str]:
    if not lines:
        return
    yield ""
    yield title
    shown = lines if most is None else lines[:most]
    yield from (f"  {line}" for line in shown)
    if len(shown) < len(lines):
        yield f"  and {len(lines) - len(shown)} more (--all, or --json)"


def _item_line(item: Item) -> str:
    provider, model, ctx = item.target
    rates = ", ".join(
        f"{change.name}{'' if change.above < 0 else f' above {change.above:,}'} "
        f"{'' if change.old is None else usd(change.name, change.old) + ' -> '}{usd(change.name, change.new)}"
        for change in item.changes[:6]
    )
    more = f", and {len(item.changes) - 6} more" if len(item.changes) > 6 else ""
    if item.kind == "held":
        return f"{item.row.where} {item.row.ctx or 'standard'}: {rates}{more} ({item.reason})"
    return f"{provider}/{model} {ctx or 'standard'}: {rates}{more}"


def check_document(found: Check) -> dict[str, Any]:
    """Every disagreement with both rates, their sources and dates."""
    return {
        "schema": "halve.prices-check.v1",
        "price_book": found.version,
        "lists": [{"name": name, "as_of": _day(at_us)} for name, at_us in found.lists],
        "disagreements": [
            {
                "provider": one.provider,
                "model": one.model,
                "context": one.ctx or "standard",
                "class": one.name,
                "prompt_above": one.prompt_above,
                "unit": "USD each" if one.name in FEES else "USD per million tokens",
                "book_usd": one.book_usd,
                "book_since": None if one.since_us is None else _day(one.since_us),
                "book_source": one.source,
                "price_row": one.price_row,
                "other": one.other,
                "other_usd": one.other_usd,
                "other_as_of": _day(one.as_of_us),
                "ratio": round(one.ratio, 4),
            }
            for one in found.found
        ],
    }


def rate_lines(lines: Sequence[PriceLine]) -> Iterator[str]:
    """Dated rates as a table for people, USD per million tokens."""
    heading = ("price row", *(name.replace("_", " ") for name in SHOWN), "status", "source")
    rows = [
        (line.price_row, *(line.usd_per_mtok[name] or "-" for name in SHOWN), line.status, line.source)
        for line in lines
    ]
    return aligned([heading, *rows], right=range(1, len(SHOWN) + 1), longest=LONGEST_ROW)


def check_lines(found: Check) -> Iterator[str]:
    """The same as a table for people."""
    yield "Compared with the book: " + "; ".join(f"{name} as of {_day(at_us)}" for name, at_us in found.lists) + "."
    if not found.found:
        yield "No rate differs by more than 1 %."
        return
    heading = ("model", "context", "class", "book", "since", "other", "as of", "list")
    rows = [
        (
            f"{one.provider}/{one.model}",
            one.ctx or "standard",
            one.name + ("" if one.prompt_above is None else f" >{one.prompt_above}"),
            one.book_usd,
            "start" if one.since_us is None else _day(one.since_us),
            one.other_usd,
            _day(one.as_of_us),
            one.other,
        )
        for one in found.found
    ]
    yield from aligned([heading, *rows], right={3, 5})
    yield f"{len(rows)} rates differ by more than 1 %. USD per million tokens, fees USD each."


def _day(at_us: int) -> str:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime("%Y-%m-%d")
