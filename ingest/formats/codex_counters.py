"""The token counter of a Codex session: it grows with every call, is written again unchanged, and starts anew.

`total_token_usage` is cumulative, `last_token_usage` the latest call's own. A call is what the counter grew by; the
call's own usage is the check, and takes the counter's place where there is nothing to subtract from: at the first
reading of a file (a resumed or forked session goes on from an older sum) and after a reset (a full context window).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ingest.formats.fields import count, integer
from ingest.formats.openai_usage import read_usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.usage import UsageEvent

_NAMES: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
_CALL: Final = (0, 3)  # a call has prompt or answer tokens


class Usage(NamedTuple):
    """Counts in the order of _NAMES; None is not written."""

    input: int | None
    cached: int | None
    written: int | None
    output: int | None
    reasoning: int | None
    total: int | None

    @property
    def is_call(self) -> bool:
        return any(self[at] for at in _CALL)


def usage_of(value: Any, warnings: list[str]) -> Usage | None:
    """The counts of a call's own usage object; None where it is none."""
    return _read(value, lambda given, field: count(given, field, warnings))


def total_of(value: Any) -> Usage | None:
    """The counts of a cumulative usage object, which grow beyond what one call can have."""
    return _read(value, lambda given, _: amount if (amount := integer(given)) is not None and amount >= 0 else None)


def _read(value: Any, number: Callable[[Any, str], int | None]) -> Usage | None:
    if type(value) is not dict or not any(name in value for name in _NAMES):
        return None
    return Usage(*(number(value.get(name), name.removesuffix("_tokens")) for name in _NAMES))


_NOTHING: Final = Usage(None, None, None, None, None, None)


class Counter:
    """The sum that a session has reached, and how often it started anew.

    `sums` says of the latest reading that what it grew by may be several calls: nothing stood before it, or the latest
    call alone was less.
    """

    def __init__(self) -> None:
        self.total: Usage | None = None
        self.sums = False
        self.resets = 0
        self._seen: set[Usage] = set()  # sums that were reached: a copy of the session in the same file repeats them

    def advance(self, total: Usage, last: Usage | None, warnings: list[str]) -> Usage:
        """What was used since the last reading; without any tokens where the same sum is written again."""
        before, self.total, self.sums = self.total, total, False
        if total in self._seen:
            return _NOTHING
        self._seen.add(total)
        if before is None:
            self.sums = last is None
            return total if last is None else last
        if last is not None and total[:5] == last[:5]:
            self.resets += 1  # the sum is this call alone, however little stood there before
            return last
        grown = Usage(*(_difference(now, was) for now, was in zip(total, before, strict=True)))
        if any(step is not None and step < 0 for step in grown[:5]):
            self.resets += 1
            self.sums = last is None
            return total if last is None else last
        if grown.is_call and last is not None and any(grown[at] != last[at] for at in _CALL):
            warnings.append("counter_disagrees")
            self.sums = any((grown[at] or 0) > (last[at] or 0) for at in _CALL)
        return grown

    def place(self) -> str:
        """A name of this reading: the same in every copy of the session."""
        total = self.total
        return "" if total is None else f"{self.resets}:{total.input}:{total.output}"


def _difference(now: int | None, was: int | None) -> int | None:
    return None if now is None else now - (was or 0)


def classes(usage: Usage, event: UsageEvent, warnings: list[str]) -> None:
    """Fill the token classes: cached and written tokens are inside the input, reasoning inside the output."""
    details = {"cached_tokens": usage.cached, "cache_write_tokens": usage.written}
    body: dict[str, Any] = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "input_tokens_details": {name: value for name, value in details.items() if value is not None},
        "output_tokens_details": {} if usage.reasoning is None else {"reasoning_tokens": usage.reasoning},
    }
    # After a reset the sum of a reading may hold the context window, which is no call's.
    if usage.total is not None and usage.total >= 0:
        body["total_tokens"] = usage.total
    read_usage(body, event, warnings, "tok_cache_write_30m")
