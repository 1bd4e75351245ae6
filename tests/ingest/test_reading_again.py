"""Records that could not be read and later can: read again from where they came, counted once, the sums adding up."""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from made_logs import line, lines

from app.analysis.intake import added, intake
from app.cli import main
from app.control import sources
from app.core.errors import NotFoundError
from app.main import rereading
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source
from app.settings import Settings
from ingest.pipeline import ingest_paths
from ingest.quarantine import quarantined
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY, PROTOCOLS, Table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.main.runtime import Runtime


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HALVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FAKE_KEY", KEY)
    return replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")


def read(runtime: Runtime, path: Path, **options: Any) -> None:
    given = {"warehouse": runtime.warehouse, "pricer": runtime.pricer, "data_dir": runtime.data_dir, "workers": 0}
    ingest_paths([path], **given, **options)


def counted(runtime: Runtime) -> tuple[int, int, int, int]:
    """(read, requests, known or no call, rejected) as Sources shows them; they add up to what was read."""
    with runtime.warehouse.session() as session:
        whole = added(intake(session))
        requests = session.connection.execute("SELECT count(*) FROM requests").fetchall()[0][0]
    assert whole.read == whole.stored + whole.updated + whole.merged + whole.benign + whole.rejected
    assert whole.stored == requests
    return whole.read, whole.stored, whole.updated + whole.merged + whole.benign, whole.rejected


BROKEN = '"response":['


def broken(number: int) -> str:
    return line(number).replace('"response":{', BROKEN, 1)


def test_after_a_repair_a_source_has_its_records_under_its_own_name_and_the_counts_follow(
    configured: Settings, tmp_path: Path
) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(5)) + broken(5) + lines([6]) + broken(7))
    with opened(configured) as runtime:
        read(runtime, log, source="gateway")
        assert counted(runtime) == (8, 6, 0, 2)
        log.write_text(log.read_text().replace(BROKEN, '"response":{', 1))
        done = rereading.read_again(runtime, configured, "gateway")
        assert (done.read, done.rejected, done.problems) == (2, 1, ["a.jsonl" in done.problems[0] and done.problems[0]])
        assert counted(runtime) == (8, 7, 0, 1)
        log.write_text(log.read_text().replace(BROKEN, '"response":{', 1))
        assert rereading.read_again(runtime, configured, None).rejected == 0
        assert counted(runtime) == (8, 8, 0, 0)
        with runtime.warehouse.session() as session:
            names = session.connection.execute("SELECT DISTINCT source FROM requests").fetchall()
        assert names == [("gateway",)]
        with pytest.raises(NotFoundError, match="Nothing of a source named 'gateway' is in quarantine"):
            rereading.read_again(runtime, configured, "gateway")


@pytest.mark.parametrize("pack", [lambda text: text.encode(), lambda text: gzip.compress(text.encode())])
def test_a_file_that_is_read_again_as_a_whole_counts_its_other_records_once(
    configured: Settings, tmp_path: Path, pack: Callable[[str], bytes]
) -> None:
    log = tmp_path / "a.jsonl.gz"
    text = lines(range(5)) + broken(5) + lines([6]) + broken(7)
    log.write_bytes(pack(text))
    with opened(configured) as runtime:
        read(runtime, log)
        assert counted(runtime) == (8, 6, 0, 2)
        log.write_bytes(pack(text.replace(BROKEN, '"response":{', 1)))
        rereading.read_again(runtime, configured, None)
        assert counted(runtime) == (8, 7, 0, 1)
        assert len(quarantined(runtime.warehouse)) == 1


def test_a_file_that_was_refused_as_a_whole_counts_once_it_can_be_read(configured: Settings, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text('{"nothing": "that anybody knows"}\n' * 3)
    with opened(configured) as runtime:
        read(runtime, log)
        assert counted(runtime) == (1, 0, 0, 1)
        log.write_text(lines(range(4)))
        rereading.read_again(runtime, configured, None)
        assert counted(runtime) == (4, 4, 0, 0)
        read(runtime, log)
        assert counted(runtime) == (4, 4, 0, 0)


def litellm(table: Table, wrong: set[str]) -> Callable[[Any], tuple[int, Any]]:
    """Answers in which some rows are no objects."""
    speak = next(one for one in PROTOCOLS if one.kind == "litellm").speak

    def answer(asked: Any) -> tuple[int, Any]:
        status, page = speak(table, asked)
        page["data"] = [f"torn {row['request_id']}" if row["request_id"] in wrong else row for row in page["data"]]
        return status, page

    return answer


def test_a_record_that_a_pull_brings_again_and_again_is_one_place_and_is_asked_for_once_it_can_be_read(
    configured: Settings,
) -> None:
    table, wrong = Table(), set[str]()
    for n in range(60):
        table.add(datetime.now(UTC) - timedelta(minutes=5 + n), f"row-{n:04d}-abcdef0123456789")
    wrong.update(name for _, name in table.rows[3:6])
    with FakeServer(litellm(table, wrong)) as server, opened(configured) as runtime:
        given = {"url": server.url, "key": "env:FAKE_KEY", "limit": "25"}
        add_source(configured, kind="litellm", name="gateway", given=given, every_us=0)
        work = Background(runtime, configured)
        for n in range(3):
            table.add(datetime.now(UTC) - timedelta(minutes=1), f"new-{n:04d}-abcdef0123456789")
            assert work.run_due_sources() == [("gateway", None)]
            assert len(quarantined(runtime.warehouse)) == 3
        assert [place.file for place in quarantined(runtime.warehouse)] == ["gateway (litellm)"] * 3
        wrong.clear()
        done = rereading.read_again(runtime, configured, None)
        assert (done.read, done.rejected, done.asked, done.problems) == (0, 0, (("gateway", 3),), [])
        assert quarantined(runtime.warehouse) == []
        assert sources.cursor(runtime.control, "gateway").cursor is None
        assert work.run_due_sources() == [("gateway", None)]
        assert quarantined(runtime.warehouse) == []
        with runtime.warehouse.session() as session:
            stored = {name for (name,) in session.connection.execute("SELECT source_record FROM requests").fetchall()}
            whole = added(intake(session))
        assert stored == table.names()
        assert whole.read == whole.stored + whole.updated + whole.merged + whole.benign + whole.rejected


def test_what_was_pushed_or_uploaded_is_said_to_be_kept_nowhere(configured: Settings, tmp_path: Path) -> None:
    with opened(configured) as runtime:
        work = Background(runtime, configured)
        work.pushes.journal.start()
        body = lines([0]).encode() + line(1)[:100].encode() + b"\n"
        receipt = work.pushes.desk().records("app", body, "")
        assert receipt.done is not None
        receipt.done.result(10)
        work.pushes.journal.close()
        work.take_inbox()
        places = quarantined(runtime.warehouse)
        assert [place.source for place in places] == ["app"]
    run = CliRunner().invoke(main, ["sources", "again"])
    assert run.exit_code == 0, run.output
    assert "1 records that were pushed as app are not kept once they were read. Send them again" in run.output
