"""Re-pricings as documents for machines and as text for people: totals that add up, and what changed and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from app.core.money import pico, usd_text
from app.warehouse.ledger import END_OF_TIME
from reports.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.warehouse.ledger import Version
    from app.warehouse.reprice import Change, Difference

WHY: Final = {
    "corrected": "the price row says another rate",
    "other_row": "another price row holds",
    "priced": "became priced",
    "unpriced": "became unpriced",
    "completed": "every class has a price now",
    "less_complete": "a class lost its price",
    "same_cost": "same cost, other names",
}
SHOWN: Final = 60


def difference_document(found: Difference) -> dict[str, Any]:
    """Totals before and after and one row a day, model and reason; sums of unchanged and changed add up to them."""
    return {
        **_totals(found),
        "unchanged_usd": _unchanged(found, found.changes),
        "changes": [_change(item) for item in found.changes],
    }


def _totals(found: Difference) -> dict[str, Any]:
    return {
        "requests": found.requests,
        "changed": found.changed,
        "passed_over": found.passed_over,
        "priced_before": found.priced_before,
        "priced_after": found.priced_after,
        "before_usd": usd_text(found.known_before_pusd),
        "after_usd": usd_text(found.known_after_pusd),
        "difference_usd": usd_text(found.after_pusd - found.before_pusd),
    }


def _unchanged(found: Difference, changes: Sequence[Change]) -> str | None:
    """The known cost of what stays as it was; None where nothing had a cost."""
    if found.known_before_pusd is None:
        return None
    return usd_text(found.before_pusd - sum(item.before_pusd or 0 for item in changes))


def _change(item: Change) -> dict[str, Any]:
    return {
        "day": item.day,
        "model": item.model_id,
        "reason": item.reason,
        "why": WHY[item.reason],
        "requests": item.requests,
        "before_usd": usd_text(item.before_pusd),
        "after_usd": usd_text(item.after_pusd),
        "difference_usd": usd_text((item.after_pusd or 0) - (item.before_pusd or 0)),
    }


def version_document(version: Version, changes: Sequence[Change] | None = None) -> dict[str, Any]:
    """A version: who made it, when, why, with which book, and what it changed; with `changes` also by day and model."""
    order = version.order
    document = {
        "version": version.version,
        "kind": order.kind,
        "restores": order.restores,
        "price_book": order.price_book,
        "prices": order.prices,
        "from": _moment(order.from_us) if order.from_us > 0 else None,
        "to": _moment(order.to_us) if order.to_us < END_OF_TIME else None,
        "zone": order.zone,
        "who": order.who,
        "why": order.why,
        "started": _moment(version.started_us),
        "ended": None if version.ended_us is None else _moment(version.ended_us),
        "state": version.ending or "unfinished",
        **_totals(version.did),
    }
    if changes is not None:
        document["unchanged_usd"] = _unchanged(version.did, changes)
        document["changes"] = [_change(item) for item in changes]
    return document


def difference_text(document: Mapping[str, Any]) -> str:
    """A dry run, or what a version did, for a terminal."""
    lines = [_headline(document)]
    if document["passed_over"]:
        lines.append(
            f"{document['passed_over']:,} requests keep their figures: a fuller log has replaced the call since."
        )
    lines += _table(document)
    lines += [
        f"With a known cost: {document['priced_before']:,} requests before, {document['priced_after']:,} after.",
    ]
    if not document.get("applied", True):
        lines.append(
            "Nothing was changed. `--apply` does it as a new version of the costs; the figures before it stay."
            if document["changed"]
            else "Nothing would change."
        )
    return "\n".join(lines)


def _headline(document: Mapping[str, Any]) -> str:
    if document["kind"] == "rollback":
        what = f"back to version {document['restores']}" if document.get("restores") is not None else "back"
    else:
        what = f"with price book {document['price_book']}"
    if document.get("version") is None:
        return f"Dry run {what}: {document['changed']:,} of {document['requests']:,} requests would change."
    return (
        f"Version {document['version']} ({document['state']}) {what}: {document['changed']:,} of "
        f"{document['requests']:,} requests changed."
    )


def _table(document: Mapping[str, Any]) -> Iterable[str]:
    """What changed, the largest first, then what did not, and the whole."""
    heading = ("day", "model", "requests", "before, USD", "after, USD", "difference", "why")
    rows = sorted(document["changes"], key=lambda row: -abs(pico(row["difference_usd"])))
    grid = [
        (
            row["day"] or "no time",
            _cut(row["model"] or "-", 39),
            f"{row['requests']:,}",
            _known(row["before_usd"]),
            _known(row["after_usd"]),
            _signed(row["difference_usd"]),
            row["why"],
        )
        for row in rows[:SHOWN]
    ]
    left = rows[SHOWN:]
    if left:
        amount = usd_text(sum(pico(row["difference_usd"]) for row in left)) or "0"
        label = f"{len(left)} smaller changes (--json lists them)"
        grid.append((label, "", f"{sum(row['requests'] for row in left):,}", "", "", _signed(amount), ""))
    unchanged = document["requests"] - document["changed"]
    grid += [
        ("Unchanged", "", f"{unchanged:,}", _known(document["unchanged_usd"]), "", "", ""),
        (
            "Total",
            "",
            f"{document['requests']:,}",
            _known(document["before_usd"]),
            _known(document["after_usd"]),
            _signed(document["difference_usd"]),
            "",
        ),
    ]
    return aligned([heading, *grid], right={2, 3, 4, 5}, names=2)


def versions_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a version, the newest first."""
    if not rows:
        return "Nothing was priced anew yet: every cost is what its request was priced at when it was taken in."
    heading = ("version", "when", "state", "changed", "difference, USD", "what")
    return "\n".join(aligned([heading, *(_version_row(row) for row in rows)], right={3, 4}, names=2))


def _version_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    if row["kind"] == "rollback":
        what = f"back to version {row['restores']}"
    else:
        what = f"price book {row['price_book']}" + (f" with {row['prices']}" if row["prices"] else "")
    span = f", {row['from'] or 'the first'} to {row['to'] or 'the last'}" if row["from"] or row["to"] else ""
    why = f": {row['why']}" if row["why"] else ""
    return (
        str(row["version"]),
        row["started"][:19],
        row["state"],
        f"{row['changed']:,}",
        _signed(row["difference_usd"]),
        f"{what}{span} (by {row['who'] or 'unknown'}){_cut(why, 80)}",
    )


def _known(amount: str | None) -> str:
    return amount or "unknown"


def _signed(amount: str) -> str:
    return amount if amount.startswith("-") or amount == "0" else f"+{amount}"


def _cut(text: str, width: int) -> str:
    clean = "".join(character if character.isprintable() else " " for character in text)
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def _moment(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
