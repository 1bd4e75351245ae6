"""Ways to spend less, one file each, in the causal order in which they act. A new lever is a file and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.levers import batch, prompt_caching, response_cache, smaller_model, waste

if TYPE_CHECKING:
    from app.levers.lever import Lever

LEVERS: Final[tuple[Lever, ...]] = (
    waste.LEVER,
    response_cache.LEVER,
    smaller_model.LEVER,
    batch.LEVER,
    prompt_caching.LEVER,
)
