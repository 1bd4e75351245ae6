"""Roll-ups: sums of the facts by bucket, filled again whenever facts or attribution change, and the check on them.

The facts decide. A roll-up is never written by anything but its fill query, so filling it twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from app.core.errors import UsageError

if TYPE_CHECKING:
    from app.warehouse.store import Session

HOUR_US = 3_600_000_000
_END_OF_TIME = 2**62


@dataclass(frozen=True, slots=True)
class Difference:
    """A bucket in which a roll-up does not say what the facts say.

    `measure` is requests, tokens, cost_pusd, parts (a checksum over token classes and cost parts), groups (sums agree,
    but stand under other dimensions) or latency.
    """

    at_us: int
    measure: str
    facts: int | None
    rollup: int | None


def bucket(session: Session) -> int | None:
    """The width of the buckets in microseconds, None before the first fill."""
    rows = session.rows("rollup.bucket")
    return int(rows[0][0]) if rows else None


def rebuild(session: Session, *, from_us: int = 0, to_us: int = _END_OF_TIME, bucket_us: int | None = None) -> None:
    """Fill both roll-ups from the facts, whole or for the buckets that [from_us, to_us) touches.

    Call inside `Warehouse.writing()`, after attribution. `bucket_us` (an hour, or a part of one) can change only when
    everything is filled.

    Raises:
        UsageError: another bucket width for a part of the time.
    """
    standing = bucket(session)
    width = bucket_us or standing or HOUR_US
    whole = from_us <= 0 and to_us >= _END_OF_TIME
    if standing is not None and width != standing and not whole:
        raise UsageError("The roll-ups have another bucket width: fill all of them, not a part.")
    start = max(0, from_us) // width * width
    end = to_us if whole else -(-to_us // width) * width
    session.execute("rollup.set_bucket", bucket_us=width)
    for name, facts in (("spend", "attributed_spend_facts"), ("latency", "attributed_facts")):
        session.execute(f"rollup.{name}_clear", from_us=start, to_us=end)
        into = {"facts": facts, "into": f"{name}_hour", "name": "feature"}
        session.execute(f"rollup.{name}_fill", into, from_us=start, to_us=end, bucket_us=width)


def add(session: Session, fresh: str, attribution: str, starts_us: pl.Series) -> None:
    """Add requests that no roll-up holds yet, without reading the others of their buckets again.

    A request that a roll-up held before (a fuller snapshot took its place) is then counted twice, which `counts_agree`
    sees: `rebuild_for` puts it right.

    Args:
        session: inside `Warehouse.writing()`, after attribution.
        fresh: a relation of their request_key and start_us, each once.
        attribution: a relation of their attribution, in the columns of the table of that name.
        starts_us: when they started, as for `rebuild_for`.
    """
    width = bucket(session) or HOUR_US
    session.execute("rollup.fresh", {"fresh": fresh, "attribution": attribution})
    for start, end in _runs(starts_us, width):
        for name in ("spend", "latency"):
            into = {"facts": "fresh_facts", "into": f"{name}_hour", "name": "feature"}
            session.execute(f"rollup.{name}_fill", into, from_us=start, to_us=end, bucket_us=width)
        session.execute("rollup.spend_aside", from_us=start, to_us=end)
        session.execute("rollup.spend_clear", from_us=start, to_us=end)
        session.execute("rollup.spend_fill", {"facts": "spend_standing"}, from_us=start, to_us=end, bucket_us=width)
        session.execute("rollup.latency_fold", from_us=start, to_us=end)
        session.execute("rollup.latency_clear", from_us=start, to_us=end)
        session.execute("rollup.latency_unfold")


def rebuild_for(session: Session, starts_us: pl.Series) -> None:
    """Fill the buckets in which requests started (NULL: without a time); neighbouring buckets go together."""
    for start, end in _runs(starts_us, bucket(session) or HOUR_US):
        rebuild(session, from_us=start, to_us=end)


def _runs(starts_us: pl.Series, width: int) -> list[tuple[int, int]]:
    """The buckets of these starts as half-open ranges of time, neighbours in one."""
    buckets = (starts_us.cast(pl.Int64).fill_null(0) // width).unique().sort().to_list()
    runs: list[tuple[int, int]] = []
    for number in buckets:
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return [(first * width, last * width) for first, last in runs]


def differences(session: Session, *, from_us: int = 0, to_us: int = _END_OF_TIME) -> list[Difference]:
    """The standing check: every bucket where roll-ups and facts disagree. Empty is proof that they agree."""
    width = bucket(session) or HOUR_US
    found = [
        Difference(int(at_us), str(measure), _int(facts), _int(rollup))
        for name in ("spend", "latency")
        for at_us, measure, facts, rollup in session.rows(
            f"rollup.{name}_check", from_us=from_us, to_us=to_us, bucket_us=width
        )
    ]
    return sorted(found, key=lambda item: (item.at_us, item.measure))


def counts_agree(session: Session) -> bool:
    """Whether both sides hold as many requests and dollars in all: cheap, and sees whatever moved them."""
    facts, rolled, facts_pusd, rolled_pusd = session.rows("rollup.counts")[0]
    return int(facts) == int(rolled) and int(facts_pusd) == int(rolled_pusd)


def repair(session: Session) -> list[Difference]:
    """Fill the buckets that the standing check names; returns what it found."""
    found = differences(session)
    if found:
        rebuild_for(session, pl.Series([item.at_us for item in found], dtype=pl.Int64))
    return found


def _int(value: object) -> int | None:
    return None if value is None else int(str(value))
