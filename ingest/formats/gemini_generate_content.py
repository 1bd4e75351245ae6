"""Gemini generateContent (AI Studio and Vertex) and its embeddings: response alone, with its request, and streams.

Every chunk of a stream repeats the usage counted so far, so the last one counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import UsageEvent
from ingest.formats.fields import count, text
from ingest.formats.gemini_contents import answer_text, location_in, model_in, parts_of, pick, read_request
from ingest.formats.grounding import searches_sold
from ingest.formats.layout import Layout
from ingest.formats.modalities import Counters, by_modality, fill
from ingest.formats.openai_chat import error_text
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

# Tiers of Vertex by `trafficType`; the plain one is the standard tier.
_TRAFFIC: Final = {
    "ON_DEMAND": "standard",
    "ON_DEMAND_PRIORITY": "priority",
    "ON_DEMAND_FLEX": "flex",
    "ON_DEMAND_OFFPEAK": "offpeak",
    "PROVISIONED_THROUGHPUT": "provisioned",
}


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a generateContent or embedContent call."""
    event = UsageEvent(provider="google")
    response = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        response = _joined(exchange.chunks)
        if not any(type(one) is dict and pick(one, "finishReason") for one in response["candidates"]):
            event.status = "aborted"
    if exchange.request is not None:
        read_request(exchange.request, event)
    for name in ("path", "url", "endpoint", "host"):
        event.model = event.model or model_in(exchange.outer.get(name))
        event.region = event.region or location_in(exchange.outer.get(name))
    if response is not None:
        read_response(response, event, warnings)
    return event


def read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Fill `event` from a GenerateContentResponse."""
    event.provider_response_id = text(pick(response, "responseId"))
    event.model = text(pick(response, "modelVersion")) or event.model
    event.start_us = instant(pick(response, "createTime"), "createTime", warnings)
    candidates = response.get("candidates")
    if type(candidates) is list and candidates:
        event.output = answer_text(candidates)
        if type(candidates[0]) is dict:
            event.finish_reason = text(pick(candidates[0], "finishReason"))
        _count_searches(candidates, event)
    elif "embedding" in response or "embeddings" in response:
        event.operation = "embedding"
    feedback = pick(response, "promptFeedback")
    if type(feedback) is dict and (reason := text(pick(feedback, "blockReason"))) is not None:
        event.finish_reason = f"prompt_blocked:{reason}"
    usage = pick(response, "usageMetadata")
    if type(usage) is dict:
        read_usage(usage, event, warnings)
    if response.get("error"):
        event.status, event.error = "error", error_text(response["error"])


def read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Fill the classes and the served tier of `event` from `usageMetadata`; counters of zero are left out there."""

    def counter(*names: str) -> int | None:
        return next((count(given, name, warnings) for name in names if (given := pick(usage, name)) is not None), None)

    def split(name: str) -> dict[str, int]:
        details = pick(usage, name)
        if type(details) is list:
            details = [{**one, "tokenCount": pick(one, "tokenCount")} for one in details if type(one) is dict]
        return by_modality(details, "tokenCount", name, warnings)

    counters = Counters(
        prompt=counter("promptTokenCount"),
        cached=counter("cachedContentTokenCount"),
        tool_prompt=counter("toolUsePromptTokenCount"),
        answer=counter("candidatesTokenCount", "responseTokenCount"),  # the Live API's name is the second
        thoughts=counter("thoughtsTokenCount"),
        total=counter("totalTokenCount"),
        prompt_by=split("promptTokensDetails"),
        cached_by=split("cacheTokensDetails"),
        tool_by=split("toolUsePromptTokensDetails"),
        answer_by=split("candidatesTokensDetails") or split("responseTokensDetails"),
    )
    fill(counters, event, warnings, zeros_left_out=True)
    tier, traffic = text(pick(usage, "serviceTier")), text(pick(usage, "trafficType"))
    if traffic is not None and not traffic.endswith("UNSPECIFIED"):
        event.service_tier = _TRAFFIC.get(traffic, traffic.lower())
    elif tier is not None and tier != "unspecified":
        event.service_tier = tier


def _count_searches(candidates: list[Any], event: UsageEvent) -> None:
    queries = 0
    for candidate in candidates:
        grounding = pick(candidate, "groundingMetadata") if type(candidate) is dict else None
        asked = pick(grounding, "webSearchQueries") if type(grounding) is dict else None
        queries += len([query for query in asked if query]) if type(asked) is list else 0
    if queries:
        event.units = {"web_search": searches_sold(event.model, queries)}


def _joined(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """One response made of a stream's chunks."""
    joined: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for name in ("usageMetadata", "modelVersion", "responseId", "createTime", "promptFeedback", "error"):
            value = pick(chunk, name)
            if value is not None:
                joined[name] = value
        given = chunk.get("candidates")
        for candidate in given if type(given) is list else ():
            if type(candidate) is not dict:
                continue
            index = candidate.get("index") if type(candidate.get("index")) is int else 0
            whole = candidates.setdefault(index or 0, {"content": {"parts": []}})
            whole["content"]["parts"] += parts_of(candidate.get("content"))
            for name in ("finishReason", "groundingMetadata"):
                value = pick(candidate, name)
                if value is not None:
                    whole[name] = value
    joined["candidates"] = [candidates[index] for index in sorted(candidates)]
    return joined


def owns(body: dict[str, Any]) -> bool:
    """Whether a body has the fields that only a GenerateContentResponse has."""
    usage = pick(body, "usageMetadata")
    if type(usage) is dict:
        return "input_tokens" not in usage  # LangChain's messages have a `usage_metadata` of their own
    return type(body.get("candidates")) is list or type(pick(body, "promptFeedback")) is dict


def asks(body: dict[str, Any]) -> bool:
    """Whether a body is a generateContent request."""
    return "contents" in body


LAYOUT: Final = Layout(
    name="gemini_generate_content",
    title="Gemini generateContent",
    convention="promptTokenCount holds cached tokens; thoughts and tool prompts stand beside candidates and prompt, "
    "except where the total shows that candidates hold the thoughts.",
    read=read,
    owns=owns,
    asks=asks,
    places=(":generateContent", ":streamGenerateContent", ":embedContent", ":batchEmbedContents"),
)
