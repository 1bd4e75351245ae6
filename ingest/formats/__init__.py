"""The formats Halve reads, one file each, in the explicit tuple `FORMATS`, and their detection by content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.errors import UsageError
from ingest.formats import (
    anthropic_batch_results,
    azure_apim_llm_log,
    azure_openai_log,
    bedrock_batch_output,
    bedrock_invocation_log,
    claude_code,
    claude_code_telemetry,
    cloudflare_ai_gateway,
    codex_cli,
    gemini_batch_output,
    gemini_cli,
    generic_rows,
    helicone,
    langchain_messages,
    langfuse,
    litellm_spend_logs,
    litellm_standard_logging,
    openai_batch_output,
    openrouter_generation,
    otel_spans,
    otlp_genai,
    pi_sessions,
    portkey,
    prefix_hash_trace,
    swe_agent,
    text_trace,
    vertex_request_log,
)
from ingest.formats.bills import BILLS
from ingest.formats.exchanges import EXCHANGE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ingest.formats.format import Format

FORMATS: Final[tuple[Format, ...]] = (
    gemini_batch_output.FORMAT,
    vertex_request_log.FORMAT,
    bedrock_invocation_log.FORMAT,
    bedrock_batch_output.FORMAT,
    azure_apim_llm_log.FORMAT,
    azure_openai_log.FORMAT,
    langchain_messages.FORMAT,
    gemini_cli.FORMAT,
    openai_batch_output.FORMAT,
    anthropic_batch_results.FORMAT,
    # gateways before the bodies that they may have kept
    litellm_spend_logs.FORMAT,
    litellm_standard_logging.FORMAT,
    helicone.FORMAT,
    openrouter_generation.FORMAT,
    portkey.FORMAT,
    cloudflare_ai_gateway.FORMAT,
    *EXCHANGE_FORMATS,
    langfuse.FORMAT,
    claude_code.FORMAT,
    claude_code_telemetry.FORMAT,
    otlp_genai.FORMAT,
    otel_spans.FORMAT,
    codex_cli.FORMAT,
    pi_sessions.FORMAT,
    swe_agent.FORMAT,
    prefix_hash_trace.FORMAT,
    text_trace.FORMAT,
    *BILLS,
    generic_rows.FORMAT,
)
DETECTION_RECORDS: Final = 200
MIN_SCORE: Final = 0.5


def detect_format(records: Iterable[Any], path: Path | str = "") -> Format | None:
    """The format whose layout the first records show best, or None where none does.

    Each record gives every format a score from 0 to 1. Formats are ranked by their best record, then by their sum, then
    by their place in `FORMATS`, so the same records always give the same answer. The path is only a tie-breaker: a
    format's name in it decides between equals.
    """
    best: Format | None = None
    best_rank: tuple[float, float, bool] = (0.0, 0.0, False)
    sample = [record for record, _ in zip(records, range(DETECTION_RECORDS), strict=False)]
    for candidate in FORMATS:
        scores = [_score(candidate, record) for record in sample]
        top = max(scores, default=0.0)
        rank = (top, sum(scores), candidate.name in str(path))
        if top >= MIN_SCORE and rank > best_rank:
            best, best_rank = candidate, rank
    return best


def _score(candidate: Format, record: Any) -> float:
    """A record that is nested more deeply than can be followed is of no layout."""
    try:
        return candidate.detect(record)
    except RecursionError:
        return 0.0


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        UsageError: no such format; the message lists them.
    """
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    known = ", ".join(candidate.name for candidate in FORMATS)
    raise UsageError(f"There is no format named {name!r}. Halve reads: {known}.")
