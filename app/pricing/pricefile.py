"""Reading a file of rules: our `overlay.yml`, or the user's rates as YAML or CSV. Numbers stay exact text."""

from __future__ import annotations

import csv
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import yaml

from app.core.errors import InputError
from app.pricing.currency import exchange, in_usd
from app.pricing.fees import Fee, fee
from app.pricing.rates import DAY_US, FOREVER_US
from app.pricing.rules import Alias, Entry, Layer, Overlay, Rule, alias, overlay_from_rows, rule

if TYPE_CHECKING:
    from pathlib import Path

    from app.pricing.currency import Exchange

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SECTIONS: Final = ("currencies", "fees", "rates", "discounts", "aliases", "providers", "calendars", "confirmed_to")


def bundled() -> list[tuple[str, bytes]]:
    """Name and bytes of the rules that come with Halve, later ones over earlier ones."""
    folder = resources.files("app.pricing")
    return [(name, folder.joinpath(name).read_bytes()) for name in ("history.yml", "overlay.yml")]


def read_file(path: Path) -> bytes:
    """The bytes of a user's price file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"The price file {path} cannot be read: {error.strerror}. Nothing was priced with it; check the path."
        ) from error


def parse(name: str, content: bytes, layer: Layer) -> Overlay:
    """The rules of a file; a name ending in .csv is CSV, everything else YAML.

    Raises:
        InputError: naming file, line and field.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 text ({error.reason}). Save the price file as UTF-8.") from error
    if name.lower().endswith(".csv"):
        return _parse_csv(name, text, layer)
    return _parse_yaml(name, text, layer)


def _parse_csv(name: str, text: str, layer: Layer) -> Overlay:
    reader = csv.DictReader(text.splitlines())
    rules: list[Rule] = []
    aliases: list[Alias] = []
    for row in reader:
        where = f"{name}, line {reader.line_num}"
        if None in row:
            raise InputError(f"{where}: more values than the heading has names. Correct that line of the price file.")
        try:
            part = overlay_from_rows([{**row, "source": row.get("source") or where}], layer=layer, name=where)
        except InputError as error:
            raise InputError(str(error).replace(f"{where}, row 1", where)) from None
        rules += part.rules
        aliases += part.aliases
    return Overlay(rules=rules, aliases=aliases)


def fees(name: str, content: bytes) -> list[Fee]:
    """The fixed fees of a file that `parse` could read; a CSV has none.

    Raises:
        InputError: naming file, line and field.
    """
    if name.lower().endswith(".csv"):
        return []
    sections = _sections(name, content.decode("utf-8-sig"))
    exchanges = [exchange(entry) for entry in _entries(name, sections, "currencies")]
    return [fee(entry, exchanges) for entry in _entries(name, sections, "fees")]


def exchanges(name: str, content: bytes) -> list[Exchange]:
    """The exchange rates of a file that `parse` could read; a CSV has none.

    Raises:
        InputError: naming file, line and field.
    """
    if name.lower().endswith(".csv"):
        return []
    return [exchange(entry) for entry in _entries(name, _sections(name, content.decode("utf-8-sig")), "currencies")]


def _sections(name: str, text: str) -> dict[str, Any]:
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{name}{line}: no valid YAML ({getattr(error, 'problem', error)}).") from error
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise InputError(f"{name}, line 1: a price file is a mapping of {', '.join(_SECTIONS)}.")
    sections = {str(key.value): node for key, node in root.value}
    for key, node in root.value:
        if key.value not in _SECTIONS:
            raise InputError(
                f"{name}, line {node.start_mark.line + 1}: unknown section {key.value!r}; "
                f"known are {', '.join(_SECTIONS)}."
            )
    return sections


def _parse_yaml(name: str, text: str, layer: Layer) -> Overlay:
    sections = _sections(name, text)
    calendars = {
        str(key.value): tuple(_day(name, day) for day in _value(dict(_pairs(calendar))["days"]))
        for key, calendar in _pairs_nodes(sections.get("calendars"))
    }
    confirmed = sections.get("confirmed_to")
    exchanges = [exchange(entry) for entry in _entries(name, sections, "currencies")]
    entries = [entry for part in ("rates", "discounts") for entry in _entries(name, sections, part)]
    return Overlay(
        rules=[part for entry in entries for part in in_usd(rule(entry, layer, calendars), entry, exchanges)],
        aliases=[alias(entry) for entry in _entries(name, sections, "aliases")],
        providers={
            str(key.value).lower(): str(node.value).lower() for key, node in _pairs_nodes(sections.get("providers"))
        },
        confirmed_to_us=FOREVER_US if confirmed is None else (_day(name, str(confirmed.value)) + 1) * DAY_US,
    )


def _entries(name: str, sections: dict[str, Any], section: str) -> list[Entry]:
    node = sections.get(section)
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise InputError(f"{name}, line {node.start_mark.line + 1}: section {section!r} must be a list.")
    entries = []
    for item in node.value:
        where = f"{name}, line {item.start_mark.line + 1}"
        if not isinstance(item, yaml.MappingNode):
            raise InputError(f"{where}: an entry of {section!r} must be a mapping such as {{provider: openai, ...}}.")
        entries.append(Entry(_value(item), where))
    return entries


def _value(node: Any) -> Any:
    """A node as text, list or dict; scalars keep their written text, so that 0.1 stays 0.1."""
    if isinstance(node, yaml.MappingNode):
        return dict(_pairs(node, deep=True))
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    return node.value


def _pairs(node: Any, *, deep: bool = False) -> list[tuple[str, Any]]:
    return [(str(key.value), _value(value) if deep else value) for key, value in node.value]


def _pairs_nodes(node: Any) -> list[tuple[Any, Any]]:
    return [] if node is None else list(node.value)


def _day(name: str, text: str) -> int:
    return Entry({"day": text}, name).time_us("day", 0) // DAY_US
