"""Rerank calls: Cohere's search units, or the tokens that Voyage, Jina and servers of their shape count.

A rerank has no answer tokens. A body that says neither units nor tokens is unknown, never free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.fields import compact, count, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(("model", "query", "documents", "top_n", "top_k", "return_documents"))


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a rerank call."""
    event = UsageEvent(operation="rerank")
    if exchange.request is not None:
        _read_request(exchange.request, event)
    if exchange.response is not None:
        _read_response(exchange.response, event, warnings)
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    event.model = text(request.get("model"))
    documents = request.get("documents")
    parts = [
        Part("user", "text", document if type(document) is str else compact(document))
        for document in (documents if type(documents) is list else ())
    ]
    if (query := text(request.get("query"))) is not None:
        parts.append(Part("user", "text", query))
    event.prompt = parts
    event.params = params_of(request, _OWN_KEYS, [])


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    event.provider_response_id = text(get("id"))
    event.model = text(get("model")) or event.model
    billed = table(table(get("meta")).get("billed_units"))
    if "meta" in response:
        event.provider = "cohere"
    searches = number(billed.get("search_units"))
    if searches is not None and searches >= 0:
        event.units = {"rerank": searches}
    usage = table(get("usage"))
    tokens = usage.get("total_tokens", usage.get("prompt_tokens"))
    if tokens is not None:
        event.tok_input = event.tok_total_reported = count(tokens, "input", warnings)
    ranked = get("results", get("data"))
    event.output = compact(ranked) if type(ranked) is list and ranked else None
    if get("error") or (ranked is None and get("message")):
        event.status, event.error = "error", error_text(get("error") or get("message"))


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is a list of documents with their relevance."""
    for name in ("results", "data"):
        ranked = body.get(name)
        if type(ranked) is list and ranked and type(ranked[0]) is dict and "relevance_score" in ranked[0]:
            return True
    return "search_units" in table(table(body.get("meta")).get("billed_units"))


def asks(body: dict[str, Any]) -> bool:
    """Whether a body is a rerank request."""
    return "query" in body and "documents" in body


LAYOUT: Final = Layout(
    name="rerank",
    title="Rerank (Cohere, Voyage, Jina)",
    convention="Search units of Cohere are units without tokens; total_tokens of the others are all prompt tokens.",
    read=read,
    owns=owns,
    asks=asks,
    places=("/rerank",),
)
