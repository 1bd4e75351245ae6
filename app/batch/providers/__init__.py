"""Batch providers, one file each, in one explicit tuple."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.batch.providers import anthropic, demo, openai
from app.core.errors import UsageError

if TYPE_CHECKING:
    from app.batch.provider import Provider

PROVIDERS: Final[tuple[Provider, ...]] = (openai.PROVIDER, anthropic.PROVIDER, demo.PROVIDER)


def provider_named(name: str) -> Provider:
    """The provider of a name.

    Raises:
        UsageError: there is none.
    """
    for provider in PROVIDERS:
        if provider.name == name:
            return provider
    raise UsageError(f"{name!r} is no batch provider. There are {', '.join(one.name for one in PROVIDERS)}.")
