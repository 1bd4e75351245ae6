"""What a file of request lines holds and would cost, before anything is kept or sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from app.batch.dialect import RAW_OBJECT
from app.batch.estimate import Volume, estimate
from app.batch.intake import Reading, checked
from app.batch.providers import provider_named

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from app.batch.estimate import Estimate, Prices
    from app.batch.intake import LineProblem


@dataclass(frozen=True, slots=True)
class Preview:
    """A file as a provider would read it.

    Attributes:
        items, bytes: of the good lines.
        endpoints: what they ask for.
        problems: the first lines that no provider would take; `wrong` counts all of them.
        estimate: what the good lines cost.
    """

    items: int
    bytes: int
    endpoints: tuple[str, ...]
    problems: tuple[LineProblem, ...]
    wrong: int
    estimate: Estimate


def preview(
    lines: Iterable[bytes], provider_name: str, *, base_url: str | None, prices: Prices | None, at_us: int
) -> Preview:
    """Check every line and estimate the cost at a time.

    Raises:
        UsageError: there is no such provider.
    """
    provider = provider_named(provider_name)
    reading = Reading([], {}, [])
    items = size = 0
    for line, request in checked(lines, provider, reading):
        items += 1
        size += len(line)
        volume = reading.volumes.setdefault((request.model, request.endpoint), Volume(request.model, request.endpoint))
        volume.add(len(request.prompt), request.max_output)
    return Preview(
        items=items,
        bytes=size,
        endpoints=tuple(sorted({endpoint for _, endpoint in reading.volumes})),
        problems=tuple(reading.problems),
        wrong=reading.wrong,
        estimate=estimate(provider, base_url, list(reading.volumes.values()), prices, at_us),
    )


def spoken(path: Path) -> str | None:
    """The provider whose lines a file holds, by its first one: `params` is Anthropic's, `body` OpenAI's."""
    with path.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
    try:
        fields = RAW_OBJECT.decode(first.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return "anthropic" if "params" in fields else "openai" if "body" in fields else None
