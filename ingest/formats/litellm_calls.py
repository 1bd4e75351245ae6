"""What LiteLLM's two layouts of one call have in common: its names of models and calls, its failures, its bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import tokens_in
from ingest.formats import anthropic_messages, openai_chat, openai_responses
from ingest.formats.anthropic_usage import read_context
from ingest.formats.dressing import UNBILLED_STATUSES
from ingest.formats.fields import calls_counted, count, decoded_text, integer, table, text
from ingest.formats.grounding import searches_sold

if TYPE_CHECKING:
    from app.core.usage import UsageEvent

_OPERATIONS: Final = {
    "embedding": "embedding",
    "image_generation": "image",
    "text_completion": "completion",
    "transcription": "audio",
    "speech": "audio",
    "rerank": "rerank",
    "moderation": "moderation",
}


_SUMS: Final = ("retrieve_batch", "create_batch", "cancel_batch", "realtime")


def model_name(model: str | None, provider: str | None) -> str | None:
    """The provider's own name of the model: LiteLLM puts its provider slug in front."""
    if model is not None and provider is not None and model.startswith(f"{provider}/"):
        return model[len(provider) + 1 :]
    return model


def operation(call_type: str | None) -> str:
    """What kind of call a `call_type` is; asynchronous ones begin with an a."""
    if call_type is None:
        return "chat"
    return _OPERATIONS.get(call_type.removeprefix("a"), _OPERATIONS.get(call_type, "chat"))


def is_batch(call_type: str | None) -> bool:
    """Whether a row is the bill of a batch, which LiteLLM books when its results are fetched (`aretrieve_batch`)."""
    return "batch" in (call_type or "")


def calls_summed(call_type: str | None, response: dict[str, Any], event: UsageEvent) -> int | None:
    """How many calls a row with usage sums, 0 where it does not say: the bill of a batch, a realtime session.

    Args:
        call_type: of the row.
        response: the answer, where it is kept: the batch counts its lines (`request_counts`).
        event: of the row, with its tokens.
    """
    if tokens_in(event) is None or (call_type or "").strip("_").removeprefix("a") not in _SUMS:
        return None
    done = integer(table(response.get("request_counts")).get("completed"))
    return None if done == 1 else calls_counted(done) or 0


def read_failure(failure: dict[str, Any], event: UsageEvent) -> None:
    """How a failed call ended, and whether it is known that nothing was billed."""
    event.status = "error"
    event.http_status = integer(failure.get("error_code"))
    named = [text(failure.get(key)) for key in ("error_class", "error_message", "traceback")]
    event.error = ": ".join(piece for piece in named if piece) or None
    if event.http_status in (408, 504) or "timeout" in str(failure.get("error_class")).lower():
        event.status = "timeout"
    elif event.http_status in UNBILLED_STATUSES and event.tok_input is None:
        event.not_billed = True


def read_bodies(request: dict[str, Any], response: dict[str, Any], call_type: Any, event: UsageEvent) -> None:
    """The prompt, the parameters and the answer, where the proxy was told to keep them."""
    if request:
        if call_type in ("anthropic_messages", "aanthropic_messages"):
            anthropic_messages.read_request(request, event)
        elif "input" in request and "messages" not in request:
            openai_responses.read_request(request, event)
        else:
            openai_chat.read_request(request, event)
        event.tags = None
    if response:
        choices = response.get("choices")
        event.output = openai_chat.answer_text(choices) or anthropic_messages.answer_text(response.get("content"))
        if type(choices) is list and choices and type(choices[0]) is dict:
            event.finish_reason = text(choices[0].get("finish_reason"))


def read_searches(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Searches of the provider's tool, which carry a fee: as Anthropic counts them, or in the prompt's details."""
    tools, details = table(usage.get("server_tool_use")), table(usage.get("prompt_tokens_details"))
    asked = tools.get("web_search_requests", details.get("web_search_requests"))
    searches = count(asked, "web_search", warnings)
    if searches:
        event.units = {**(event.units or {}), "web_search": searches_sold(event.model, searches)}


def usage_object(row: dict[str, Any], *holders: Any) -> dict[str, Any]:
    """The full usage that a holder keeps, else the row itself, whose counters are the same without their details."""
    for holder in holders:
        kept = table(holder).get("usage_object")
        if type(kept) is dict and ("prompt_tokens" in kept or "input_tokens" in kept):
            return kept
    return row


def read_served(usage: dict[str, Any], basis: dict[str, Any], response: dict[str, Any], event: UsageEvent) -> None:
    """Tier, place and speed that served a call, which decide its price as much as its tokens do.

    Args:
        usage: the full usage; of Anthropic it says the tier, the geography and the speed.
        basis: `cost_breakdown`, whose `service_tier`, `data_residency` and `vertex_location` are what LiteLLM's own
            price stands on: of the tier asked for and the one that served, the latter (`CostBreakdown`, 1.110).
        response: the answer, where it is kept.
        event: receives them; its `service_tier` may hold the tier that was asked for.
    """
    tiers = (response.get("service_tier"), usage.get("service_tier"), basis.get("service_tier"))
    served = next((tier for given in tiers if (tier := text(given)) is not None), None)
    if served is not None or "service_tier" in basis:
        event.service_tier = served
    event.is_batch = event.is_batch or event.service_tier == "batch"
    event.region = text(basis.get("vertex_location")) or event.region
    read_context({"inference_geo": basis.get("data_residency")}, event)
    read_context(usage, event)


def listed(value: Any) -> Any:
    """A value that may be given as its JSON text."""
    return decoded_text(value) if type(value) is str else value


def body(value: Any) -> dict[str, Any]:
    """A stored body, given as object or text, with or without a wrapper."""
    whole = table(value)
    inner = whole.get("body")
    return inner if type(inner) is dict else whole
