"""The catalogue and the numbered migrations keep their own rules."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUERIES = sorted((ROOT / "app/warehouse/queries").rglob("*.sql"))
MIGRATIONS = sorted((ROOT / "migrations/warehouse").glob("*.sql"))


def code(path: Path) -> str:
    return re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8")).lower()


def test_every_query_says_what_it_answers() -> None:
    assert QUERIES
    assert [path.name for path in QUERIES if not path.read_text(encoding="utf-8").startswith("--")] == []


def names_asked_for() -> list[str]:
    """What the product's texts say of the form `area.name`; `*` is where a text is put together."""
    said = set()
    for path in (path for folder in ("app", "ingest", "reports") for path in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                said.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                said.add("".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values))
    return sorted(text for text in said if re.fullmatch(r"[a-z_]+\.[a-z0-9_*]+", text))


def test_every_query_of_the_catalogue_is_asked_by_the_product() -> None:
    asked = names_asked_for()
    names = [f"{path.parent.name}.{path.stem}" for path in QUERIES]
    whole_areas = {f"{path.parent.name}.*" for path in QUERIES}  # would hide every unused query of an area
    assert whole_areas.intersection(asked) == set()
    assert [name for name in names if not any(fnmatchcase(name, text) for text in asked)] == []


def test_tables_have_no_keys_or_indexes() -> None:
    pattern = re.compile(r"primary key|unique|create index|references ")
    assert [path.name for path in MIGRATIONS if pattern.search(code(path))] == []


def test_migration_numbers_are_unique_and_in_order() -> None:
    numbers = [path.name[:4] for path in MIGRATIONS if "." not in path.name[5:-4]]
    assert numbers == sorted(set(numbers))


def test_no_money_column_is_a_float() -> None:
    text = "\n".join(code(path) for path in MIGRATIONS)
    assert re.findall(r"\w+_(?:pusd|usd)\s+(?:double|float|real)", text) == []


def test_lag_always_has_a_default() -> None:
    bare = re.compile(r"\b(?:lag|lead)\(\s*[^(),]+(?:,\s*\d+\s*)?\)")
    assert [path.name for path in QUERIES if bare.search(code(path))] == []
