"""What a reader can type, set or see is in the documentation."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import click

from app.cli import main
from app.levers import LEVERS
from app.pricing.book import PriceBook
from app.settings import Settings
from ingest.formats import FORMATS
from ingest.formats.column_map import from_argument

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def commands(group: click.Group, prefix: str = "halve") -> list[str]:
    found = []
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found += commands(command, f"{prefix} {name}")
        else:
            found.append(f"{prefix} {name}")
    return found


def test_every_command_is_in_the_readme() -> None:
    assert [name for name in commands(main) if name not in README] == []


def written_commands() -> list[tuple[str, list[str]]]:
    """(file, words) of every `halve ...` that documents and pages tell a reader to type."""
    folders = ("docs", "app/web/templates", "app/web", "ingest/formats")
    files = [ROOT / "README.md"] + [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".md", ".html", ".py") and path.is_file()
    ]
    found = []
    for path in files:
        text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
        spans = re.findall(r"`(halve [^`\n]+)`|<code>(halve [^<]+)</code>", text)
        lines = re.findall(r"^(?:\w+=\S+ )*(halve [^\n`]+)$", text, re.MULTILINE) if path.suffix == ".md" else []
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


def test_every_setting_is_in_the_readme() -> None:
    assert [item.metadata["env"] for item in fields(Settings) if f"`{item.metadata['env']}`" not in README] == []


def test_every_lever_is_documented() -> None:
    assert [lever.name for lever in LEVERS if f"`{lever.name}`" not in README] == []


def test_every_format_is_documented_with_its_convention() -> None:
    assert [item.name for item in FORMATS if f"`{item.name}`" not in README] == []
    assert [item.name for item in FORMATS if len(item.convention) < 20] == []


def test_every_page_is_documented() -> None:
    pages = sorted(path.stem for path in (ROOT / "app/web/pages").glob("*.py") if path.stem != "__init__")
    assert pages
    assert [name for name in pages if f"app/web/pages/{name}.py" not in ARCHITECTURE] == []


def test_every_target_of_the_makefile_says_what_it_does() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    phony = next(line for line in lines if line.startswith(".PHONY")).split()[1:]
    described = {line.split(":")[0] for line in lines if "## " in line}
    assert set(phony) <= described


def test_the_price_file_of_the_readme_is_read_as_it_stands(tmp_path: Path) -> None:
    example = README.split("```yaml\n")[1].split("```")[0]
    own = tmp_path / "prices.yml"
    own.write_text(example, encoding="utf-8")
    book = PriceBook.load(None, own)
    assert book.rows_of("hosted_vllm", "qwen3-32b")
    assert book.rows_of("azure", "my-deployment")


def test_the_inline_column_map_of_the_readme_is_read_as_it_stands() -> None:
    inline = re.search(r"--map '([^']+)'", README)
    assert inline is not None
    assert from_argument(inline.group(1)).text()
