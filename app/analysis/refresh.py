"""What follows new requests: attribution, then the roll-ups of the hours that changed, then a cheap check of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.analysis.attribution import PENDING, PENDING_ATTRIBUTION, attribute
from app.analysis.days import bucket_for
from app.warehouse import rollup

if TYPE_CHECKING:
    from app.analysis.attribution import Attributed
    from app.analysis.rules import Rule
    from app.warehouse.store import Session


def refresh(session: Session, rules: tuple[Rule, ...], *, now_us: int, zone: str, again: bool = False) -> Attributed:
    """Attribute what is new and fill its hours; everything where rules, zone or `again` demand it.

    Call inside `Warehouse.writing()` after every ingest. Without new requests it costs milliseconds.
    """
    standing = session.rows("attribution.state")
    done = attribute(session, rules, now_us=now_us, again=again)
    bucket_us = bucket_for(zone)
    if not standing or int(standing[0][0]) != done.version or rollup.bucket(session) != bucket_us:
        rollup.rebuild(session, bucket_us=bucket_us)
        return done
    if done.requests:
        starts = session.frame("attribution.pending_starts")["start_us"]
        rollup.add(session, PENDING, PENDING_ATTRIBUTION, starts)
        if rollup.counts_agree(session):
            return done
        rollup.rebuild_for(session, starts)  # fuller snapshots took the place of requests that were summed before
    if not rollup.counts_agree(session):
        # one of those moved a request to another hour, or somebody wrote facts past the merge
        rollup.repair(session)
    return done
