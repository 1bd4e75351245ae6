"""Redaction: provider keys, tokens and passwords become `***` before anything is stored. Hashes are of raw bytes.

The patterns use no look-around, so that one text serves Python and Polars alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

MASK: Final = "***"

_SECRETS: Final = "|".join(
    (
        r"\b[sr]k[-_][A-Za-z0-9_-]{12,}",  # OpenAI, Anthropic, LiteLLM, OpenRouter, Stripe
        r"\bAIza[A-Za-z0-9_-]{20,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\b[Bb]earer\s+[A-Za-z0-9._~+/=-]{8,}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}",  # JWT
        r"\bxox[a-z]-[A-Za-z0-9-]{8,}",
        r"\b(?:gh[pousr]|glpat|github_pat|hf|gsk|xai|r8|pplx|lsv2_pt|pk-lf|sk-lf)[-_][A-Za-z0-9_-]{16,}",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    )
)
_NAMED: Final = (
    r"(?i)([?&;\s\"'{,]|^)"
    r"((?:x-|x_)?(?:api[-_]?key|access[-_]?token|auth[-_]?token|client[-_]?secret|password|passwd|secret|signature|sig|key)"
    r"\\?[\"']?\s?[=:]\s?\\?[\"']?)"
    r"([A-Za-z0-9._~+/%-]{12,})"
)
_ANY: Final = f"{_SECRETS}|{_NAMED}"

_secrets = re.compile(_SECRETS)
_named = re.compile(_NAMED)


def redact(text: str) -> str:
    """The text with its secrets masked and without NUL characters or lone surrogates."""
    clean = text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    return _named.sub(rf"\g<1>\g<2>{MASK}", _secrets.sub(MASK, clean))


_CODE: Final = re.compile(
    r"([1-5]\d\d|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|(?:\w+\.)*\w*(?:Error|Exception|Timeout|Expired))(?::|$)", re.ASCII
)


def error_code(error: str) -> str | None:
    """The code or type that an error's text begins with, or None; the message behind it may repeat the prompt."""
    found = _CODE.match(error[:65])
    return None if found is None else found[1]


def redact_columns(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The same on whole columns of texts; one look finds the few columns that need it."""
    looked = frame.select(
        *(pl.col(name).str.contains("\x00", literal=True).any().alias(f"{name}:nul") for name in names),
        *(pl.col(name).str.contains(_ANY).any().alias(f"{name}:secret") for name in names),
    ).row(0, named=True)
    changed = []
    for name in names:
        column = pl.col(name)
        if looked[f"{name}:nul"]:
            column = column.str.replace_all("\x00", "", literal=True)
        if looked[f"{name}:secret"]:
            column = column.str.replace_all(_SECRETS, MASK).str.replace_all(_NAMED, "${1}${2}" + MASK)
        if looked[f"{name}:nul"] or looked[f"{name}:secret"]:
            changed.append(column)
    return frame.with_columns(changed) if changed else frame


def text_column(name: str, values: Sequence[str | None]) -> pl.Series:
    """A column of texts; lone surrogates, which no store takes, become question marks."""
    try:
        return pl.Series(name, values, dtype=pl.String)
    except UnicodeEncodeError:
        clean = [None if value is None else value.encode("utf-8", "replace").decode("utf-8") for value in values]
        return pl.Series(name, clean, dtype=pl.String)
