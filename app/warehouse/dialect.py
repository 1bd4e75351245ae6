"""The catalogue in the words of ClickHouse: about ten rewrites of text and a few settings, no parser.

The catalogue is ANSI-core SQL, so what differs is little: how values are bound and objects made, exact quantiles,
regular expressions, JSON, and a delete without a condition. Everything else is one text for both engines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.core.errors import UsageError
from app.warehouse import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

CLICKHOUSE_SETTINGS: Final[dict[str, int]] = {
    "join_use_nulls": 1,  # a side that has no match is NULL, not 0 or ''
    "group_by_use_nulls": 1,
    "data_type_default_nullable": 1,  # columns are nullable unless they say NOT NULL
    "cast_keep_nullable": 1,  # cast(NULL AS BIGINT) is NULL
    "allow_lossy_numeric_supertype": 1,  # a CASE of a whole number and a fraction is a fraction
    "prefer_column_name_to_alias": 1,  # sum(x) AS x does not make the next x a sum
}

_TABLE_ENGINE: Final = "ENGINE = MergeTree ORDER BY tuple()"
_REWRITES: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\bCREATE OR REPLACE TEMP(?:ORARY)? VIEW\b", "CREATE OR REPLACE VIEW"),
        (r"\bCREATE OR REPLACE TEMP(?:ORARY)? TABLE (\w+) AS\b", r"CREATE OR REPLACE TABLE \1 ENGINE = Memory AS"),
        (
            r"\bCREATE( OR REPLACE)? TEMP(?:ORARY)? TABLE (\w+) (\([^;]*\))(?=\s*(?:;|$))",
            r"CREATE\1 TABLE \2 \3 ENGINE = Memory",
        ),
        (r"\bCREATE TABLE (\w+) (\([^;]*\))(?=\s*(?:;|$))", rf"CREATE TABLE \1 \2 {_TABLE_ENGINE}"),
        (r"\bDELETE FROM (\w+)(?=\s*(?:;|$))", r"TRUNCATE TABLE \1"),
        # the setting that makes columns nullable holds for CREATE alone
        (r"\bADD COLUMN (\w+) (\w+)(?=\s*(?:;|$))", r"ADD COLUMN \1 Nullable(\2)"),
        (r"\bUNION\b(?!\s+(?:ALL|DISTINCT)\b)", "UNION DISTINCT"),
        # a hash is a name for equal things, never kept: which function makes it does not matter
        (r"\bhash\(", "cityHash64("),
        (r">> 1\b", "DIV 2"),
        (r"\bquantile_disc\((\w+), ([0-9.]+)\)", r"quantileExactLow(\2)(\1)"),
        # extract() wants a constant pattern; ours is a column
        (
            r"\bregexp_extract\(([^,()]+), ([^,()]+), 1\)",
            r"if(match(\1, ifNull(\2, '')), "
            r"replaceRegexpOne(\1, concat('(?s)^.*?(?:', ifNull(\2, ''), ').*$'), '\\\\1'), '')",
        ),
        (
            r"\bLIKE (\S+) ESCAPE '!'",
            r"LIKE replaceAll(replaceAll(replaceAll(replaceAll(\1, '!!', char(1)), '!%', '\\\\%'), '!_', '\\\\_'), "
            r"char(1), '!')",
        ),
        # a path of ours is $."name"
        (
            r"\bjson_extract_string\(([^,()]+), ([^,()]+)\)",
            r"nullIf(JSONExtractString(ifNull(\1, ''), substring(assumeNotNull(\2), 4, length(\2) - 4)), '')",
        ),
    )
)
_COMMENT: Final = re.compile(r"--[^\n]*")
_TYPES: Final = {bool: "Bool", int: "Int64", float: "Float64", str: "String"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and the values it binds, as a ClickHouse client takes them."""

    sql: str
    values: dict[str, object]


def clickhouse(
    name: str, relations: Mapping[str, str] | None = None, values: Mapping[str, object] | None = None
) -> list[Statement]:
    """The statements of a named query for ClickHouse.

    Raises:
        UsageError: a value of a type that has no counterpart, or one that the query binds and that is not given.
    """
    return clickhouse_text(catalogue.render(name, dict(relations or {})), values or {})


def clickhouse_text(sql: str, values: Mapping[str, object]) -> list[Statement]:
    """The same of any text of ours (a migration); its statements are separated by semicolons."""
    text = _COMMENT.sub("", sql)
    return [_statement(part.strip(), values) for part in text.split(";") if part.strip()]


def _statement(sql: str, values: Mapping[str, object]) -> Statement:
    used = {name: _given(name, values) for name in sorted(catalogue.parameters(sql))}
    for pattern, replacement in _REWRITES:
        sql = pattern.sub(replacement, sql)
    for name, value in used.items():
        sql = re.sub(rf"\${name}\b", f"{{{name}:{_type(name, value)}}}", sql)
    return Statement(sql, used)


def _given(name: str, values: Mapping[str, object]) -> object:
    if name not in values:
        raise UsageError(f"The query binds ${name}, and no value was given for it.")
    return values[name]


def _type(name: str, value: object) -> str:
    found = _TYPES.get(type(value))
    if found is None:
        raise UsageError(f"The value of ${name} is a {type(value).__name__}, which has no counterpart in ClickHouse.")
    return found
