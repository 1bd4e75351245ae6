"""One name of a model for bills and logs: both write the same one with makers, regions, builds and dates around it."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_FRONT: Final = re.compile(
    r"^(?:(?:us-gov|us|eu|apac|jp|au|ca|global|regional)\.)?"
    r"(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai|google|x-ai)[./]"
)
_BEHIND: Final = re.compile(
    r"(?:[-@]20\d{2}-?\d{2}-?\d{2}|[-@](?:latest|default)|-v\d+(?::\d+)?|:\d+|@\d{3}|-preview-\d{2}-\d{2})+$"
)


@cache
def plain_model(name: str) -> str:
    """`us.anthropic.claude-sonnet-4-6-20260114-v1:0` and `anthropic/claude-sonnet-4.6` as `claude-sonnet-4-6`."""
    plain = _BEHIND.sub("", _FRONT.sub("", name.strip().lower()))
    if plain.startswith("claude"):
        plain = plain.replace(".", "-")
    return plain or name
