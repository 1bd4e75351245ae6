"""A data folder that is mistyped or empty: commands that need a store say so and make nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from app.cli import main
from tests.cli.halve_command import inside
from tests.ingest.made_logs import lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAKE_A_STORE = {
    "ingest",
    "serve",
    "demo",
    "migrate",
    "sources add",
    "keys create",
    "budgets add",
    "batch submit",
}
NEED_NO_STORE = {
    "inspect",
    "replay",
    "sources kinds",
    "prices show",
    "prices quote",
    "prices import",
    "prices check",
}
ARGUMENTS = {
    "export": ["csv"],
    "backup": ["copy"],
    "budgets remove": ["x"],
    "keys revoke": ["x"],
    "sources remove": ["x"],
    "sources billing": ["x", "api"],
    "sources primary": ["x"],
    "sources separate": ["x", "y"],
    "batch show": ["x"],
    "batch cancel": ["x"],
    "batch results": ["x"],
    "report send": ["--to", "ana@example.org"],
}


def commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name))


NEED_A_STORE = sorted(set(commands(main)) - MAKE_A_STORE - NEED_NO_STORE)


@pytest.mark.parametrize("command", [*NEED_A_STORE, "prices versions 1", "prices reprice --apply", "plan --json"])
def test_a_mistyped_data_folder_is_named_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    typo, empty = tmp_path / "typo", tmp_path / "empty"
    empty.mkdir()
    call = [*command.split(), *ARGUMENTS.get(command, [])]
    inside(typo, *call).failed(1, f"There is no data folder {typo}", "HALVE_DATA_DIR", "halve ingest")
    inside(empty, *call).failed(1, f"{empty} holds no store")
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_the_store_beside_is_named(tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").write_text(lines(range(3)), encoding="utf-8")
    store = tmp_path / "data" / "demo" / "store"
    assert inside(store, "ingest", tmp_path / "calls.jsonl").code == 0
    inside(tmp_path / "data" / "demo", "plan").failed(1, "holds no store", f"{store} holds one")
    inside(tmp_path / "data", "plan").failed(1, "holds no store", f"{store} holds one")


def test_a_store_of_settings_alone_is_read(tmp_path: Path) -> None:
    made = inside(tmp_path / "data", "keys", "create", "shop")
    assert made.code == 0
    assert [key["name"] for key in inside(tmp_path / "data", "keys", "list", "--json").json] == ["shop"]
    assert inside(tmp_path / "data", "prices", "versions").code == 0
