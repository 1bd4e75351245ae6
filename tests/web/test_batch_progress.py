"""Progress of a batch job: told as it happens, with errors in band, and to nobody who has left."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
from batch_office import Office, chats
from batch_reader import Reader
from dashboard_site import Site

from app.core.errors import UnavailableError
from app.web.batch_routes import stream
from app.web.batch_words import OUTCOMES, STATES, standing

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from pathlib import Path

    from starlette.responses import Response


def events_of(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a stream."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def test_progress_is_told_as_it_happens_and_ends_with_the_job(tmp_path: Path) -> None:
    office = Office(tmp_path / "data", rows=[], no_access_control=True)
    site = Site(office.company)
    site.start()
    try:
        job_id = Reader(office).job(Reader(office).upload(chats(4)))
        told = []
        with httpx2.stream("GET", f"{site.url}/batch/jobs/{job_id}/events", timeout=20) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.headers["x-accel-buffering"] == "no"
            assert answer.headers["cache-control"] == "no-store"
            assert "content-encoding" not in answer.headers
            for name, data in events_of(answer.iter_lines()):
                told.append((name, data.get("state")))
                if name == "progress":
                    office.work(30)
        assert told[0] == ("progress", "Waiting to be sent")
        assert told[-2:] == [("progress", "Completed"), ("end", None)]
        # Which states between the two are seen depends on how fast the reader reads.
        assert {state for name, state in told if name == "progress"} <= {*STATES.values(), *OUTCOMES.values()}
        assert httpx2.get(f"{site.url}/batch/jobs/batch_none/events").status_code == 404
    finally:
        site.stop()
        office.close()


def test_nobody_is_asked_any_more_once_the_reader_has_left(tmp_path: Path) -> None:
    office = Office(tmp_path / "data", rows=[], no_access_control=True)
    looks: list[str] = []
    deps = office.company.deps
    assert deps.commands.batch is not None
    view = deps.commands.batch.view

    def seen(job_id: str) -> Any:
        looks.append(job_id)
        return view(job_id)

    counted = replace(deps.commands, batch=replace(deps.commands.batch, view=seen))
    office.company.deps = replace(deps, commands=counted)
    site = Site(office.company)
    site.start()
    try:
        job_id = Reader(office).job(Reader(office).upload(chats(1)), when="at", at="02:00")
        with httpx2.stream("GET", f"{site.url}/batch/jobs/{job_id}/events", timeout=20) as answer:
            assert next(events_of(answer.iter_lines()))[0] == "progress"
        time.sleep(1.5)
        before = len(looks)
        time.sleep(2.5)
        assert len(looks) == before
    finally:
        site.stop()
        office.close()


def run(coroutine: Coroutine[Any, Any, str]) -> str:
    """Run it in a thread of its own: a browser of an earlier test keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def test_an_error_comes_in_the_stream_itself(reader: Reader) -> None:
    job_id = reader.job(reader.upload(chats(1)))
    desk = reader.office.company.deps.commands.batch
    assert desk is not None
    answers = iter([standing(desk.view(job_id))])

    def look() -> Any:
        for found in answers:
            return found
        raise UnavailableError("The control store could not be read.")

    async def read() -> str:
        return "".join([text async for text in stream(look, lambda: False, every_s=0)])

    told = list(events_of(iter(run(read()).splitlines())))
    assert [name for name, _ in told] == ["progress", "fault"]
    assert told[1][1] == {"text": "The control store could not be read."}


def test_the_stream_of_a_job_that_waits_ends_with_the_service(reader: Reader) -> None:
    job_id = reader.job(reader.upload(chats(1)), when="at", at="02:00")
    desk = reader.office.company.deps.commands.batch
    assert desk is not None
    told = iter([False, False, True])

    async def read() -> str:
        return "".join([text async for text in stream(lambda: standing(desk.view(job_id)), lambda: next(told), 0)])

    assert [name for name, _ in events_of(iter(run(read()).splitlines()))] == ["progress"]


def test_the_page_of_a_live_job_loads_itself_anew_without_javascript(reader: Reader) -> None:
    job_id = reader.job(reader.upload(chats(1)))
    live: Response = reader.http.get(f"/batch/jobs/{job_id}")
    assert '<noscript><meta http-equiv="refresh"' in live.text
    reader.office.until_settled(job_id)
    reader.office.work(1)
    settled = reader.http.get(f"/batch/jobs/{job_id}").text
    assert "refresh" not in settled
    assert "halve-progress" not in settled
