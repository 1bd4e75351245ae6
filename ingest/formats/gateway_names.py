"""Providers under the names that gateways give them in their logs."""

from __future__ import annotations

from typing import Final

_PROVIDERS: Final = {
    "amazon-bedrock": "aws",
    "aws-bedrock": "aws",
    "bedrock": "aws",
    "azure-ai": "azure",
    "azure-openai": "azure",
    "azureai": "azure",
    "fireworks-ai": "fireworks",
    "gemini": "google",
    "google-ai": "google",
    "google-ai-studio": "google",
    "google-vertex": "google",
    "google-vertex-ai": "google",
    "grok": "x-ai",
    "mistral-ai": "mistral",
    "mistralai": "mistral",
    "perplexity-ai": "perplexity",
    "together-ai": "together",
    "togetherai": "together",
    "vertex": "google",
    "vertex-ai": "google",
    "workers-ai": "cloudflare",
    "xai": "x-ai",
}


def provider_of(slug: str | None) -> str | None:
    """The provider of a gateway's slug, in lower case; None where it names none (`custom`, `local`)."""
    if slug is None:
        return None
    name = slug.strip().lower().replace("_", "-").replace(" ", "-")
    return None if name in ("", "custom", "local", "unknown") else _PROVIDERS.get(name, name)
