"""Habits of the whole tree: names of test modules, broad excepts, notes to oneself, paths of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("app", "ingest", "reports", "migrations", "tests", "tools")
BROAD = {"Exception", "BaseException"}
SWALLOWS = {
    ("app/jobs/clockwork.py", "_has_work"),  # the run itself says what is wrong; the other jobs go on
    ("app/jobs/clockwork.py", "_outcome"),  # one job may fail in a way nobody foresaw; it is in the run log
    ("app/main/background.py", "_alone"),  # likewise a piece of work that is no job
    ("app/main/background.py", "_run_source"),  # one source fails; the others are pulled
    ("ingest/push/taking.py", "_take_whole_ones"),  # one segment is set aside; the others are read
    ("tests/connectors/pull_until_done.py", "main"),  # a child process must never go on as its parent
    ("tests/connectors/shelf.py", "pulled_from"),  # the test looks at what it was
}
"""(file, function) of every handler of any exception that does not raise it again, with the reason."""
NOTES = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
HOST_PATHS = re.compile(r"(?<![\w.])/(?:work|root|Users|opt/pypi)\b|\b(?:pypi|simple)-more\b")


def python_files() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def tracked_files() -> list[Path]:
    """What the repository holds, or would after the next commit: text only."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in run.stdout.splitlines()]
    return [path for path in paths if path.is_file() and path.suffix not in {".png", ".lock", ".zst", ".gz"}]


def swallowed(tree: ast.Module) -> list[str]:
    """The function around each handler of any exception that does not end by raising."""
    found: list[str] = []

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.ExceptHandler):
            caught = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else BROAD
            if caught & BROAD and not isinstance(node.body[-1], ast.Raise):
                found.append(function)
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(tree, "")
    return found


def test_no_two_modules_of_the_tests_share_a_name() -> None:
    names = Counter(path.stem for path in (ROOT / "tests").rglob("*.py"))
    assert [name for name, times in names.items() if times > 1 and name not in {"conftest", "__init__"}] == []


def test_every_except_of_anything_raises_again_or_stands_in_the_list() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), function)
        for path in python_files()
        for function in swallowed(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == SWALLOWS


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f():\n try: g()\n except: pass", ["f"]),
        ("def f():\n try: g()\n except (ValueError, Exception): pass", ["f"]),
        ("def f():\n try: g()\n except Exception:\n  h()\n  raise", []),
        ("def f():\n try: g()\n except ValueError: pass", []),
    ],
)
def test_a_broad_except_is_seen_in_every_spelling(code: str, names: list[str]) -> None:
    assert swallowed(ast.parse(code)) == names


def test_nothing_is_left_to_be_done_later() -> None:
    assert [
        str(path) for path in tracked_files() if NOTES.search(path.read_text(encoding="utf-8", errors="replace"))
    ] == []


def test_no_file_names_a_path_of_one_machine() -> None:
    texts = [(path, path.read_text(encoding="utf-8", errors="replace")) for path in tracked_files()]
    assert [
        (str(path.relative_to(ROOT)), found.group()) for path, text in texts if (found := HOST_PATHS.search(text))
    ] == []


def test_every_file_that_a_text_names_is_there() -> None:
    """In documents, docstrings, comments and error messages: what was moved is named where it is now."""
    named = re.compile(r"(?<![\w/.-])(?:app|ingest|reports|tools|migrations|docs)/[\w/]+\.(?:py|sql|yml|csv|html|md)\b")
    texts = [path for path in tracked_files() if path.suffix in {".py", ".sql", ".md", ".html"}]
    names = [(path, name) for path in texts for name in named.findall(path.read_text(encoding="utf-8"))]
    assert len(names) > 60
    gone = [(str(path.relative_to(ROOT)), name) for path, name in names if not (ROOT / name).is_file()]
    assert [(path, name) for path, name in gone if "NNNN" not in name] == []
