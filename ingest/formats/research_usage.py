"""Usage of Perplexity's deep research: pages that it read and reasoning stand beside prompt and answer, and each search
carries a fee.

Its total is prompt and answer alone. Citation tokens are sold at the price of input tokens
(https://docs.perplexity.ai/getting-started/pricing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.formats.fields import count

if TYPE_CHECKING:
    from app.core.usage import UsageEvent


def read_research(
    usage: dict[str, Any], prompt: int | None, completion: int | None, event: UsageEvent, warnings: list[str]
) -> None:
    """Complete `event`, whose prompt is read, with what the research added.

    Args:
        usage: the usage object; `citation_tokens` in it says that it is one of a research.
        prompt: all prompt tokens.
        completion: all answer tokens.
        event: receives the answer, reasoning, citations among the input, and searches.
        warnings: receives `bad_number:*`, `sum_mismatch`.
    """
    total = event.tok_total_reported
    if total is not None and prompt is not None and total != prompt + (completion or 0):
        warnings.append("sum_mismatch")
    event.tok_total_reported = None
    event.tok_output = completion
    event.tok_reasoning = count(usage.get("reasoning_tokens"), "reasoning", warnings)
    read = count(usage.get("citation_tokens"), "citation", warnings)
    if read is not None:
        event.tok_input = (event.tok_input or 0) + read
    searches = count(usage.get("num_search_queries"), "web_search", warnings)
    if searches:
        event.units = {**(event.units or {}), "web_search": float(searches)}
