"""How many searches of an answer are sold: Google sells them by the prompt up to Gemini 2.5, by the query after.

Source: https://ai.google.dev/gemini-api/docs/pricing.
"""

from __future__ import annotations

from typing import Final

_SOLD_BY_PROMPT: Final = ("gemini-1", "gemini-2")


def searches_sold(model: str | None, queries: int) -> float:
    """The searches that carry a fee, of so many queries that an answer of a model made."""
    by_prompt = (model or "").rpartition("/")[2].startswith(_SOLD_BY_PROMPT)
    return float(min(queries, 1) if by_prompt else queries)
