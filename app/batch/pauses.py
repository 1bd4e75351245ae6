"""How long to wait before asking a provider again: growing pauses with jitter, longer for 429 than for 5xx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND_US: Final = 1_000_000
FIRST_S: Final[dict[str, int]] = {"server": 5, "throttled": 30, "quota": 300}
LONGEST_S: Final = 1800
LONGEST_ASKED_S: Final = 86_400.0  # a server with a wrong clock must not put a job off for years


def pause_us(
    failures: int,
    why: Literal["server", "throttled", "quota"],
    jitter: Callable[[], float],
    *,
    asked_s: float | None = None,
) -> int:
    """Microseconds before the next try after `failures` (1 or more) in a row.

    Doubles from 5 s (server), 30 s (throttled) or 5 min (quota) up to half an hour, drawn from the upper half by
    `jitter` (0 to 1); never shorter than the pause that the provider asked for, of which a day counts at most.
    """
    longest = min(LONGEST_S, FIRST_S[why] << min(failures - 1, 12))
    own = longest * (0.5 + 0.5 * jitter())
    return round(max(own, min(asked_s or 0.0, LONGEST_ASKED_S)) * SECOND_US)
