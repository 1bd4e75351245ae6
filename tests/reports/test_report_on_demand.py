"""A report that somebody asks for: to whom it may go, and what looking at it does not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from report_office import WEEK, Clock, Mailbox, settings_of
from report_post import TO, letters, settings

from app.core.errors import UnavailableError, UsageError
from app.main import report_commands, reporting
from reports import post

if TYPE_CHECKING:
    from app.main.runtime import Runtime


class TestOnDemand:
    def test_a_reader_gets_the_week_that_was_asked_for(self, runtime: Runtime, box: Mailbox) -> None:
        said = report_commands.send(runtime, settings(runtime, box), "2026-W45", "cleo@elsewhere.example")
        assert said == "Sent the report of 2026-W45 to cleo@elsewhere.example."
        assert box.received[0]["Subject"].startswith("LLM spend 2–8 Nov 2026")
        assert box.envelopes == [("halve@acme.example", ["cleo@elsewhere.example"])]

    def test_asking_does_not_replace_the_scheduled_mail(self, runtime: Runtime, box: Mailbox) -> None:
        report_commands.send(runtime, settings(runtime, box), WEEK, "ana@acme.example")
        reporting.send_due(runtime, settings(runtime, box), now=Clock())
        assert [mail["To"] for mail in box.received] == ["ana@acme.example", *TO.split()]

    def test_a_failure_is_told_and_tried_again(self, runtime: Runtime, box: Mailbox) -> None:
        box.answers = ["451 not now"]
        with pytest.raises(UnavailableError, match=r"451 not now.*tried again"):
            report_commands.send(runtime, settings(runtime, box), WEEK, "ana@acme.example")

    def test_without_a_server_it_says_where_the_mail_lies(self, runtime: Runtime) -> None:
        said = report_commands.send(runtime, settings_of(runtime.data_dir), WEEK, "ana@acme.example")
        assert "HALVE_SMTP_URL" in said
        assert f"weekly-{WEEK}-1.eml" in said

    @pytest.mark.parametrize("form", ["text", "html", "eml"])
    def test_the_report_can_be_looked_at(self, runtime: Runtime, form: str) -> None:
        shown = report_commands.shown(runtime, settings(runtime), WEEK, form)
        assert b"halve.example/?period=3D2026-11-09" in shown or b"halve.example/?period=2026-11-09" in shown
        assert (b"data:image/png;base64," in shown) is (form == "html")
        assert letters(runtime) == [], "looking sends nothing"


@pytest.mark.parametrize(
    "text",
    ["", "ana", "ana@", "@acme.example", "a b@acme.example", "a@b.example\r\nBcc: c@d.example", "Ana <a@b.example>"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no mail address"):
        post.address(text)


def test_a_page_sends_only_into_the_domains_of_the_operator(runtime: Runtime, box: Mailbox) -> None:
    office = reporting.office(runtime, settings(runtime, box))
    assert post.allowed(office, " new@ACME.example ") == "new@ACME.example"
    with pytest.raises(UsageError, match=r"only to acme\.example"):
        post.allowed(office, "thief@evil.example")
