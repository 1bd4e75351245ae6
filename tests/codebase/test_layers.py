"""The layers of ARCHITECTURE.md are the ones the code has."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "ingest", "reports")
BANNED = {"utils", "helpers", "common", "misc", "manager", "base", "service"}
SQL_TEXT = re.compile(
    r"^\s*(select|with|insert|update|delete|merge|create|drop|alter|copy|attach)\b[^.!?]*\s", re.IGNORECASE
)
MOST_LINES = 400
# Statements that manage the engine itself (open, attach, pragmas, transactions) stand beside the code that owns it.
MAY_SPEAK_SQL = {"app/warehouse", "app/control"}


def modules() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def test_every_import_points_down() -> None:
    lint_imports = Path(sys.executable).parent / "lint-imports"
    run = subprocess.run([lint_imports], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_layers_in_pyproject_stand_in_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = sorted(path.name for path in (ROOT / "app").iterdir() if (path / "__init__.py").is_file())
    missing = [name for name in packages if f"app/{name}" not in text]
    assert not missing, f"ARCHITECTURE.md does not name {missing}"


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for path in modules() if path.stem in BANNED] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [path for path in modules() if ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) is None]
    assert silent == []


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    """One idea a module: what grows past this is cut by idea. Tests and tools count too."""
    others = [path for folder in ("tests", "tools") for path in sorted((ROOT / folder).rglob("*.py"))]
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in (*modules(), *others)}
    assert {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > MOST_LINES} == {}


def test_sql_stands_in_the_catalogue_only() -> None:
    offenders = []
    for path in modules():
        relative = path.relative_to(ROOT).as_posix()
        if any(relative.startswith(prefix) for prefix in MAY_SPEAK_SQL):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            text = node.value.strip().lower()
            if SQL_TEXT.match(text) and re.search(r"\b(from|into|table|set|view)\b", text) and "select" in text:
                offenders.append(f"{relative}:{node.lineno}: {node.value[:60]!r}")
    assert offenders == []
