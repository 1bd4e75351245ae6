"""Batch pages: a file is checked and priced before it is sent, scheduled, followed, and paid for once."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest
from batch_office import Office, chat, chats
from batch_reader import OURS, Reader
from dashboard_company import DAY_US, FORMULA, MARKUP, NOW_US, ZONE, requests
from starlette.testclient import TestClient

from app.batch import moment_us
from app.control import batch_files, batches
from app.web.batch_desk import Upstream
from app.web.server import create_app
from tests.batch.peers.anthropic_peer import AnthropicPeer

if TYPE_CHECKING:
    from pathlib import Path


HOUR_S = 3600


def test_a_file_is_priced_before_anything_is_sent(reader: Reader) -> None:
    page = reader.upload(chats(40), feature="ticket-classify")
    said = reader.text(page)
    assert "Requests 40" in said
    assert "not sent to anybody yet" in said
    line = reader.http.get(f"{page.partition('?')[0]}.json").json()["rows"][0]
    assert line["items"] == 40
    assert line["tokens_out_cap"] == 40 * 200
    assert float(line["realtime_input_usd"]) == 2 * float(line["batch_input_usd"])
    assert float(line["batch_output_cap_usd"]) == 40 * 200 * 1e-6
    assert "gpt-5-mini" in line["price_row"]
    assert 'value="ticket-classify"' in reader.http.get(page).text
    assert batches.jobs(reader.office.runtime.control) == []


def test_answers_without_a_cap_and_models_without_a_price_stay_unknown(reader: Reader) -> None:
    said = reader.text(reader.upload(chat("a", cap=None).encode()))
    assert "and answers, which have no cap" in said
    assert "On the prompts alone; they in real time: $" in said
    said = reader.text(reader.upload(chat("a", model="in-house-tune").encode()))
    assert "Estimated cost n/a a model has no batch price" in said
    assert "Saves n/a" in said


def test_a_bad_file_names_its_lines_and_cannot_be_sent(reader: Reader) -> None:
    lines = [chat("a"), "{broken", chat("a"), chat("b", stream=True), '{"custom_id": "c", "body": {}}']
    page = reader.upload("\n".join(lines).encode())
    assert "4 lines of 5 cannot be part of a batch" in reader.text(page)
    assert "<form" not in reader.http.get(page).text.split('id="main"')[1].split("Discard")[0].replace(
        f'<form method="post" action="{page}/discard">', ""
    )
    found = reader.http.get(f"{page}.json").json()["rows"]
    assert [row["line"] for row in found] == [2, 3, 4, 5]
    assert found[0]["reason"] == "invalid JSON"
    assert "stream" in found[2]["reason"]
    table = list(csv.DictReader(io.StringIO(reader.http.get(f"{page}.csv").text)))
    assert [row["reason"] for row in table] == [row["reason"] for row in found]
    assert reader.schedule(page).status_code == 422
    assert batches.jobs(reader.office.runtime.control) == []


def test_a_job_is_scheduled_for_tonight_and_cancelled_without_cost(reader: Reader) -> None:
    page = reader.upload(chats(5))
    job_id = reader.job(page, when="at", at="02:00")
    job = batches.job(reader.office.runtime.control, job_id)
    assert job.start_us == moment_us("02:00", ZONE, NOW_US) == NOW_US - NOW_US % DAY_US + 25 * HOUR_S * 1_000_000
    said = reader.text(f"/batch/jobs/{job_id}?done=scheduled")
    assert "Nothing is sent before its time" in said
    assert "Scheduled Nothing has been sent yet." in said
    assert "Sent from 19 Nov 2026 02:00" in said
    reader.office.work(HOUR_S)
    assert "Not sent yet 5 At the provider 0" in reader.text(f"/batch/jobs/{job_id}")
    answer = reader.http.post(f"/batch/jobs/{job_id}/cancel", follow_redirects=False)
    assert answer.headers["location"] == f"/batch/jobs/{job_id}?done=cancelled"
    assert "Being cancelled" in reader.text(f"/batch/jobs/{job_id}")
    reader.office.work(1)
    said = reader.text(f"/batch/jobs/{job_id}")
    assert "Cancelled 5 of 5 requests have ended." in said
    assert "batch_cancelled" in said
    assert "Charged $0.00 Nothing was sent" in said
    assert reader.office.asked == 2


def test_a_job_comes_back_with_its_discount_and_its_results(reader: Reader) -> None:
    job_id = reader.job(reader.upload(chats(30)))
    reader.office.work(1)
    said = reader.text(f"/batch/jobs/{job_id}")
    assert "At the provider The provider holds 30 requests" in said
    assert "Charged n/a" in said
    reader.office.until_settled(job_id)
    reader.office.work(1)
    row = reader.http.get("/batch.json").json()["rows"][0]
    assert (row["state"], row["requests"], row["at_provider"], row["succeeded"], row["failed"]) == (
        "completed",
        30,
        0,
        30,
        0,
    )
    spent = reader.http.get("/spend.json?period=all&by=is_batch").json()["rows"]
    assert [one["cost_usd"] for one in spent] == [row["charged_usd"]]
    assert row["discount_usd"] == row["charged_usd"]
    said = reader.text(f"/batch/jobs/{job_id}")
    assert "50.0% off" in said
    assert "30 requests came back" in said
    results = reader.http.get(f"/batch/jobs/{job_id}/results")
    assert "attachment" in results.headers["content-disposition"]
    answered = [json.loads(line) for line in results.text.splitlines()]
    assert [line["custom_id"] for line in answered] == [f"row-{number}" for number in range(30)]


def test_results_are_not_there_before_the_job_is_done(reader: Reader) -> None:
    job_id = reader.job(reader.upload(chats(1)))
    assert "not complete yet" in reader.text(f"/batch/jobs/{job_id}/results", 409)
    assert "Download the results" not in reader.text(f"/batch/jobs/{job_id}")


def test_the_same_form_sent_twice_makes_one_job(reader: Reader) -> None:
    page = reader.upload(chats(2))
    reader.job(page)
    assert reader.schedule(page).status_code == 404
    assert len(batches.jobs(reader.office.runtime.control)) == 1


def test_a_job_that_cannot_be_done_in_time_says_when_it_could(reader: Reader) -> None:
    page = reader.upload(chats(2))
    answer = reader.schedule(page, needed_by="2026-11-18T20:00")
    assert answer.status_code == 400
    assert "may take 24 hours" in answer.text
    reader.job(page, needed_by="2026-11-20T20:00")
    assert "needed by 20 Nov 2026 20:00" in reader.text("/batch")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"provider": "elsewhere"}, "is no provider"),
        ({"when": "at", "at": "soon"}, "is no time"),
        ({"webhook": "https://127.0.0.1/done"}, "A webhook is signed"),
        ({"webhook": "ftp://127.0.0.1", "webhook_key": "env:BATCH_KEY"}, "is no address for a webhook"),
        ({"webhook": "https://127.0.0.1/done", "webhook_key": "file:/etc/passwd"}, "names no secret"),
        ({"webhook": "https://127.0.0.1/done", "webhook_key": "my secret"}, "names no secret"),
    ],
)
def test_a_wrong_order_is_refused_in_words(reader: Reader, fields: dict[str, str], said: str) -> None:
    answer = reader.schedule(reader.upload(chats(1)), **fields)
    assert answer.status_code == 400
    assert said in answer.text


def test_a_job_tells_the_address_that_the_form_names(reader: Reader) -> None:
    given = {"webhook": " https://127.0.0.1/done ", "webhook_key": "env:BATCH_KEY"}
    job_id = reader.job(reader.upload(chats(1)), **given)
    job = batches.job(reader.office.runtime.control, job_id)
    assert (job.webhook_url, job.webhook_key_ref) == ("https://127.0.0.1/done", "env:BATCH_KEY")
    assert "Told when done https://127.0.0.1/done" in reader.text(f"/batch/jobs/{job_id}")


def test_a_discarded_file_is_gone(reader: Reader) -> None:
    page = reader.upload(chats(1))
    answer = reader.http.post(f"{page}/discard", follow_redirects=False)
    assert answer.headers["location"] == "/batch?done=discarded"
    reader.text(page, 404)
    assert batch_files.files(reader.office.runtime.control, purpose=None, after=None, limit=9) == []


@pytest.mark.parametrize("name", ["", "..", "/"])
def test_a_form_without_a_file_says_so(reader: Reader, name: str) -> None:
    answer = (
        reader.http.post("/batch/upload", files={"file": (name, b"x")})
        if name
        else reader.http.post("/batch/upload", files={"other": ("a", b"x")})
    )
    assert answer.status_code == 400
    assert "No file was chosen" in answer.text


def test_names_of_callers_are_shown_as_text(reader: Reader) -> None:
    page = reader.upload(chat(MARKUP, model=f"gpt-5-mini{MARKUP}").encode(), name=f"a{MARKUP}.jsonl", feature=MARKUP)
    job_id = reader.job(page, name=FORMULA, feature=MARKUP)
    reader.office.until_settled(job_id)
    for path in (reader.upload(chat("a", model=MARKUP).encode()), f"/batch/jobs/{job_id}", "/batch"):
        assert "<img src=x" not in reader.http.get(path).text
    table = list(csv.DictReader(io.StringIO(reader.http.get("/batch.csv").text)))
    assert table[0]["label"] == f"'{FORMULA}"


def test_a_page_of_jobs_is_empty_in_words_at_first(reader: Reader) -> None:
    said = reader.text("/batch?feature=nightly")
    assert "No job yet." in said
    assert 'base_url="http://127.0.0.1:8080/v1"' in said
    assert '"feature": "nightly"' in said


def test_a_halve_without_batches_says_so(reader: Reader) -> None:
    deps = reader.office.company.deps
    bare = replace(deps, commands=replace(deps.commands, batch=None))
    with TestClient(create_app(bare), base_url="http://127.0.0.1", headers=OURS) as other:
        assert "started without batches" in other.get("/batch").text
        assert other.get("/batch/jobs/batch_x").status_code == 404
        assert other.post("/batch/upload", files={"file": ("a", b"x")}).status_code == 404
        assert other.get("/v1/batches").status_code == 404


def test_nobody_outside_hands_in_follows_or_cancels(tmp_path: Path) -> None:
    office = Office(tmp_path / "data", rows=[])
    try:
        http = TestClient(create_app(office.company.deps), base_url="http://127.0.0.1", headers=OURS)
        for path in ("/batch", "/batch.csv", "/batch/files/file-x", "/batch/jobs/batch_x/events"):
            assert http.get(path).status_code == 401
        assert http.get("/batch/jobs/batch_x/results").status_code == 401
        for path in ("/batch/upload", "/batch/files/file-x/discard", "/batch/jobs/batch_x/cancel"):
            assert http.post(path, files={"file": ("a", b"x")}).status_code == 401
        assert http.post("/v1/files", files={"file": ("a", b"x")}).status_code == 401
        assert not (tmp_path / "data" / "batch-files").exists()
        evil = {"origin": "http://evil.example"}
        assert http.post("/batch/jobs/batch_x/cancel", headers=evil).status_code == 403
    finally:
        office.close()


def test_the_finding_of_the_lever_shows_the_change_and_then_what_it_saved(tmp_path: Path) -> None:
    office = Office(tmp_path / "data", rows=requests(days=30), no_access_control=True)
    try:
        reader = Reader(office)
        said = reader.text("/savings/f2classify")
        assert 'base_url="http://127.0.0.1:8080/v1"' in said
        assert 'metadata={"feature": "ticket-classify"}' in said
        assert "No batch job of this feature has come back yet." in said
        office.until_settled(reader.job(reader.upload(chats(8))))
        office.until_settled(reader.job(reader.upload(chats(3)), feature="another-feature"))
        office.work(1)
        said = reader.text("/savings/f2classify")
        assert "Saved so far: $" in said
        assert "8 requests were charged" in said
        assert "50.0% off" in said
        assert "With Halve" not in reader.text("/savings/f1search")
    finally:
        office.close()


def test_a_file_in_anthropics_words_goes_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEIR_KEY", "sk-ant-of-the-tests")
    office: Office
    peer = AnthropicPeer(lambda: office.now_us / 1e6)
    given = (
        Upstream("openai", "OpenAI", peer.url, "env:NOT_SET_HERE"),
        Upstream("anthropic", "Anthropic", peer.url, "env:THEIR_KEY"),
    )
    office = Office(tmp_path / "data", given, rows=[], no_access_control=True)
    try:
        reader = Reader(office)
        asked = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}
        lines = [json.dumps({"custom_id": f"letter {number}", "params": asked}) for number in range(3)]
        page = reader.upload("\n".join(lines).encode())
        said = reader.text(page)
        assert "Anthropic, /v1/messages" in said
        assert "NOT_SET_HERE" not in said
        assert "NOT_SET_HERE" in reader.text(f"{page}?provider=openai")
        assert "3 lines of 3 cannot be part of a batch of OpenAI" in reader.text(f"{page}?provider=openai")
        job_id = reader.job(page, provider="anthropic", feature="letters")
        office.until_settled(job_id)
        office.work(1)
        row = reader.http.get("/batch.json").json()["rows"][0]
        assert (row["provider"], row["succeeded"], row["failed"]) == ("anthropic", 3, 0)
        assert float(row["discount_usd"]) == float(row["charged_usd"]) > 0
        results = reader.http.get(f"/batch/jobs/{job_id}/results").text.splitlines()
        assert [json.loads(line)["custom_id"] for line in results] == ["letter 0", "letter 1", "letter 2"]
        assert peer.keys == {"sk-ant-of-the-tests"}
    finally:
        peer.close()
        office.close()


def test_what_keeps_jobs_from_going_anywhere_is_said_before(tmp_path: Path) -> None:
    office = Office(tmp_path / "data", (Upstream("openai", "OpenAI", None, "env:NOT_SET_HERE"),), rows=[])
    try:
        http = TestClient(create_app(office.company.deps), base_url="http://127.0.0.1", headers=OURS)
        http.headers["authorization"] = f"Bearer {office.company.token}"
        assert "NOT_SET_HERE" in http.get("/batch").text
        assert "halve keys create NAME" in http.get("/batch").text
        assert 'os.environ["HALVE_KEY"]' in unescape(http.get("/batch").text)
    finally:
        office.close()
