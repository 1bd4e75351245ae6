"""The states of jobs, parts and items: which move follows which, and what a job is when its parts are what they are.

Parts move on their own; the state of a job is derived from theirs, so that the two never disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.control.batches import Outcome, State, Tally

NEXT: Final[dict[State, frozenset[State]]] = {
    "scheduled": frozenset({"queued", "submitting", "waiting_for_quota", "settled"}),
    "queued": frozenset({"submitting", "waiting_for_quota", "settled"}),
    "waiting_for_quota": frozenset({"submitting", "queued", "settled"}),
    # The answer is known (submitted, settled), or it is certain that nothing was accepted (queued, waiting_for_quota).
    "submitting": frozenset({"submitted", "queued", "waiting_for_quota", "settled"}),
    "submitted": frozenset({"settling"}),
    # Back to submitting where the results prove that the batch was somebody else's.
    "settling": frozenset({"settled", "submitting"}),
    "settled": frozenset(),
}
"""Where a part may go from each state."""

UNSENT: Final = frozenset({"scheduled", "queued", "waiting_for_quota"})
"""States in which it is certain that the provider has nothing of the part."""


def check_move(before: State, after: State) -> None:
    """Refuse a move that the machine does not know.

    Raises:
        ConflictError: the part stands elsewhere by now.
    """
    if after not in NEXT[before]:
        raise ConflictError(f"A part of a batch job cannot go from {before} to {after}. Look at the job again.")


def of_job(parts: Collection[State], *, open_items: bool) -> State:
    """The state of a job: the most pressing one of its live parts; settled only with no open item left."""
    live = [state for state in parts if state != "settled"]
    if not live:
        return "queued" if open_items else "settled"
    if "submitting" in live:
        return "submitting"
    if "waiting_for_quota" in live:
        return "waiting_for_quota"
    if "queued" in live:
        return "submitting" if len(set(live)) > 1 else "queued"
    for state in ("settling", "submitted"):
        if state in live:
            return state
    return "scheduled"


def outcome_of(tally: Tally) -> Outcome:
    """What became of a settled job, from its items alone: the provider's own word is not asked."""
    if tally.cancelled:
        return "cancelled"
    if tally.succeeded == tally.total:
        return "completed"
    if tally.succeeded:
        return "partly"
    return "expired" if tally.expired and not tally.failed else "failed"
