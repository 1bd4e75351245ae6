"""What models can do and how vocabularies compare: `models.yml`, read once. Unknown stays None: a gate is closed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import yaml

MIXED: Final = ("english", "code", "json")
"""Kinds of text that make up a mixed prompt; each counts the same."""


_BEDROCK_CLAUDE: Final = re.compile(r"(?:global|regional)\.anthropic\.(claude-[a-z0-9-]+?)(?:-20\d{6})?(?:-v\d+:\d+)?")


@dataclass(frozen=True, slots=True)
class Model:
    """Capabilities of one priced model (names as in the price book); None is unknown.

    `context` is the longest prompt and `max_output` the longest answer in tokens. `size` orders the models of a
    provider: 1 nano, 2 small, 3 medium, 4 large, 5 frontier.
    """

    provider: str
    model: str
    context: int | None
    max_output: int | None
    tools: bool | None
    vision: bool | None
    json_schema: bool | None
    reasoning: bool | None
    tokenizer: str | None
    family: str
    size: int
    retired: bool
    source: str

    def fits(self, *, prompt_tokens: int, output_tokens: int, tools: bool, vision: bool, json_schema: bool) -> bool:
        """Whether the model is known to take such requests; anything unknown that is needed answers no."""
        if self.context is None or prompt_tokens > self.context:
            return False
        if self.max_output is None or output_tokens > self.max_output:
            return False
        needs = ((tools, self.tools), (vision, self.vision), (json_schema, self.json_schema))
        return all(has is True for needed, has in needs if needed)


def known() -> tuple[Model, ...]:
    """All models with known capabilities, in the file's order."""
    return tuple(_models().values())


def find(provider: str, model_id: str) -> Model | None:
    """The capabilities of a model by the names that the price book resolves to; resellers' are those of the maker."""
    models = _models()
    found = models.get((provider, model_id))
    if found is None and provider == "aws" and (name := _BEDROCK_CLAUDE.fullmatch(model_id)) is not None:
        return next((models[key] for key in _claude_keys(name.group(1)) if key in models), None)
    if found is not None or provider not in ("azure", "google"):
        return found
    makers = ("openai", "anthropic", "deepseek", "x-ai", "mistral") if provider == "azure" else ("anthropic",)
    return next((models[maker, model_id] for maker in makers if (maker, model_id) in models), None)


def token_ratio(from_tokenizer: str | None, to_tokenizer: str | None, kind: str | None = None) -> float | None:
    """Tokens in the second vocabulary per token in the first, for one kind of text or a mixed prompt.

    None where either vocabulary is unknown or was not measured on that kind. Error of such a ratio: about 5 %
    median within the kind, so figures built on it carry that width.
    """
    if from_tokenizer is None or to_tokenizer is None:
        return None
    if from_tokenizer == to_tokenizer:
        return 1.0
    measured = _file()["tokenizers"]
    before, after = measured.get(from_tokenizer), measured.get(to_tokenizer)
    if before is None or after is None:
        return None
    kinds = MIXED if kind is None else (kind,)
    if any(name not in before or name not in after for name in kinds):
        return None
    return sum(float(before[name]) / float(after[name]) for name in kinds) / len(kinds)


def _claude_keys(name: str) -> tuple[tuple[str, str], ...]:
    return ("anthropic", name), ("anthropic", f"{name}-latest"), ("anthropic", f"{name}-0")


@cache
def _models() -> dict[tuple[str, str], Model]:
    return {
        (row["provider"], row["model"]): Model(
            provider=row["provider"],
            model=row["model"],
            context=row.get("context"),
            max_output=row.get("max_output"),
            tools=row.get("tools"),
            vision=row.get("vision"),
            json_schema=row.get("json_schema"),
            reasoning=row.get("reasoning"),
            tokenizer=row.get("tokenizer"),
            family=str(row["family"]),
            size=int(row["size"]),
            retired=bool(row.get("retired", False)),
            source=row["source"],
        )
        for row in _file()["models"]
    }


@cache
def _file() -> dict[str, Any]:
    text = resources.files("app.pricing").joinpath("models.yml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return loaded
