"""What instrumentations pack into one attribute: counters as JSON, of MLflow, LiteLLM, Langfuse and the Vercel AI SDK.

Sources: `mlflow/tracing/constant.py` (attributes are JSON texts), LiteLLM's OpenTelemetry callback (its usage object
is a Python repr; only answers out of its own cache have a `cache_key`), Langfuse's OTel attributes, the telemetry of
the AI SDK and the metadata of its providers. The AI SDK before version 6 hands Anthropic's and Bedrock's counters on as
they are, cached tokens beside the input; from version 6 on the input holds them, and `ai.usage.inputTokenDetails.*`
shows that (getsentry/sentry-javascript#21488).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ingest.formats.fields import decoded_text, table
from ingest.formats.litellm_calls import model_name

if TYPE_CHECKING:
    from collections.abc import Mapping

Said = dict[str, Any]

_QUOTED: Final = ("operation", "model", "provider", "session", "user")
_MOST_REPR: Final = 16_384
_TOKEN_USAGE: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}
_SPLITS: Final = "ai.usage.inputTokenDetails."
_OUTPUT_SPLITS: Final = "ai.usage.outputTokenDetails."
_BESIDE_PROVIDERS: Final = ("anthropic", "bedrock")
_THOUGHTS_BESIDE: Final = ("google", "vertex")


class Packed(msgspec.Struct, frozen=True):
    """What packed attributes add to a span's own words.

    `beside`: cached tokens are known to stand beside the input. `apart`: reasoning stands beside the output. `usage`: a
    map of Langfuse's, whose own sums tell its convention; only where the span has no counters under names of their own.
    """

    beside: bool = False
    apart: bool = False
    usage: dict[str, Any] | None = None


NOTHING: Final = Packed()


def unpack(attributes: Mapping[str, Any], said: Said, *, above: bool) -> Packed:
    """Put what is packed into `said`, by meaning; names of their own that the span has win.

    `above`: the span stands above calls, so that the provider's metadata is that of the last of them only.
    """
    if "mlflow.spanType" in attributes:
        _unquote(said)
    if "usage_mlflow" in said:
        usage = table(said["usage_mlflow"])
        _add(said, {meaning: usage.get(name) for meaning, name in _TOKEN_USAGE.items()})
    if "cost_mlflow" in said:
        _add(said, {"cost_usd": table(said["cost_mlflow"]).get("total_cost")})
    if "usage_litellm" in said or "hidden_params" in said:
        _read_litellm(said)
    if "ai.model.provider" in attributes:
        return _read_ai_sdk(attributes, said, above=above)
    if "usage_langfuse" in said or "cost_langfuse" in said:
        return _read_langfuse(said)
    return NOTHING


def _unquote(said: Said) -> None:
    """MLflow writes every attribute as JSON: a text stands in quotes."""
    for meaning in _QUOTED:
        value = said.get(meaning)
        if type(value) is str and len(value) > 1 and value[0] == value[-1] == '"':
            said[meaning] = value[1:-1]


def _add(said: Said, found: Mapping[str, Any]) -> None:
    for meaning, value in found.items():
        if value is not None and said.get(meaning) in (None, ""):
            said[meaning] = value


def _read_litellm(said: Said) -> None:
    """LiteLLM's counters hold cached tokens for every provider; its answer names the model as it was asked for."""
    usage = _object(said.get("usage_litellm"))
    prompt, answer = _object(usage.get("prompt_tokens_details")), _object(usage.get("completion_tokens_details"))
    written = _object(prompt.get("cache_creation_token_details"))
    _add(
        said,
        {
            "input": usage.get("prompt_tokens"),
            "output": usage.get("completion_tokens"),
            "total": usage.get("total_tokens"),
            "cache_read": _first(prompt.get("cached_tokens"), usage.get("cache_read_input_tokens")),
            "cache_write": _first(prompt.get("cache_creation_tokens"), usage.get("cache_creation_input_tokens")),
            "cache_write_1h": written.get("ephemeral_1h_input_tokens"),
            "reasoning": answer.get("reasoning_tokens"),
            "input_audio": prompt.get("audio_tokens"),
            "output_audio": answer.get("audio_tokens"),
            **_served(usage),
        },
    )
    hidden = table(said.get("hidden_params"))
    _add(said, {"cost_usd": hidden.get("response_cost"), "cache_hit": hidden.get("cache_key") and True})
    model = hidden.get("litellm_model_name") or said.get("model_asked")
    if type(model) is str and model:
        provider = said.get("provider")
        said["model"] = model_name(model, provider if type(provider) is str else None)


