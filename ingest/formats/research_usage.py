"""What only Perplexity's usage has: its deep research, and the fee of its Pro Search.

Usage of a deep research: pages that it read and reasoning stand beside prompt and answer, and each search
carries a fee.

Its total is prompt and answer alone. Citation tokens are sold at the price of input tokens
(https://docs.perplexity.ai/getting-started/pricing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.formats.fields import count

if TYPE_CHECKING:
    from app.core.usage import UsageEvent


def note_pro_search(request: dict[str, Any], event: UsageEvent) -> None:
    """Put Pro Search into the size of the searched context, by which a request's fee goes: `pro`, `pro-low`, ...

    It runs only where it was asked for and the answer is streamed (https://docs.perplexity.ai/guides/pro-search-quickstart).
    What `auto` chose no answer says, so that its size names no fee, and the fee of a plain search is an estimate.
    """
    options = request.get("web_search_options")
    asked = (options if type(options) is dict else request).get("search_type") or request.get("search_type")
    if asked not in ("pro", "auto") or event.stream is not True:
        return
    context = event.price_context or {}
    size = context.get("search_context") or (options.get("search_context_size") if type(options) is dict else None)
    event.price_context = {**context, "search_context": f"{asked}-{size.lower()}" if type(size) is str else asked}


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
