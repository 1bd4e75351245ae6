"""The catalogue of named queries: `queries/<area>/<name>.sql`, ANSI-core text with a small dialect shim.

A query's text starts with comment lines that say what it answers and the shape it returns. Values are bound as
`$name`; relations and other identifiers are written `{name}` and checked against a strict pattern, never free text.
Sums of token classes are written `{{prompt_tokens}}` (`fragments.py`).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from app.core.errors import NotFoundError, UsageError
from app.warehouse import fragments

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@cache
def text(name: str) -> str:
    """The SQL text of `area.name` as it stands in the catalogue, with sums of token classes written out.

    Raises:
        NotFoundError: no such query.
    """
    area, _, leaf = name.partition(".")
    path = resources.files("app.warehouse").joinpath("queries", area, f"{leaf}.sql")
    if not path.is_file():
        raise NotFoundError(f"No query named {name!r} in the catalogue (app/warehouse/queries/{area}/{leaf}.sql).")
    return fragments.filled(path.read_text(encoding="utf-8"))


def render(name: str, relations: dict[str, str] | None = None) -> str:
    """The SQL of a query with its `{relation}` places filled by checked identifiers."""
    given = relations or {}

    def fill(match: re.Match[str]) -> str:
        value = given.get(match.group(1))
        if value is None:
            raise UsageError(f"Query {name} needs the relation {match.group(1)!r}.")
        if not _IDENTIFIER.fullmatch(value):
            raise UsageError(f"{value!r} is no identifier.")
        return value

    return _PLACEHOLDER.sub(fill, text(name))


def parameters(sql: str) -> frozenset[str]:
    """The names of the bound values (`$name`) that a query's text uses."""
    without_comments = re.sub(r"--[^\n]*", "", sql)
    return frozenset(re.findall(r"\$([a-z_][a-z0-9_]*)", without_comments))
