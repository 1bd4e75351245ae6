"""Attribution rules: a small YAML file, read and checked here, compiled to three frames that one query joins.

The file's own head explains its grammar. Nothing of it becomes SQL: fields come from a fixed list, all else is data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from importlib import resources
from typing import TYPE_CHECKING, Any

import polars as pl
import yaml

from app.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = ("source", "account", "provider", "model", "operation", "region", "api_key", "file", "session")
OUTPUTS = ("feature", "team", "environment")
_TAG = "tag."
_PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Condition:
    """A field matches one of the patterns (`*` stands for any text), or, where `negated`, none of them."""

    field: str
    patterns: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """What a rule gives: a literal text, or a field's text, or the first group of `extract` in it."""

    name: str
    literal: str | None = None
    field: str | None = None
    extract: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of an attribution file: its outputs where all conditions hold; the lowest priority goes first."""

    name: str
    priority: int
    when: tuple[Condition, ...]
    outputs: tuple[Output, ...]

    @property
    def label(self) -> str:
        """How the attribution names it: `tag` for the explicit feature tag, else `rule:<name>`."""
        feature = next((output for output in self.outputs if output.name == "feature"), None)
        return "tag" if feature is not None and feature.field == "tag.feature" else f"rule:{self.name}"


@dataclass(frozen=True, slots=True)
class CompiledRules:
    """The frames of a rule set, and the hash that tells whether the standing attribution was made by it."""

    fields: pl.DataFrame
    conditions: pl.DataFrame
    outputs: pl.DataFrame
    rules: pl.DataFrame
    version: str


def load(path: Path | None = None) -> tuple[Rule, ...]:
    """The rules of a file, or the ones that Halve comes with.

    Raises:
        InputError: the file cannot be read, or a rule of it is wrong; the message names the rule.
    """
    if path is None:
        text, where = (
            resources.files("app.analysis").joinpath("attribution.yml").read_text(encoding="utf-8"),
            "built in",
        )
    else:
        where = str(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The attribution rules {path} cannot be read: {error}.") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"The attribution rules {where} are no YAML: {error}") from error
    listed = document.get("rules") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise InputError(f"The attribution rules {where} have no list named 'rules'.")
    rules = tuple(_rule(entry, place, where) for place, entry in enumerate(listed, 1))
    names = [rule.name for rule in rules]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"The attribution rules {where} name two rules {twice[0]!r}; give one of them another name.")
    return rules


def compile_rules(rules: tuple[Rule, ...]) -> CompiledRules:
    """The frames `rule_fields`, `rule_conditions`, `rule_outputs` and `rule_list` that attribution.ruled joins."""
    used = sorted(
        {condition.field for rule in rules for condition in rule.when}
        | {output.field for rule in rules for output in rule.outputs if output.field is not None}
    )
    texts = pl.String
    return CompiledRules(
        fields=pl.DataFrame(
            [
                (field, "tag" if field.startswith(_TAG) else field, _json_path(field.removeprefix(_TAG)))
                for field in used
            ],
            schema={"field": texts, "kind": texts, "path": texts},
            orient="row",
        ),
        conditions=pl.DataFrame(
            [
                (rule.name, place, condition.field, _like(pattern), condition.negated)
                for rule in rules
                for place, condition in enumerate(rule.when)
                for pattern in condition.patterns
            ],
            schema={"rule": texts, "place": pl.Int64, "field": texts, "pattern": texts, "negated": pl.Boolean},
            orient="row",
        ),
        outputs=pl.DataFrame(
            [
                (rule.name, output.name, output.literal, output.field, output.extract)
                for rule in rules
                for output in rule.outputs
            ],
            schema={"rule": texts, "output": texts, "literal": texts, "field": texts, "extract": texts},
            orient="row",
        ),
        rules=pl.DataFrame(
            [(rule.name, place, len(rule.when), rule.label) for place, rule in enumerate(_ordered(rules))],
            schema={"rule": texts, "priority": pl.Int64, "conditions": pl.Int64, "label": texts},
            orient="row",
        ),
        version=blake2b(repr(rules).encode(), digest_size=8).hexdigest(),
    )


def _ordered(rules: tuple[Rule, ...]) -> list[Rule]:
    return sorted(rules, key=lambda rule: rule.priority)


def _json_path(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'$."{escaped}"'


def _like(pattern: str) -> str:
    """SQL LIKE with `!` as the escape character."""
    escaped = pattern.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return escaped.replace("*", "%")


def _rule(entry: Any, place: int, where: str) -> Rule:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError(f"Rule {place} of {where} has no name.")
    name = entry["name"]
    said = f"The attribution rule {name!r} of {where}"
    unknown = sorted(set(entry) - {"name", "priority", "when", *OUTPUTS})
    if unknown:
        raise InputError(
            f"{said} has an unknown key {unknown[0]!r}. Keys are name, priority, when, {', '.join(OUTPUTS)}."
        )
    priority = entry.get("priority", 100)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise InputError(f"{said} has the priority {priority!r}, which is no whole number.")
    when = entry.get("when")
    if not isinstance(when, dict) or not when:
        raise InputError(f"{said} has no conditions: give it `when: {{field: pattern}}`.")
    conditions = tuple(_condition(str(field), given, said) for field, given in when.items())
    outputs = tuple(_output(output, entry[output], said) for output in OUTPUTS if output in entry)
    if not outputs:
        raise InputError(f"{said} gives nothing: add one of {', '.join(OUTPUTS)}.")
    return Rule(name, priority, conditions, outputs)


def _condition(field: str, given: Any, said: str) -> Condition:
    patterns = [str(item) for item in (given if isinstance(given, list) else [given])]
    negated = [pattern.startswith("!") for pattern in patterns]
    if any(negated) and not all(negated):
        raise InputError(f"{said} mixes patterns with and without '!' on {field!r}: use two rules.")
    plain = tuple(pattern.removeprefix("!") for pattern in patterns)
    if not plain or "" in plain:
        raise InputError(f"{said} has an empty pattern on {field!r}; '*' is any text.")
    return Condition(_field(field, said), plain, any(negated))


def _output(name: str, given: Any, said: str) -> Output:
    if isinstance(given, dict):
        if set(given) != {"from", "extract"}:
            raise InputError(f"{said}: {name} needs exactly the keys from and extract.")
        pattern = str(given["extract"])
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise InputError(f"{said}: {pattern!r} is no regular expression: {error}.") from error
        if groups < 1:
            raise InputError(f"{said}: {pattern!r} has no group; put the wanted text in parentheses.")
        return Output(name, field=_field(str(given["from"]), said), extract=pattern)
    text = str(given)
    place = _PLACE.fullmatch(text)
    if place:
        return Output(name, field=_field(place.group(1), said))
    if not text or _PLACE.search(text):
        raise InputError(f"{said}: {name} is a text, or one {{field}} alone.")
    return Output(name, literal=text)


def _field(field: str, said: str) -> str:
    if field in FIELDS or (field.startswith(_TAG) and len(field) > len(_TAG)):
        return field
    raise InputError(f"{said} asks for the field {field!r}. Fields are tag.NAME, {', '.join(FIELDS)}.")
