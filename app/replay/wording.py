"""What to change so that a chosen cache layout comes true, as sentences with the numbers in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Wording:
    """A headline, steps in order, how to see that it worked, and an example of what changes ('' where none is kept)."""

    headline: str
    steps: tuple[str, ...]
    verify: str
    example: str = ""


def what_to_change(params: Mapping[str, Any], where: str, requests: int) -> Wording:
    """The sentences for `LayoutChoice.params()` of the feature `where`."""
    if params["action"] == "stop":
        return _stop(params, where)
    steps = []
    if params["breaker"] is not None:
        steps += _moves(params["breaker"], params["min_tokens"], newest=params["layout"] == 2)
    if params["fan_out_tokens"] > 0.01 * params["tokens_per_request"] * requests:
        steps.append(
            f"Where many requests start together, send one first and the rest when its answer begins: about "
            f"{params['fan_out_tokens']:,} more tokens would be read (not in the figure)."
        )
    if params["marks"] or params["mark_last"]:
        steps.append(_marks(params))
        if params["lifetime_longer"]:
            steps.append(f"Ask for the {params['lifetime']} lifetime at each mark; longer-lived marks come first.")
    read = f"{params['planned_read_share']:.0%} of its input instead of {params['billed_read_share']:.0%}"
    headline = f"{where}: let the provider's cache serve {read}"
    if params["action"] == "reorder":
        headline = f"{where}: put the stable instructions first, so that the cache serves {read}"
    return Wording(
        headline,
        tuple(steps),
        f"Cached tokens divided by input tokens of {where} rise from {params['billed_read_share']:.0%} to about "
        f"{params['planned_read_share']:.0%} within a day.",
        "\n".join(params["breaker"]["examples"]) if params["breaker"] else "",
    )


def _stop(params: Mapping[str, Any], where: str) -> Wording:
    gap = params["typical_gap_s"]
    cause = ""
    if gap is not None and gap > params["lifetime_s"]:
        cause = f" Requests come {gap / 60:.1f} minutes apart, an entry lives {params['lifetime_s'] / 60:.0f}."
    even = (params["write"] - 1) / (params["write"] - params["read"])
    return Wording(
        f"{where}: stop marking prompts for the cache, it costs more than it saves",
        (
            f"Remove the cache marks of {where}: {params['billed_writes']:,} tokens were written at "
            f"{params['write']:g} x the input price and {params['billed_reads']:,} were read.{cause}",
            f"Caching pays here once more than {even:.0%} of the written prefixes are read again within the lifetime.",
        ),
        f"Cache-write tokens of {where} fall to zero; its input cost falls by the write premium.",
    )


def _moves(breaker: Mapping[str, Any], minimum: int, *, newest: bool) -> list[str]:
    if breaker["tool_orders"] > 1:
        steps = [
            f"The same tools are sent in up to {breaker['tool_orders']:,} orders, so prompts never begin alike. "
            "Sort them (by name) before every call; also sort the keys of their schemas."
        ]
        if breaker["stable_tokens_behind"] == 0:
            return steps
        return steps + _moves({**breaker, "tool_orders": 1}, minimum, newest=newest)
    place = "its first line" if breaker["line"] == 1 else f"line {breaker['line']}"
    if breaker["line"] is None:
        place = "the first changing part"
    target = "behind the stable instructions, to the end of the same message (or into the user's)"
    if newest:
        target = "into the newest message of the conversation, so that older turns are read from the cache too"
    steps = [
        f"The prompt changes at {place} ({breaker['kind']}), after about {breaker['tokens_before']:,} tokens; about "
        f"{breaker['stable_tokens_behind']:,} tokens that never change stand behind it and are paid in full each time.",
        f"Move what changes {target}, so that about {breaker['stable_tokens']:,} tokens come first; the model caches "
        f"from {minimum:,} on.",
    ]
    if breaker["kind"] in ("time", "date"):
        steps.append("Or shorten the time to the date: then it changes once a day.")
    return steps


def _marks(params: Mapping[str, Any]) -> str:
    fixed = ", ".join(f"part {ordinal}" for ordinal in params["marks"])
    places = [f"at the end of {fixed} of the prompt (counted from 1: all tools, system, messages)"] if fixed else []
    if params["mark_last"]:
        places.append("on the last block of the newest message, so that the next turn reads this one")
    return f"Add a cache mark ({params['mark_name']}) {' and '.join(places)}."