def _served(usage: Mapping[str, Any]) -> Said:
    """What Anthropic's usage says beside its counters, which LiteLLM and the AI SDK hand on: it decides the price."""
    return {
        "tier": usage.get("service_tier"),
        "speed": usage.get("speed"),
        "geo": usage.get("inference_geo"),
        "searches": table(usage.get("server_tool_use")).get("web_search_requests"),
    }


def _object(value: Any) -> dict[str, Any]:
    """An object, given as such, as JSON or as Python writes it."""
    if type(value) is not str:
        return table(value)
    found = decoded_text(value)
    if found is None and value.startswith("{") and len(value) <= _MOST_REPR:
        try:
            found = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return {}
    return found if type(found) is dict else {}


def _first(*given: Any) -> Any:
    """The first that says something; 0 only where no other says more."""
    return next((value for value in given if value), next((value for value in given if value is not None), None))


def _read_langfuse(said: Said) -> Packed:
    _add(said, {"cost_usd": table(said.get("cost_langfuse")).get("total")})
    usage = table(said.get("usage_langfuse"))
    if said.get("input") is None and said.get("output") is None and any(value for value in usage.values()):
        return Packed(usage=usage)
    return NOTHING


def _read_ai_sdk(attributes: Mapping[str, Any], said: Said, *, above: bool) -> Packed:
    served = table(said.get("provider_metadata"))
    gateway, openai = table(served.get("gateway")), table(served.get("openai"))
    if not above:
        _add(said, {"cost_usd": gateway.get("cost"), "tier": openai.get("serviceTier")})
        _add(said, {"cache_read": openai.get("cachedPromptTokens"), "reasoning": openai.get("reasoningTokens")})
        google = table(_first(served.get("google"), served.get("vertex")))
        counted = table(google.get("usageMetadata"))
        _add(said, {"cache_read": counted.get("cachedContentTokenCount")})
        _add(said, {"reasoning": counted.get("thoughtsTokenCount")})
        anthropic = table(served.get("anthropic"))
        usage = table(anthropic.get("usage"))
        if type(usage.get("input_tokens")) is int:  # the provider's own counters, whatever the SDK made of them
            written = table(usage.get("cache_creation"))
            said["input"] = usage["input_tokens"]
            said["cache_read"] = usage.get("cache_read_input_tokens")
            said["cache_write"] = usage.get("cache_creation_input_tokens")
            said["cache_write_1h"] = written.get("ephemeral_1h_input_tokens")
            said.pop("total", None)
            _add(said, {"output": usage.get("output_tokens"), **_served(usage)})
            return Packed(beside=True)
        bedrock = table(table(served.get("bedrock")).get("usage"))
        _add(
            said,
            {
                "cache_read": _first(anthropic.get("cacheReadInputTokens"), bedrock.get("cacheReadInputTokens")),
                "cache_write": _first(anthropic.get("cacheCreationInputTokens"), bedrock.get("cacheWriteInputTokens")),
            },
        )
    return _of_version(attributes, said)


def _of_version(attributes: Mapping[str, Any], said: Said) -> Packed:
    """The convention of an AI SDK before version 6 is that of the provider; later ones have one of their own."""
    provider = str(attributes["ai.model.provider"]).lower()
    new_input = any(name.startswith(_SPLITS) for name in attributes)
    new_output = new_input or any(name.startswith(_OUTPUT_SPLITS) for name in attributes)
    beside = not new_input and any(name in provider for name in _BESIDE_PROVIDERS)
    if beside and said.get("total") is not None and (said.get("cache_read") or said.get("cache_write")):
        del said["total"]  # of input and output alone, whatever was cached
    gemini = provider.startswith(_THOUGHTS_BESIDE) and not beside
    return Packed(beside=beside, apart=gemini and not new_output)
