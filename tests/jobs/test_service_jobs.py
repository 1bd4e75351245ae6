"""The service's own jobs on a real data folder: by the clock, after a night of downtime, and by hand."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from app import batch
from app.control import batches, job_runs, outbox, schedules
from app.main.background import Background
from app.main.batches import make_desk
from app.main.jobs import desk
from app.main.refresh import now_us
from app.main.runtime import opened
from app.settings import Settings
from ingest.pipeline import write_shards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from app.main.runtime import Runtime

DAY_US = 86_400_000_000
CALENDAR = ("analysis", "texts", "rollups", "report")


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with opened(replace(Settings(), data_dir=tmp_path / "data")) as made:
        yield made


@pytest.fixture
def settings(runtime: Runtime) -> Settings:
    return replace(Settings(), data_dir=runtime.data_dir, smtp_url="", mail_to="")


@contextmanager
def at_work(runtime: Runtime, settings: Settings) -> Iterator[Background]:
    work = Background(runtime, settings)
    work.start()
    try:
        yield work
    finally:
        work.stop()


def until(reached: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 120
    while not reached():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)


def hand_in(runtime: Runtime, folder: Path, days: int = 12) -> None:
    """Logs of the last days, as `halve ingest` leaves them while no service runs."""
    start = datetime.now(UTC).replace(microsecond=0)
    log = folder / "calls.jsonl"
    with log.open("w", encoding="utf-8") as out:
        for number in range(days * 4):
            call = {
                "id": f"call-{number}",
                "timestamp": (start - timedelta(hours=6 * number + 1)).isoformat(),
                "model": "gpt-4o",
                "provider": "openai",
                "input_tokens": 1000,
                "output_tokens": 100,
            }
            out.write(json.dumps(call) + "\n")
    assert write_shards([log], runtime.data_dir, source="made", workers=1) > 0


def requests_of(runtime: Runtime) -> int:
    with runtime.warehouse.session() as session:
        return int(session.connection.execute("SELECT count(*) FROM requests").fetchall()[0][0])


def test_after_a_night_of_downtime_logs_come_first_then_what_is_made_of_them(
    runtime: Runtime, settings: Settings, tmp_path: Path
) -> None:
    given = [(job.name, job.rule) for job in Background(runtime, settings).clockwork.jobs.values()]
    # From a midnight on, so that on each day the analysis comes before the report, whenever this runs.
    schedules.ensure(runtime.control, given, zone="UTC", now_us=(now_us() // DAY_US - 8) * DAY_US)
    hand_in(runtime, tmp_path)
    with at_work(runtime, settings):

        def all_ended() -> bool:
            last = job_runs.last_of_each(runtime.control)
            return all(name in last and last[name].ended_us for name in CALENDAR)

        until(all_ended, "every missed job")
    last = job_runs.last_of_each(runtime.control)
    assert [(last[name].state, last[name].late, last[name].error) for name in CALENDAR] == [("ok", True, None)] * 4
    assert "48 requests" in last["analysis"].lines
    assert last["analysis"].missed >= 7
    analysed_us = last["analysis"].ended_us
    assert analysed_us is not None
    assert last["report"].started_us >= analysed_us
    assert "the archive: archived" in last["report"].lines
    assert [(letter.state, letter.recipient) for letter in outbox.newest(runtime.control)] == [("archived", "")]


def test_a_second_start_repeats_nothing(runtime: Runtime, settings: Settings, tmp_path: Path) -> None:
    hand_in(runtime, tmp_path)
    for turn in (1, 2):
        with at_work(runtime, settings) as work:
            until(lambda: requests_of(runtime) == 48, "the logs")
            work.ask("report")
            until(lambda turn=turn: _states(runtime, "report") == ["ok"] * turn, "the report")  # type: ignore[misc]
    assert {run.cause for run in job_runs.newest(runtime.control, job="report")} == {"asked"}
    assert len({run.holder for run in job_runs.newest(runtime.control, job="report")}) == 2
    assert len(outbox.newest(runtime.control)) == 1
    assert requests_of(runtime) == 48


def _states(runtime: Runtime, job: str) -> list[str]:
    return [run.state for run in job_runs.newest(runtime.control, job=job)]


def test_the_inbox_is_taken_in_and_a_batch_moved_by_the_clock(
    runtime: Runtime, settings: Settings, tmp_path: Path
) -> None:
    with at_work(runtime, settings):
        hand_in(runtime, tmp_path)
        body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Sort this."}]}
        line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}
        lines = [json.dumps(line).encode()]
        job = batch.submit(make_desk(runtime.control, settings), lines, batch.Order("demo", label="night"))
        until(lambda: batches.job(runtime.control, job.id).state == "settled", "the batch")
        until(lambda: requests_of(runtime) == 49, "the logs and the charged item")
    assert set(_states(runtime, "inbox")) == set(_states(runtime, "batch")) == {"ok"}
    assert any("48 stored" in run.lines for run in job_runs.newest(runtime.control, job="inbox"))
    assert any("1 settled" in run.lines for run in job_runs.newest(runtime.control, job="batch"))


def test_every_job_runs_by_hand_on_an_empty_store(runtime: Runtime, settings: Settings) -> None:
    with at_work(runtime, settings) as work:
        asked = {job.name for job in desk(work).jobs}
        for name in asked:
            work.ask(name)

        def all_ended() -> bool:
            return {
                run.job for run in job_runs.newest(runtime.control) if run.cause == "asked" and run.ended_us
            } == asked

        until(all_ended, "every run")
    assert [(run.job, run.error) for run in job_runs.newest(runtime.control) if run.state != "ok"] == []
