"""What reading quarantined places again changes in the counts: what was rejected before is no more, or still.

The ledger counted each place as read and rejected when it was put into the quarantine. Its row of a replay takes that
back and adds what became of the place, so that read = stored + updated + merged + benign + rejected holds for the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ingest.shard import ChunkResult, ShardMeta

Counts = tuple[int, int]
"""Requests that were stored and updated."""


def whole_file(meta: ShardMeta) -> bool:
    """Whether a replay reads a file that was refused as a whole: the ledger does not know it yet, and counts it now."""
    return bool(meta.replays) and all(line == 0 for _, _, line in meta.replays)


def corrected(meta: ShardMeta, changed: Mapping[int, Counts]) -> Summary:
    """What a shard of a replay adds to the counts of its file; `changed` by the number of a chunk."""
    results: Sequence[ChunkResult] = meta.chunks
    stored = sum(changed.get(number, (0, 0))[0] for number in range(len(results)))
    updated = sum(changed.get(number, (0, 0))[1] for number in range(len(results)))
    read, benign = sum(one.read for one in results), sum(one.benign for one in results)
    rejected = sum(one.rejected for one in results)
    # A long file is replayed in several shards, of which the first one takes the places back.
    before = sum(line > 0 for _, _, line in meta.replays) if meta.name.count("-") == 1 else 0
    if all(one.chunk.line_to - one.chunk.line_from == 1 for one in results):
        merged = read - benign - rejected - stored - updated
    else:
        # The rest of the file was read with its places, and was counted when it was read first.
        benign, merged = 0, max(0, before - rejected - stored - updated)
    total = stored + updated + merged + benign + rejected
    return Summary(
        read=total - before,
        stored=stored,
        updated=updated,
        merged=merged,
        benign=benign,
        rejected=rejected - before,
    )
