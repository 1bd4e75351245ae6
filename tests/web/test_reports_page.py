"""The Reports page: the mail in a frame under a strict policy, sending, and the archive with its twins."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from dashboard_company import MARKUP, company
from report_office import DAYS, WEEK, Mailbox, mailbox, with_desk
from starlette.testclient import TestClient

from app.control import outbox
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module")
def box() -> Iterator[Mailbox]:
    with mailbox() as running:
        yield running


@pytest.fixture(scope="module")
def client(box: Mailbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    made = company(no_access_control=True, demo=True)
    given = {"smtp_url": box.url, "mail_from": "halve@acme.example", "mail_to": "ana@acme.example"}
    deps = with_desk(made, tmp_path_factory.mktemp("data"), **given)
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:
        yield reader


def test_the_page_shows_the_last_complete_week(client: TestClient) -> None:
    page = client.get("/reports").text
    assert f'src="/reports/preview/{WEEK}"' in page
    assert f"{DAYS} ({WEEK})" in page
    assert "Sent every week to ana@acme.example" in page
    assert "No report was made yet" in page


def test_another_week_can_be_chosen_and_a_wrong_one_is_passed_over(client: TestClient) -> None:
    assert 'src="/reports/preview/2026-W44"' in client.get("/reports?week=2026-W44").text
    assert f'src="/reports/preview/{WEEK}"' in client.get("/reports?week=%22%3E%3Cscript%3E").text


def test_the_frame_shows_the_mail_and_allows_no_script_and_no_inline_style(client: TestClient) -> None:
    answer = client.get(f"/reports/preview/{WEEK}")
    policy = answer.headers["content-security-policy"]
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'self'" in policy
    assert "form-action 'none'" in policy
    assert f"LLM spend {DAYS}: $" in answer.text
    assert re.search(r"\sstyle\s*=", answer.text) is None
    assert MARKUP not in answer.text
    sheet = re.search(r'rel="stylesheet" href="([^"]+)"', answer.text)
    assert sheet is not None
    assert client.get(sheet.group(1).replace("&amp;", "&")).headers["content-type"].startswith("text/css")


def test_every_other_page_still_refuses_to_be_framed(client: TestClient) -> None:
    for path in ("/", "/reports", f"/reports/preview/{WEEK}.txt"):
        policy = client.get(path).headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


def test_the_picture_of_the_frame_is_there(client: TestClient) -> None:
    page = client.get(f"/reports/preview/{WEEK}").text
    address = re.search(r'<img class="picture" src="([^"]+)"', page)
    assert address is not None
    answer = client.get(address.group(1))
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")
    assert client.get(f"/reports/preview/{WEEK}/nothing.png").status_code == 404


def test_the_text_part_can_be_read(client: TestClient) -> None:
    answer = client.get(f"/reports/preview/{WEEK}.txt")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith(f"LLM spend {DAYS}: $")


@pytest.mark.parametrize("week", ["2026-W99", "nonsense", "..%2f..%2fetc"])
def test_what_is_no_week_is_a_problem_page(client: TestClient, week: str) -> None:
    assert client.get(f"/reports/preview/{week}").status_code in (400, 404)


def test_send_to_me_sends_once_and_the_archive_keeps_it(client: TestClient, box: Mailbox) -> None:
    form = {"to": "ben@acme.example", "week": WEEK}
    answer = client.post("/reports/send", data=form, headers=SAME)
    assert "The report is on its way" in answer.text
    again = client.post("/reports/send", data=form, headers=SAME)
    assert "on its way already" in again.text
    assert [mail["To"] for mail in box.received] == ["ben@acme.example"]

    row = client.get("/reports.json").json()["rows"][0]
    assert (row["to"], row["week"], row["state"], row["tries"], row["error"]) == (
        "ben@acme.example",
        WEEK,
        "sent",
        1,
        None,
    )
    assert row["subject"] == str(box.received[0]["Subject"])
    listed = list(csv.DictReader(io.StringIO(client.get("/reports.csv").text)))
    assert listed[0]["subject"] == row["subject"]

    link = re.search(r'href="(/reports/mail/\d+\.eml)"', answer.text)
    assert link is not None
    file = client.get(link.group(1))
    assert file.headers["content-type"].startswith("message/rfc822")
    assert b"To: ben@acme.example" in file.content


def test_a_stranger_gets_nothing(client: TestClient, box: Mailbox) -> None:
    before = len(box.received)
    for to in ("thief@evil.example", "no address", "a@acme.example\r\nBcc: thief@evil.example"):
        answer = client.post("/reports/send", data={"to": to, "week": WEEK}, headers=SAME)
        assert answer.status_code == 400
    assert len(box.received) == before


def test_another_site_cannot_make_it_send(client: TestClient, box: Mailbox) -> None:
    before = len(box.received)
    form = {"to": "ben@acme.example", "week": "2026-W45"}
    assert client.post("/reports/send", data=form, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert len(box.received) == before


def test_a_mail_that_is_not_there_is_said_to_be(client: TestClient) -> None:
    assert client.get("/reports/mail/4711.eml").status_code == 404
    assert client.get("/reports/mail/x.eml").status_code in (404, 422)


def test_without_a_mail_server_the_page_says_what_to_set(tmp_path: Path) -> None:
    deps = with_desk(company(no_access_control=True), tmp_path)
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:
        page = reader.get("/reports").text
        assert "HALVE_SMTP_URL" in page
        assert "HALVE_MAIL_TO" in page
        sent = reader.post("/reports/send", data={"to": "me@home.example", "week": WEEK}, headers=SAME)
        assert "In the archive" in sent.text


def test_tries_that_failed_are_visible(tmp_path: Path) -> None:
    made = company(no_access_control=True)
    deps = with_desk(made, tmp_path, smtp_url="smtp://127.0.0.1:9", mail_from="h@acme.example")
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:
        page = reader.post("/reports/send", data={"to": "me@acme.example", "week": WEEK}, headers=SAME).text
    assert "did not take the mail" in page
    assert "next try" in page


def test_nothing_is_shown_or_sent_without_the_token(tmp_path: Path, box: Mailbox) -> None:
    deps = with_desk(company(), tmp_path, smtp_url=box.url, mail_from="h@acme.example")
    before = len(box.received)
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as stranger:
        for path in ("/reports", "/reports.json", f"/reports/preview/{WEEK}", f"/reports/preview/{WEEK}.txt"):
            assert stranger.get(path).status_code == 401
        for path in (f"/reports/preview/{WEEK}/daily.png", "/reports/mail/1.eml"):
            assert stranger.get(path).status_code == 401
        form = {"to": "me@acme.example", "week": WEEK}
        assert stranger.post("/reports/send", data=form, headers=SAME).status_code == 401
    assert outbox.newest(deps.control) == []
    assert len(box.received) == before


def test_a_dashboard_without_reports_says_so() -> None:
    made = company(no_access_control=True)
    deps = replace(made.deps, commands=replace(made.deps.commands, reports=None))
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:
        assert "No reports here" in reader.get("/reports").text
        assert reader.get(f"/reports/preview/{WEEK}").status_code == 404
