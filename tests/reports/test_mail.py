"""The report as a mail: its parts, its size, what is left when pictures are off, and nothing hostile in it."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from dashboard_company import FORMULA, MARKUP, NOW_US, ZONE, company, requests
from report_office import DAYS, WEEK

from app.plan import store
from reports import email, plain, weekly, weeks

if TYPE_CHECKING:
    from reports.document import Document

ORIGIN = "https://halve.example"


@pytest.fixture(scope="module")
def document() -> Document:
    made = company()
    plan = store.latest(made.deps.warehouse, made.deps.control, now_us=NOW_US)
    with made.deps.warehouse.session() as session:
        return weekly.build(session, weeks.named(WEEK, ZONE), plan=plan, now_us=NOW_US)


@pytest.fixture(scope="module")
def mail(document: Document) -> EmailMessage:
    sent = email.message(
        document,
        sender="halve@acme.example",
        to="ana@acme.example",
        message_id="<one@acme.example>",
        origin=ORIGIN,
        now_us=NOW_US,
    )
    read = message_from_bytes(sent.as_bytes(), EmailMessage, policy=default)
    assert isinstance(read, EmailMessage)
    return read


def part(mail: EmailMessage, kind: str) -> EmailMessage:
    found = mail.get_body((kind,))
    assert isinstance(found, EmailMessage)
    return found


class Tags(HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_parts_are_where_mail_programs_look(mail: EmailMessage) -> None:
    kinds = [piece.get_content_type() for piece in mail.walk()]
    assert kinds == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
        "text/csv",
        "text/csv",
    ]
    assert mail["Message-ID"] == "<one@acme.example>"
    assert mail["Date"].datetime.timestamp() == NOW_US / 1e6
    assert mail["Auto-Submitted"] == "auto-generated"
    assert [piece.get_filename() for piece in mail.iter_attachments()] == [
        f"weekly-{WEEK}-spend.csv",
        f"weekly-{WEEK}-findings.csv",
    ]


def test_the_html_is_small_and_needs_nothing_from_elsewhere(mail: EmailMessage) -> None:
    body = part(mail, "html").get_content()
    assert len(body.encode()) < email.MAX_HTML_BYTES
    page = Tags(body)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "svg", "iframe", "form", "object"}
    sheets = re.findall(r"<style[^>]*>(.*?)</style>", body, re.DOTALL)
    assert [sheet.strip().startswith("@media") for sheet in sheets] == [True], "only what narrow screens need"
    assert all(not name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "url(" not in body
    pictures = [attrs for tag, attrs in page.tags if tag == "img"]
    assert [attrs["src"] for attrs in pictures] == ["cid:daily@halve"]
    assert "highest day is" in (pictures[0]["alt"] or "")
    assert all(attrs.get("role") == "presentation" or attrs["style"] for tag, attrs in page.tags if tag == "table")


def test_the_picture_of_the_html_is_in_the_mail(mail: EmailMessage) -> None:
    [picture] = [piece for piece in mail.walk() if piece.get_content_type() == "image/png"]
    assert picture["Content-ID"] == "<daily@halve>"
    content = picture.get_content()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") >= 1000, "twice as many pixels as points, for sharp text"


def test_links_carry_the_exact_view(mail: EmailMessage, document: Document) -> None:
    page = Tags(part(mail, "html").get_content())
    links = [attrs["href"] or "" for tag, attrs in page.tags if tag == "a"]
    assert links
    assert all(link.startswith(f"{ORIGIN}/") for link in links)
    assert f"{ORIGIN}/?period=2026-11-09..2026-11-15" in links
    assert f"{ORIGIN}/savings/f0support" in links
    assert f"{ORIGIN}{document.link.href}" in part(mail, "plain").get_content()


def test_the_text_part_alone_says_how_much_more_why_and_what_to_do(mail: EmailMessage) -> None:
    text = part(mail, "plain").get_content()
    assert text.startswith(f"LLM spend {DAYS}: $")
    assert re.search(r"That is \$[\d.]+ \(\d+\.\d%\) more than the week before", text)
    whole = " ".join(text.split())
    assert re.search(r"Spend changed by \+\$[\d.]+: \+\$[\d.]+ from volume \(more or fewer requests in all\), ", whole)
    assert re.search(r"[+−]\$[\d.]+ from rate \(", whole)
    assert "What to do" in text
    assert "$4.29 per 30 days" in text
    assert "owner: nobody yet" in text
    assert "First: Find where the prompt is built." in text
    assert "<td" not in text


def test_text_and_html_name_the_same_amounts(mail: EmailMessage) -> None:
    shown = set(re.findall(r"\$[\d,.]*\d", " ".join(Tags(part(mail, "html").get_content()).words)))
    assert shown == set(re.findall(r"\$[\d,.]*\d", part(mail, "plain").get_content()))


def test_lines_of_the_text_part_stay_readable(document: Document) -> None:
    lines = plain.text(document, ORIGIN).splitlines()
    assert [line for line in lines if len(line) > 100 and "https://" not in line] == []


def test_names_with_markup_are_shown_and_never_become_tags(mail: EmailMessage) -> None:
    body = part(mail, "html").get_content()
    page = Tags(body)
    assert [attrs for tag, attrs in page.tags if tag == "img" and "onerror" in attrs] == []
    assert MARKUP in " ".join(page.words)


def test_formulas_are_defused_in_the_attachments(mail: EmailMessage) -> None:
    spend = next(mail.iter_attachments()).get_content()
    rows = list(csv.reader(io.StringIO(spend.removeprefix("\ufeff"))))
    assert [row[0] for row in rows if FORMULA in row[0]] == [f"'{FORMULA}"]
    assert not [cell for row in rows for cell in row if cell[:1] in ("=", "@", "\t")]


def test_a_name_cannot_add_a_header(document: Document) -> None:
    hostile = replace(document, subject="LLM spend\r\nBcc: thief@evil.example\u202e")
    sent = email.message(
        hostile, sender="a@b.example", to="c@b.example", message_id="<x@b.example>", origin=ORIGIN, now_us=NOW_US
    )
    read = message_from_bytes(sent.as_bytes(), policy=default)
    assert read["Bcc"] is None
    assert read["Subject"] == "LLM spend Bcc: thief@evil.example\ufffd"


def test_mails_about_made_data_say_so(document: Document) -> None:
    sent = email.message(
        document,
        sender="a@b.example",
        to="c@b.example",
        message_id="<x@b.example>",
        origin=ORIGIN,
        now_us=NOW_US,
        made=True,
    )
    assert sent["Subject"].startswith("[made data] LLM spend")
    body = sent.get_body(("html",))
    assert body is not None
    assert "made data of a fictional company" in body.get_content()


def test_a_report_without_news_is_a_mail_too() -> None:
    made = company()
    with made.deps.warehouse.session() as session:
        silent = weekly.build(session, weeks.named("2026-W20", ZONE), now_us=NOW_US)
    sent = email.message(
        silent, sender="a@b.example", to="c@b.example", message_id="<x@b.example>", origin=ORIGIN, now_us=NOW_US
    )
    kinds = [piece.get_content_type() for piece in sent.walk()]
    assert kinds == ["multipart/alternative", "text/plain", "text/html"]


def test_names_of_any_length_keep_the_mail_small() -> None:
    long = "<\u0416&" * 400
    rows = [
        row
        | {
            "feature": f"{row['feature']} {long}",
            "source": f"{row['source']} {long}",
            "model": f"{row['model']} {long}",
        }
        for row in requests()
    ]
    for number, row in enumerate(rows):
        row["model_id"] = row["model"]
        row["feature"] += str(number % 40)
    made = company(rows, planned=False)
    with made.deps.warehouse.session() as session:
        report = weekly.build(session, weeks.named(WEEK, ZONE), now_us=NOW_US)
    body = email.html(report, origin=ORIGIN, pictures={"daily": "cid:daily@halve"})
    assert len(body.encode()) < email.MAX_HTML_BYTES
    assert len(report.subject) < 400
    assert max(len(line) for line in plain.text(report, ORIGIN).splitlines() if "https://" not in line) < 200
