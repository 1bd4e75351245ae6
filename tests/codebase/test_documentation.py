"""What a reader can type, set or see is in the documentation."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from app.cli import main
from app.levers import LEVERS
from app.pricing.book import PriceBook
from app.settings import Settings
from app.web.pages import PAGES
from ingest.connectors import CONNECTORS
from ingest.formats import FORMATS
from ingest.formats.column_map import from_argument

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES_OF_DOCS = sorted((ROOT / "docs").glob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def table(path: str) -> set[str]:
    """What the first column of the tables of a page names in backticks."""
    return set(re.findall(r"^\| `([^`]+)` \|", text(path), re.MULTILINE))


def commands(group: click.Group, prefix: str = "halve") -> list[str]:
    found = []
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found += commands(command, f"{prefix} {name}")
        else:
            found.append(f"{prefix} {name}")
    return found


def test_the_readme_stays_what_a_first_reader_needs() -> None:
    assert text("README.md").count("\n") <= 200


def test_every_page_of_docs_is_found_from_the_readme() -> None:
    linked = set(LINK.findall(text("README.md")))
    assert [path.name for path in PAGES_OF_DOCS if f"docs/{path.name}" not in linked] == []


def test_every_link_between_documents_leads_to_a_file() -> None:
    documents = [*ROOT.glob("*.md"), *PAGES_OF_DOCS, ROOT / "ingest/formats/README.md"]
    links = [(path, link) for path in documents for link in LINK.findall(path.read_text(encoding="utf-8"))]
    assert len(links) > 30
    broken = [(path.name, link) for path, link in links if ":" not in link and not (path.parent / link).is_file()]
    assert broken == []


def test_the_page_of_commands_lists_every_command_and_no_other() -> None:
    assert {name for name in table("docs/commands.md") if name.startswith("halve ")} == set(commands(main))


def written_commands() -> list[tuple[str, list[str]]]:
    """(file, words) of every `halve ...` that documents and pages tell a reader to type."""
    folders = ("docs", "app/web/templates", "app/web", "ingest/formats")
    files = [README] + [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".md", ".html", ".py") and path.is_file()
    ]
    found = []
    for path in files:
        content = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
        spans = re.findall(r"`(halve [^`\n]+)`|<code>(halve [^<]+)</code>", content)
        lines = re.findall(r"^(?:\w+=\S+ )*(halve [^\n`]+)$", content, re.MULTILINE) if path.suffix == ".md" else []
        for written in [*(one or other for one, other in spans), *lines]:
            words = re.split(r" (?:#|&&|;|\|) ?", re.sub(r"'[^']*'", "X", written))[0].split()
            found.append((str(path.relative_to(ROOT)), words[1:]))
    return found


def test_every_command_that_documents_and_pages_name_can_be_typed() -> None:
    """Its name is a command, and the options written with it are options of that command."""
    wrong = []
    assert len(written_commands()) > 80
    for path, words in written_commands():
        command: click.Command = main
        rest = list(words)
        while isinstance(command, click.Group) and rest and rest[0] in command.commands:
            command = command.commands[rest.pop(0)]
        options = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
        unknown = [word for word in rest if word.startswith("-") and word.split("=")[0] not in options | {"--help"}]
        no_command = isinstance(command, click.Group) and rest and rest[0].islower()
        if "…" not in rest and (unknown or no_command):
            wrong.append(f"{path}: halve {' '.join(words)}")
    assert wrong == []


def test_every_command_says_what_it_does() -> None:
    for name in commands(main):
        command: click.Command = main
        for word in name.split()[1:]:
            assert isinstance(command, click.Group)
            command = command.commands[word]
        assert command.help, name
        assert len(command.help) > 20, name


def test_the_page_of_settings_lists_every_setting_with_its_default() -> None:
    written = dict(re.findall(r"^\| `(HALVE_\w+)` \| `?([^`|]+?)`? \|", text("docs/settings.md"), re.MULTILINE))
    assert written == {item.metadata["env"]: str(item.default) or "empty" for item in fields(Settings)}


def test_every_lever_is_documented() -> None:
    assert table("docs/figures.md") == {lever.name for lever in LEVERS}


def test_every_format_is_documented_with_its_convention() -> None:
    assert table("docs/formats.md") == {item.name for item in FORMATS}
    assert [item.name for item in FORMATS if len(item.convention) < 20] == []


def test_every_kind_of_source_is_documented() -> None:
    assert table("docs/sources.md") == {item.name for item in CONNECTORS}


def test_every_page_is_documented() -> None:
    pages = sorted(path.stem for path in (ROOT / "app/web/pages").glob("*.py") if path.stem != "__init__")
    assert pages
    assert [name for name in pages if f"app/web/pages/{name}.py" not in text("ARCHITECTURE.md")] == []


def test_the_readme_says_what_each_page_answers() -> None:
    rows = re.findall(r"^\| \*\*[\w ]+\*\* `(/[\w/-]*)` \| .{40,} \|$", text("README.md"), re.MULTILINE)
    assert sorted(rows) == sorted(page.path for page in PAGES if "{" not in page.path)


def test_every_target_of_the_makefile_says_what_it_does() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    phony = next(line for line in lines if line.startswith(".PHONY")).split()[1:]
    described = {line.split(":")[0] for line in lines if "## " in line}
    assert set(phony) <= described


def fenced(path: str, language: str) -> str:
    """The first block of a document in that language."""
    return text(path).split(f"```{language}\n")[1].split("```")[0]


@pytest.mark.parametrize(("language", "suffix"), [("yaml", "yml"), ("csv", "csv")])
def test_the_price_files_of_the_documents_are_read_as_they_stand(language: str, suffix: str, tmp_path: Path) -> None:
    own = tmp_path / f"prices.{suffix}"
    own.write_text(fenced("docs/prices.md", language), encoding="utf-8")
    book = PriceBook.load(None, own)
    assert book.rows_of("azure", "team-chat-prod")


def test_the_line_of_the_readme_is_read_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.jsonl").write_text(fenced("README.md", "json"), encoding="utf-8")
    said = text("README.md").split("```text\nown.jsonl")[1].split("```")[0]
    run = CliRunner().invoke(main, ["inspect", "own.jsonl"])
    assert run.exit_code == 0, run.output
    assert run.output == f"own.jsonl{said}"


def test_the_inline_column_map_of_the_documents_is_read_as_it_stands() -> None:
    inline = re.search(r"--map '([^']+)'", text("docs/sources.md"))
    assert inline is not None
    assert from_argument(inline.group(1)).text()


def names_in(document: object, prefix: str = "") -> set[str]:
    """The names of a JSON document; below `tokens` and `levers_data` they are data."""
    if isinstance(document, list):
        return {name for item in document for name in names_in(item)}
    if not isinstance(document, dict):
        return set()
    below = (names_in(value) for name, value in document.items() if name not in {"tokens", "levers_data", "reasons"})
    return set(document).union(*below)


def section(path: str, heading: str) -> str:
    return text(path).split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_what_commands_print_as_json_is_documented_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = json.loads(fenced("README.md", "json"))
    texts = [f"{word} is the answer." * 200 for word in ("one", "two")]
    with Path("own.jsonl").open("w", encoding="utf-8") as log:
        for number in range(400):
            line["timestamp"] = f"2026-11-{number % 20 + 1:02}T{number // 20:02}:00:00Z"
            line["request"] = {"messages": [{"role": "user", "content": texts[number % 2]}], "temperature": 0}
            line["response"] |= {"id": f"a-{number}", "model": "no-such-model" if number == 7 else "gpt-4o-2024-08-06"}
            line["response"]["usage"] |= {"prompt_tokens": 12000, "total_tokens": 12030}
            log.write(json.dumps(line) + "\n")
        log.write("torn\n")
    for command in ("analyze", "reconcile"):
        run = CliRunner().invoke(main, [command, "own.jsonl", "--json"])
        assert run.exit_code == 0, run.output
        said = names_in(json.loads(run.stdout))
        described = section("docs/commands.md", f"`halve {command} --json`")
        assert sorted(name for name in said if not re.search(rf"\b{name}\b", described)) == []
        assert command != "analyze" or {"fingerprint", "details", "unpriced_requests"} <= said
