"""Bodies of InvokeModel that models on Bedrock have of their own: Titan, Llama, Mistral and Cohere text models.

Claude, Nova, and models with OpenAI-shaped bodies have layouts elsewhere. Mistral's and Cohere's bodies hold no counts:
the invocation log beside them does. Streams end in a chunk with `amazon-bedrock-invocationMetrics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.bedrock_converse import read_usage
from ingest.formats.fields import compact, count, integer, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import params_of

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

METRICS: Final = "amazon-bedrock-invocationMetrics"
_OWN_KEYS: Final = frozenset(
    ("prompt", "inputText", "texts", "textGenerationConfig", "max_gen_len", "max_tokens", "temperature", "top_p", "p")
)
_MARKS: Final = ("generation_token_count", "prompt_token_count", "inputTextTokenCount")


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of an InvokeModel call of one of these models."""
    event = UsageEvent(provider="aws")
    response = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        response = _joined(exchange.chunks)
        if METRICS not in response:
            event.status = "aborted"
    if exchange.request is not None:
        _read_request(exchange.request, event)
    if response is not None:
        _read_response(response, event, warnings)
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    config = {**request, **table(request.get("textGenerationConfig"))}
    lengths = (config.get(name) for name in ("maxTokenCount", "max_gen_len", "max_tokens"))
    event.max_tokens = next((integer(value) for value in lengths if value is not None), None)
    event.temperature = number(config.get("temperature"))
    event.top_p = number(config.get("topP", config.get("top_p", config.get("p"))))
    stop = config.get("stopSequences", config.get("stop"))
    event.stop = compact(stop) if stop else None
    texts = [request.get("prompt"), request.get("inputText")]
    more = request.get("texts")
    texts += more if type(more) is list else []
    event.prompt = [Part("user", "text", said) for given in texts if (said := text(given)) is not None]
    event.params = params_of(request, _OWN_KEYS, [])


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    results = next((value for name in _LISTS if type(value := get(name)) is list), [])
    first = results[0] if results and type(results[0]) is dict else {}
    reasons = (get("stop_reason"), first.get("stop_reason"), first.get("completionReason"), first.get("finish_reason"))
    event.finish_reason = next((reason for given in reasons if (reason := text(given)) is not None), None)
    event.output = text(get("generation")) or text(first.get("outputText")) or text(first.get("text"))
    event.provider_response_id = text(get("generation_id"))
    if "embedding" in response or "embeddings" in response:
        event.operation = "embedding"
    metrics = get(METRICS)
    if type(metrics) is dict:
        read_usage(metrics, event, warnings)
        return
    prompt = get("prompt_token_count", get("inputTextTokenCount"))
    event.tok_input = count(prompt, "input", warnings)
    answers = [count(one.get("tokenCount"), "output", warnings) for one in results if type(one) is dict]
    known = [tokens for tokens in answers if tokens is not None]
    event.tok_output = sum(known) if known else count(get("generation_token_count"), "output", warnings)


_LISTS: Final = ("results", "outputs", "generations")


def _joined(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """One response made of a stream's chunks."""
    joined: dict[str, Any] = {}
    texts: list[str] = []
    for chunk in chunks:
        outputs = chunk.get("outputs")
        first = outputs[0] if type(outputs) is list and outputs and type(outputs[0]) is dict else {}
        said = (chunk.get("generation"), chunk.get("outputText"), chunk.get("text"), first.get("text"))
        texts += [given for given in said if type(given) is str]
        reason = chunk.get("stop_reason") or chunk.get("completionReason") or first.get("stop_reason")
        joined["stop_reason"] = reason or joined.get("stop_reason")
        if type(chunk.get(METRICS)) is dict:
            joined[METRICS] = chunk[METRICS]
    joined["generation"] = "".join(texts)
    return joined


def owns(body: dict[str, Any]) -> bool:
    """Whether a body, or a chunk of a stream, is of one of these models."""
    if METRICS in body or any(name in body for name in _MARKS):
        return True
    for name in ("outputs", "generations"):
        given = body.get(name)
        if type(given) is list and given and type(given[0]) is dict and "text" in given[0]:
            return "stop_reason" in given[0] or "finish_reason" in given[0]
    return False


def asks(body: dict[str, Any]) -> bool:
    """Whether a body is a request to one of these models."""
    return "inputText" in body or "max_gen_len" in body


LAYOUT: Final = Layout(
    name="bedrock_models",
    title="Bedrock InvokeModel (Titan, Llama, Mistral, Cohere)",
    convention="Input and output counters stand beside each other.",
    read=read,
    owns=owns,
    asks=asks,
)
