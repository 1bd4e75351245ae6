"""Who served a call, from what a log says about it: the host called, or the family of the model's name.

An unknown provider stays None; the price book then looks for the model alone.
"""

from __future__ import annotations

from typing import Any, Final

_HOSTS: Final = (
    ("openai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("api.openai.com", "openai"),
    ("api.anthropic.com", "anthropic"),
    ("openrouter.ai", "openrouter"),
    ("generativelanguage.googleapis.com", "google"),
    ("aiplatform.googleapis.com", "google"),
    (".rep.googleapis.com", "google"),
    ("amazonaws.com", "aws"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral"),
    ("api.x.ai", "x-ai"),
    ("api.together.xyz", "together"),
    ("api.together.ai", "together"),
    ("api.fireworks.ai", "fireworks"),
    ("api.cohere.com", "cohere"),
    ("api.perplexity.ai", "perplexity"),
    ("api.cerebras.ai", "cerebras"),
)
_OPENAI_MODELS: Final = (
    "gpt-",
    "chatgpt-",
    "ft:gpt-",
    "o1",
    "o3",
    "o4",
    "text-embedding-",
    "davinci",
    "codex-",
    "whisper-",
)


def from_host(host: Any) -> str | None:
    """The provider whose address that is."""
    if type(host) is not str or not host:
        return None
    for address, provider in _HOSTS:
        if address in host:
            return provider
    return None


def from_model(model: str | None) -> str | None:
    """Who sells a model of this very name: its maker, or the host whose accounts such names begin with."""
    if model is None:
        return None
    if model.startswith(_OPENAI_MODELS):
        return "openai"
    if model.startswith("accounts/fireworks/"):
        return "fireworks"
    if model.startswith("sonar"):
        return "perplexity"
    if model.startswith("grok-"):
        return "x-ai"
    return "anthropic" if model.startswith("claude-") else None


def write_class(model: str | None, provider: str | None) -> str:
    """The class of cache writes whose lifetime a log does not say: the default lifetime of who served them."""
    if provider in ("openai", "azure"):
        return "tok_cache_write_30m"
    if provider in ("anthropic", "aws", "bedrock"):
        return "tok_cache_write_5m"
    named = (model or "").lower()
    return "tok_cache_write_5m" if "claude" in named or "qwen" in named else "tok_cache_write_30m"
