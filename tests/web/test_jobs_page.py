"""The Jobs page: what runs when, what became of it, a run now, another time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from dashboard_company import DAY_US, NOW_US, company
from starlette.testclient import TestClient

from app.control import job_runs, schedules, tables
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dashboard_company import Company

SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def workshop() -> Company:
    return company([], no_access_control=True)


@pytest.fixture
def reader(workshop: Company) -> Iterator[TestClient]:
    with TestClient(create_app(workshop.deps), base_url="http://127.0.0.1", headers=SAME) as opened:
        yield opened


def schedule(workshop: Company, job: str) -> schedules.Schedule:
    return next(item for item in schedules.all_schedules(workshop.deps.control) if item.job == job)


def rows(reader: TestClient, query: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = reader.get(f"/jobs.json?{query}").json()["rows"]
    return found


def test_each_job_says_when_it_runs_next_and_what_became_of_its_last_run(reader: TestClient) -> None:
    listed = {row["job"]: row for row in rows(reader, "")}
    assert listed["Analyse"]["next_run"] == "2026-11-19T02:00:00Z"
    assert listed["Analyse"]["last_run"] == "2026-11-18T02:00:00Z"
    assert listed["Analyse"]["duration_us"] == 42_600_000
    assert listed["Analyse"]["state"] == "ok"
    assert listed["Weekly report"]["next_run"] == "2026-11-23T07:00:00Z"
    assert listed["Pull sources"]["state"] == "failed"
    assert "answered 503" in str(listed["Pull sources"]["error"])
    assert listed["Month end"]["next_run"] is None
    html = reader.get("/jobs").text
    for words in ("Daily at 03:00", "Mondays at 08:00", "Every 6 h", "Day 31 of each month at 23:45", "switched off"):
        assert words in html
    assert "19 Nov 2026 03:00" in html  # local to the zone


def test_a_run_that_caught_up_says_how_many_it_stands_for(reader: TestClient) -> None:
    late = [row for row in rows(reader, "table=runs&job=analysis") if row["missed"]]
    assert [(row["missed"], row["late"]) for row in late] == [(2, True)]
    assert "and 2 missed runs, late" in reader.get("/jobs?job=analysis").text


def test_the_log_holds_the_newest_runs_of_each_job_and_all_of_one(workshop: Company, reader: TestClient) -> None:
    every = rows(reader, "table=runs")
    counts = {job: len([row for row in every if row["job"] == job]) for job in ("sources", "analysis", "report")}
    assert counts == {"sources": 8, "analysis": 8, "report": 2}
    assert every[0]["started"] == max(str(row["started"]) for row in every)
    assert len(rows(reader, "table=runs&job=analysis")) == len(job_runs.newest(workshop.deps.control, job="analysis"))


def test_run_now_asks_for_a_run_and_says_so_until_it_begins(workshop: Company, reader: TestClient) -> None:
    answer = reader.post("/jobs/analysis/run", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs?done=asked")
    assert schedule(workshop, "analysis").asked_us == NOW_US
    html = reader.get("/jobs?done=asked").text
    assert "begins when its turn comes" in html
    assert "asked for" in html
    assert {row["job"]: row for row in rows(reader, "")}["Analyse"]["next_run"] == "2026-11-18T11:06:40Z"


def test_a_run_of_an_unknown_job_is_refused_on_a_page(reader: TestClient) -> None:
    answer = reader.post("/jobs/coffee/run")
    assert answer.status_code == 404
    assert "No job is named &#39;coffee&#39;" in answer.text


def test_a_schedule_is_set_and_switched_off_by_form(workshop: Company, reader: TestClient) -> None:
    given = {"rule": "Weekly  SUN 23:15", "zone": "Asia/Tokyo", "state": "off"}
    answer = reader.post("/jobs/report/schedule", data=given, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs?done=changed")
    standing = schedule(workshop, "report")
    assert (standing.rule, standing.zone, standing.enabled) == ("weekly sun 23:15", "Asia/Tokyo", False)
    reader.post("/jobs/report/schedule", data=given | {"state": "on"})
    assert {row["job"]: row for row in rows(reader, "")}["Weekly report"]["next_run"] == "2026-11-22T14:15:00Z"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rule": "0 8 * * 1", "zone": "UTC", "state": "on"}, "is no schedule. Write it as one of"),
        ({"rule": "daily 08:00", "zone": "Mars/Base", "state": "on"}, "is no time zone"),
        ({"rule": "daily 08:00", "zone": "UTC", "state": "maybe"}, "neither on nor off"),
    ],
)
def test_what_cannot_be_a_schedule_is_refused_and_changes_nothing(
    workshop: Company, reader: TestClient, given: dict[str, str], said: str
) -> None:
    before = schedule(workshop, "report")
    answer = reader.post("/jobs/report/schedule", data=given)
    assert answer.status_code == 400
    assert said in answer.text
    assert schedule(workshop, "report") == before


def test_what_is_due_but_waits_for_its_turn_says_so(workshop: Company, reader: TestClient) -> None:
    control = workshop.deps.control
    schedules.change(control, "analysis", rule="daily 03:00", zone="UTC", enabled=True, now_us=NOW_US - DAY_US)
    assert "waits for its turn" in reader.get("/jobs").text


def test_a_run_at_work_shows_how_long_it_takes_so_far(workshop: Company, reader: TestClient) -> None:
    job_runs.claim(
        workshop.deps.control,
        job="analysis",
        period="made",
        cause="clock",
        scheduled_us=NOW_US - 90_000_000,
        first_us=NOW_US - 90_000_000,
        missed=0,
        late=False,
        holder="h",
        now_us=NOW_US - 90_000_000,
        lease_us=NOW_US + 1,
    )
    html = reader.get("/jobs").text
    assert "Running" in html
    assert "1 min 30 s <small>so far</small>" in html


def test_a_job_that_looks_first_says_so_instead_of_never(reader: TestClient, workshop: Company) -> None:
    assert workshop.deps.commands.jobs is not None
    desk = workshop.deps.commands.jobs
    looking = replace(desk.jobs[2], name="inbox", title="Take in logs", rule="every 2 s", has_work=lambda: False)
    schedules.ensure(workshop.deps.control, [("inbox", "every 2 s")], zone="UTC", now_us=NOW_US)
    commands = replace(workshop.deps.commands, jobs=replace(desk, jobs=(looking, *desk.jobs)))
    deps = replace(workshop.deps, commands=commands)
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as opened:
        html = opened.get("/jobs").text
        assert "nothing to do yet" in html
        assert html.count("only a look that finds work is a run") == 1
        assert "Take in logs: only a look that finds work is a run." in html
        with deps.warehouse.writing() as session:
            session.connection.execute(
                "INSERT INTO ingest_ledger SELECT 'a', 'litellm', 'f', 'file', 0, 0, 0, 0, 0, 0, 0, 0, 0, true, true, "
                "1, 1, 0, 0, 0, 0, $at",
                {"at": NOW_US - DAY_US},
            )
        assert "logs were last taken in 17 Nov 2026 12:06" in opened.get("/jobs").text


def test_errors_have_a_column_only_where_a_run_has_one(workshop: Company, reader: TestClient) -> None:
    heading = '<th scope="col" class="t">Error</th>'
    assert reader.get("/jobs").text.count(heading) == 2
    assert reader.get("/jobs?job=sources").text.count(heading) == 1
    assert heading not in reader.get("/jobs?job=analysis").text
    with workshop.deps.control.begin() as connection:
        connection.execute(sa.update(tables.job_runs).values(error=None))
    assert heading not in reader.get("/jobs").text
    assert {row["error"] for row in rows(reader, "")} == {None}


def test_a_failed_run_of_the_clock_says_when_it_is_tried_again(workshop: Company, reader: TestClient) -> None:
    control = workshop.deps.control
    newest = job_runs.newest(control, job="analysis", limit=1)[0]
    failed = {"state": "failed", "error": "The disk is full.", "ended_us": NOW_US}
    with control.begin() as connection:
        connection.execute(sa.update(tables.job_runs).where(tables.job_runs.c.id == newest.id).values(**failed))
    assert "18 Nov 2026 12:08 <small>attempt 2</small>" in reader.get("/jobs").text
