"""What a bill's wording names: the model and the token class behind meters, usage types and line items.

Providers write them for people: `USW2-Claude4.6Sonnet-cache-read-input-token-count`, `5.4 cd inp Gl 1M Tokens`,
`Gemini 3.8 Flash Text Input - Predictions`, `gpt-5.6-sol, cached input`.
"""

from __future__ import annotations

import re
from typing import Final

_CLAUDE: Final = (
    re.compile(
        r"claude[ -]?(?P<family>opus|sonnet|haiku|fable|mythos|instant)[ -]?v?(?P<version>\d+(?:[.-]\d{1,2})?)(?!\d)"
    ),
    re.compile(r"claude[ -]?v?(?P<version>\d+(?:\.\d+)?)[ -]?(?P<family>opus|sonnet|haiku|fable|mythos|instant)?"),
)
_GEMINI: Final = re.compile(
    r"gemini[ -](?P<version>\d+(?:\.\d+)?)[ -](?P<family>flash[ -]lite|flash|pro|ultra|nano)(?P<preview>[ -]preview)?"
)
_GPT: Final = re.compile(r"\b(?:gpt[ -]?|chatgpt[ -]?)(?P<rest>[a-z0-9.]+(?:[ -](?:mini|nano|pro|codex|turbo|sol))*)")
_O_SERIES: Final = re.compile(r"\bo[1345](?:[ -](?:mini|pro))?\b")
_BARE_GPT: Final = re.compile(r"^(?P<rest>[3-9](?:\.\d+)?(?:[ -](?:mini|nano|pro|codex|turbo))*)\b")
_OTHERS: Final = re.compile(
    r"\b(?P<name>(?:nova|llama|mistral|mixtral|titan|command|jamba|deepseek|qwen|grok|text-embedding)"
    r"[ -]?[a-z0-9.]*"
    r"(?:[ -](?:[a-z]?\d+[a-z]?|lite|micro|pro|premier|large|small|medium|mini|embed|text|instruct|r\+?))*)"
)
_LIFETIMES: Final = ((" 1h | 1 hour | 60m ", "1h"), (" 5m | 5 min", "5m"), (" 30m ", "30m"), (" 12h ", "12h"))
_THIRD_GENERATION: Final = 3
_UNCACHED: Final = re.compile(r" (?:no|non|not|without) (?:cach\w*|cchd|cd) ")
_WEB_SEARCH: Final = re.compile(r"\bweb[ _-]?search|\bgrounding\b|\bsearch quer")


def usage_class(wording: str) -> str:
    """One of BILLED_CLASSES; `tokens` where it names tokens of no class, `other` where it names none at all."""
    said = f" {re.sub(r'[^a-z0-9.]+', ' ', wording.lower())} "
    said = _UNCACHED.sub(" ", said)
    if _WEB_SEARCH.search(said):
        return "web_search"
    output = re.search(r" (?:output|outp|outpt|opt|completion|generated) ", said)
    medium = "audio" if " audio " in said else "image" if " image " in said and " text " not in said else ""
    if re.search(r" cach\w* | cchd | cd ", said) and not output:
        if re.search(r" (?:write|writes|creation|wr|cwr) ", said):
            lifetime = next((name for words, name in _LIFETIMES if re.search(words, said)), None)
            return "cache_write" if lifetime is None else f"cache_write_{lifetime}"
        return "cache_read_audio" if medium == "audio" else "cache_read"
    if output:
        return f"output_{medium}" if medium else "output"
    if re.search(r" (?:input|inp|inpt|prompt) ", said):
        return f"input_{medium}" if medium else "input"
    return "tokens" if re.search(r" tokens? ", said) else "other"


def model(wording: str) -> str | None:
    """The model that the wording names, as price lists spell it; None where it names none that can be told."""
    said = re.sub(r"[_/]+", "-", wording.lower())
    for pattern in _CLAUDE:
        if found := pattern.search(said):
            return _claude(found.group("version"), found.group("family"))
    if found := _GEMINI.search(said):
        preview = "-preview" if found.group("preview") else ""
        return f"gemini-{found.group('version')}-{found.group('family').replace(' ', '-')}{preview}"
    if found := _GPT.search(said):
        return "gpt-" + found.group("rest").replace(" ", "-")
    if found := _O_SERIES.search(said):
        return found.group().replace(" ", "-")
    if found := _OTHERS.search(said):
        return found.group("name").strip(" -").replace(" ", "-")
    return None


def azure_model(meter: str) -> str | None:
    """As `model`; Azure also writes a bare version for a GPT model: `5.4 mini inp Gl 1M Tokens`."""
    found = _BARE_GPT.match(meter.strip().lower())
    return f"gpt-{found.group('rest').replace(' ', '-')}" if found else model(meter)


def _claude(version: str, family: str | None) -> str:
    number = version.replace(".", "-")
    if family is None:
        return f"claude-{number}"
    if int(version.replace("-", ".").split(".")[0]) <= _THIRD_GENERATION:
        return f"claude-{number}-{family}"
    return f"claude-{family}-{number}"


def tier(wording: str) -> tuple[str | None, bool | None]:
    """(service tier, whether batch) that the wording names; None where it says nothing."""
    said = f" {re.sub(r'[^a-z0-9]+', ' ', wording.lower())} "
    if " batch " in said:
        return None, True
    for word, name in ((" flex ", "flex"), (" priority ", "priority"), (" pp ", "priority")):
        if word in said:
            return name, False
    return None, None
