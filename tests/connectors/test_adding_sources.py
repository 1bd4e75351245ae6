"""Adding a source: what a pull would refuse is refused at once, and secrets are never stored."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from app.cli import main
from app.control import sources
from app.core.errors import ForbiddenError, UsageError
from app.main.background import Background
from app.main.runtime import opened, opened_control
from app.main.sources import add_source, list_sources, remove_source
from app.settings import Settings
from ingest.connectors import CONNECTORS
from tests.connectors.fake_litellm import row

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://gateway.example"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("SOME_KEY", "sk-0123456789-sesame")
    return replace(Settings(), data_dir=tmp_path / "data")


def test_a_host_that_no_pull_may_call_is_refused_when_it_is_added(settings: Settings) -> None:
    given = {"url": "http://127.0.0.1:4000", "key": "env:SOME_KEY"}
    for allowed in ("", "*", "other.example"):
        with pytest.raises(ForbiddenError, match=r"127\.0\.0\.1 is not an allowed host"):
            add_source(replace(settings, allow_hosts=allowed), kind="litellm", name="a", given=given)
    assert not settings.data_dir.exists()
    add_source(replace(settings, allow_hosts="127.0.0.1"), kind="litellm", name="a", given=given)
    assert [one["name"] for one in list_sources(settings)] == ["a"]


def test_a_name_that_does_not_resolve_yet_is_judged_by_itself(settings: Settings) -> None:
    given = {"url": "http://nowhere.invalid", "key": "env:SOME_KEY"}
    with pytest.raises(ForbiddenError, match=r"nowhere\.invalid is not an allowed host"):
        add_source(settings, kind="litellm", name="a", given=given)
    add_source(replace(settings, allow_hosts="Nowhere.invalid."), kind="litellm", name="a", given=given)


def test_addresses_of_the_machine_itself_are_refused_even_if_named(settings: Settings) -> None:
    allowed = replace(settings, allow_hosts="169.254.169.254")
    with pytest.raises(ForbiddenError, match="never called"):
        add_source(allowed, kind="litellm", name="a", given={"url": "http://169.254.169.254", "key": "env:SOME_KEY"})


def test_a_folder_outside_the_roots_is_refused_also_through_a_link(settings: Settings, tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    rooted = replace(settings, ingest_roots=str(inside))
    for path in (outside, inside / "link", inside / ".." / "out"):
        with pytest.raises(ForbiddenError, match="HALVE_INGEST_ROOTS"):
            add_source(rooted, kind="folder", name="a", given={"path": str(path)})
    with pytest.raises(UsageError, match="is no folder"):
        add_source(rooted, kind="folder", name="a", given={"path": str(inside / "missing")})
    add_source(rooted, kind="folder", name="a", given={"path": str(inside)})


def test_a_folder_without_a_log_yet_waits_for_the_first(settings: Settings, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    rooted = replace(settings, ingest_roots=str(logs))
    add_source(rooted, kind="folder", name="mine", given={"path": str(logs)}, every_us=0)
    with opened(rooted) as runtime:
        work = Background(runtime, rooted)
        assert work.run_due_sources() == [("mine", None)]
        first = row(1, datetime(2026, 11, 1, tzinfo=UTC))
        (logs / "a.jsonl").write_text(json.dumps(first) + "\n")
        assert work.run_due_sources() == [("mine", None)]
        assert sources.cursor(runtime.control, "mine").records == 1
        (logs / "a.jsonl").write_text(json.dumps(first) + "\n")
        work.run_due_sources()
        with runtime.warehouse.session() as session:
            assert session.connection.execute("SELECT source FROM requests").fetchall() == [("mine",)]


@pytest.mark.parametrize("value", ["sk-0123456789-sesame", "env:NO_SUCH_VARIABLE", "vault:x"])
def test_a_secret_is_only_taken_as_a_reference_that_can_be_read(settings: Settings, value: str) -> None:
    allowed = replace(settings, allow_hosts="gateway.example")
    with pytest.raises(UsageError) as refused:
        add_source(allowed, kind="litellm", name="a", given={"url": URL, "key": value})
    assert "sesame" not in str(refused.value)


def test_no_secret_is_stored(settings: Settings) -> None:
    allowed = replace(settings, allow_hosts="gateway.example")
    add_source(allowed, kind="litellm", name="a", given={"url": URL, "key": "env:SOME_KEY"})
    assert "sesame" not in json.dumps(list_sources(settings))
    assert b"sesame" not in b"".join(file.read_bytes() for file in settings.data_dir.rglob("*") if file.is_file())


def test_a_source_that_is_removed_forgets_where_it_stood(settings: Settings) -> None:
    allowed = replace(settings, allow_hosts="gateway.example")
    given = {"url": URL, "key": "env:SOME_KEY"}
    add_source(allowed, kind="litellm", name="a", given=given)
    with opened_control(settings) as control:
        sources.advance(control, "a", {"through_us": 5}, 9, fresh_us=5, complete_us=3, records=2)
        sources.advance(control, "a", {"through_us": 4}, 9, fresh_us=4, complete_us=2, records=2)
        where = sources.cursor(control, "a")
        assert (where.cursor, where.fresh_us, where.complete_us, where.records) == ({"through_us": 4}, 5, 3, 4)
    remove_source(settings, "a")
    add_source(allowed, kind="litellm", name="a", given=given)
    with opened_control(settings) as control:
        where = sources.cursor(control, "a")
    assert (where.cursor, where.fresh_us, where.records) == (None, None, 0)


def test_a_source_stored_with_a_token_is_still_pulled(settings: Settings) -> None:
    """Sources that were added before every kind called its key `key`."""
    options = {"url": "http://127.0.0.1:1", "token": "env:SOME_KEY", "every_us": 0}
    allowed = replace(settings, allow_hosts="")
    with opened(allowed) as runtime:
        sources.save(runtime.control, sources.Source("old", "litellm", options), 1)
        ((name, error),) = Background(runtime, allowed).run_due_sources()
    assert name == "old"
    assert "HALVE_ALLOW_HOSTS" in str(error)


def test_kinds_are_listed_with_what_they_take(tmp_path: Path) -> None:
    answer = CliRunner().invoke(main, ["sources", "kinds", "--json"], env={"HALVE_DATA_DIR": str(tmp_path)})
    kinds = {one["kind"]: one for one in json.loads(answer.output)}
    assert list(kinds) == [one.name for one in CONNECTORS]
    assert {option["name"] for option in kinds["s3"]["options"]} >= {"url", "key", "secret", "endpoint"}


def test_the_command_line_takes_any_option_and_a_first_day(settings: Settings, tmp_path: Path) -> None:
    env = {"HALVE_DATA_DIR": str(settings.data_dir), "HALVE_ALLOW_HOSTS": "gateway.example"}
    told = ["sources", "add", "litellm", "mine", "--url", URL, "--key", "env:SOME_KEY", "-o", "limit=100"]
    answer = CliRunner().invoke(main, [*told, "--since", "2026-10-01", "--every", "1h"], env=env)
    assert answer.output.startswith("Added mine.")
    (stored,) = list_sources(settings)
    assert stored["options"] == {
        "url": URL,
        "key": "env:SOME_KEY",
        "limit": "100",
        "since_us": 1_790_812_800_000_000,
        "every_us": 3_600_000_000,
    }
    assert CliRunner().invoke(main, [*told, "-o", "nonsense"], env=env).exit_code == 2
