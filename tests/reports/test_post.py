"""The report on its way: through a real mail server on loopback, once, whatever happens in between."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta
from email import message_from_bytes
from typing import TYPE_CHECKING, Any

import pytest
from aiosmtpd.smtp import AuthResult
from dashboard_company import DAY_US, NOW_US, ZONE, Company, company, requests
from report_office import WEEK, Clock, Mailbox, mailbox, runtime_of, settings_of

from app.control import batches, migrate, open_control, outbox
from app.core.errors import InputError, UnavailableError, UsageError
from app.core.money import usd_text
from app.main import report_commands, reporting
from reports import archive, post, smtp, weeks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.main.runtime import Runtime
    from app.settings import Settings

TO = "ana@acme.example ben@acme.example"


@pytest.fixture(scope="module")
def made() -> Company:
    return company()


@pytest.fixture
def runtime(tmp_path: Path, made: Company) -> Iterator[Runtime]:
    """The company's warehouse beside a control store of this test's own."""
    control = open_control(tmp_path)
    migrate(control)
    yield replace(runtime_of(made, tmp_path), control=control)
    control.dispose()


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as running:
        yield running


def settings(runtime: Runtime, box: Mailbox | None = None, **given: Any) -> Settings:
    values = {"smtp_url": box.url if box else "", "mail_from": "halve@acme.example", "mail_to": TO} | given
    return settings_of(runtime.data_dir, **values)


def letters(runtime: Runtime) -> list[outbox.Letter]:
    return list(reversed(outbox.newest(runtime.control)))


def test_the_report_of_last_week_arrives_at_everybody_once(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    for _ in range(3):
        reporting.send_due(runtime, settings(runtime, box), now=clock)
        clock.us += 3_600_000_000
    assert box.envelopes == [("halve@acme.example", [name]) for name in TO.split()]
    assert [mail["To"] for mail in box.received] == TO.split()
    assert len({mail["Message-ID"] for mail in box.received}) == 2
    for mail in box.received:
        text = mail.get_body(("plain",))
        assert text is not None
        assert text.get_content().startswith("LLM spend 9–15 Nov 2026: $")
    assert [(item.state, item.attempts, item.period, item.is_late) for item in letters(runtime)] == [
        ("sent", 1, WEEK, False),
        ("sent", 1, WEEK, False),
    ]


def test_what_arrives_is_what_the_archive_keeps(runtime: Runtime, box: Mailbox) -> None:
    reporting.send_due(runtime, settings(runtime, box), now=Clock())
    kept = archive.file_of(runtime.data_dir, letters(runtime)[0])
    assert message_from_bytes(kept).as_bytes() == message_from_bytes(box.raw[0]).as_bytes()


def test_a_restart_sends_nothing_twice(runtime: Runtime, box: Mailbox, made: Company) -> None:
    reporting.send_due(runtime, settings(runtime, box), now=Clock())
    again = open_control(runtime.data_dir)
    try:
        reporting.send_due(replace(runtime, control=again), settings(runtime, box), now=Clock(NOW_US + DAY_US))
    finally:
        again.dispose()
    assert len(box.received) == 2


def test_a_crash_before_the_server_had_it_repeats_the_very_same_mail(runtime: Runtime, box: Mailbox) -> None:
    """The process dies between writing the archive and sending: the next one sends that file."""
    clock = Clock()
    office = reporting.office(runtime, settings(runtime, box, mail_to="ana@acme.example"), now=clock)

    class Died(BaseException):
        pass

    def die(_message: object) -> None:
        raise Died

    post.queue_due(office, clock())
    with pytest.raises(Died):
        post.deliver_due(replace(office, deliver=die), clock)
    [held] = letters(runtime)
    assert held.state == "sending"
    kept = archive.file_of(runtime.data_dir, held)

    assert post.deliver_due(office, clock) == [], "the dead one's claim still stands"
    clock.us += outbox.LEASE_US
    post.deliver_due(office, clock)
    assert [message_from_bytes(raw).as_bytes() for raw in box.raw] == [message_from_bytes(kept).as_bytes()]
    assert letters(runtime)[0].state == "sent"


def test_a_crash_after_the_server_had_it_repeats_it_with_the_same_message_id(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    office = reporting.office(runtime, settings(runtime, box, mail_to="ana@acme.example"), now=clock)
    deliver = office.deliver
    assert deliver is not None

    class Died(BaseException):
        pass

    def deliver_and_die(message: Any) -> None:
        deliver(message)
        raise Died

    post.queue_due(office, clock())
    with pytest.raises(Died):
        post.deliver_due(replace(office, deliver=deliver_and_die), clock)
    clock.us += outbox.LEASE_US
    post.deliver_due(office, clock)
    first, second = box.received
    assert first["Message-ID"] == second["Message-ID"] == letters(runtime)[0].message_id


def test_a_server_that_is_busy_is_asked_again_and_the_page_says_why(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    box.answers = ["451 come back later"]
    wanted = settings(runtime, box, mail_to="ana@acme.example")
    reporting.send_due(runtime, wanted, now=clock)
    [waiting] = letters(runtime)
    assert (waiting.state, waiting.attempts) == ("queued", 1)
    assert "451 come back later" in (waiting.error or "")
    assert waiting.subject is not None

    reporting.send_due(runtime, wanted, now=clock)
    assert box.received == []
    assert not reporting.mail_waits(runtime.control, clock)
    clock.us += outbox.BACK_OFF_US[0]
    assert reporting.mail_waits(runtime.control, clock)
    reporting.send_due(runtime, wanted, now=clock)
    [sent] = letters(runtime)
    assert (sent.state, sent.attempts, sent.error) == ("sent", 2, None)
    assert len(box.received) == 1


def test_a_server_that_is_away_is_tried_with_growing_pauses_and_then_given_up(runtime: Runtime) -> None:
    clock = Clock()
    wanted = settings(runtime, smtp_url="smtp://127.0.0.1:9", mail_to="ana@acme.example")
    for pause in (*outbox.BACK_OFF_US, 0):
        reporting.send_due(runtime, wanted, now=clock)
        clock.us += pause
    [given_up] = letters(runtime)
    assert (given_up.state, given_up.attempts) == ("failed", len(outbox.BACK_OFF_US) + 1)
    assert "did not take the mail" in (given_up.error or "")


def test_a_refusal_for_good_ends_the_tries(runtime: Runtime, box: Mailbox) -> None:
    box.answers = ["554 not wanted here"]
    reporting.send_due(runtime, settings(runtime, box), now=Clock())
    states = [(item.recipient, item.state) for item in letters(runtime)]
    assert states == [("ana@acme.example", "failed"), ("ben@acme.example", "sent")], "one refusal keeps nobody waiting"


def test_a_mistake_of_ours_is_visible_and_leaves_the_mail_waiting(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock()
    office = reporting.office(runtime, settings(runtime, box), now=clock)

    def broken(_letter: outbox.Letter) -> Any:
        raise ZeroDivisionError

    post.queue_due(office, clock())
    with pytest.raises(ZeroDivisionError):
        post.deliver_due(replace(office, compose=broken), clock)
    first = letters(runtime)[0]
    assert (first.state, first.error) == ("queued", post.UNFORESEEN)


def test_without_a_mail_server_the_archive_is_the_destination(runtime: Runtime) -> None:
    reporting.send_due(runtime, settings_of(runtime.data_dir), now=Clock())
    [kept] = letters(runtime)
    assert (kept.state, kept.recipient) == ("archived", "")
    assert archive.path_of(runtime.data_dir, kept).is_file()
    assert [path.suffix for path in (runtime.data_dir / "reports").iterdir()] == [".eml"]


def test_trying_waiting_mail_again_makes_no_new_report(runtime: Runtime, box: Mailbox) -> None:
    assert reporting.send_waiting(runtime, settings(runtime, box), now=Clock()) == []
    assert letters(runtime) == []


def test_an_empty_store_reports_nothing(tmp_path: Path) -> None:
    runtime = runtime_of(company([]), tmp_path)
    assert reporting.send_due(runtime, settings_of(tmp_path), now=Clock()) == []
    assert letters(runtime) == []


def test_missed_weeks_are_caught_up_each_once_and_say_that_they_are_late(runtime: Runtime, box: Mailbox) -> None:
    clock = Clock(NOW_US - 14 * DAY_US)
    wanted = settings(runtime, box, mail_to="ana@acme.example")
    reporting.send_due(runtime, wanted, now=clock)
    clock.us = NOW_US
    for _ in range(2):
        reporting.send_due(runtime, wanted, now=clock, due=[monday_at_eight(week) for week in ("2026-W45", WEEK)])
    assert [(item.period, item.is_late) for item in letters(runtime)] == [
        ("2026-W44", False),
        ("2026-W45", True),
        (WEEK, True),
    ]
    text = box.received[1].get_body(("plain",))
    assert text is not None
    assert "This report was due 9 Nov 2026 08:00 and comes late" in " ".join(text.get_content().split())


@pytest.mark.data
def test_llmc_110_a_report_that_was_due_while_the_service_was_down(
    tmp_path: Path, box: Mailbox, data_dir: Path
) -> None:
    lines = (data_dir.parent / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(case for line in lines if (case := json.loads(line))["id"] == "LLMC-110")
    [expected] = case["expected"]["runs"]
    down_until = _micros(case["minimal_input"]["service_down"][1])
    shift = NOW_US - down_until
    rows = [row | {"start_us": row["start_us"] - shift, "end_us": row["end_us"] - shift} for row in requests()]
    runtime = runtime_of(company(rows, planned=False), tmp_path)
    wanted = settings(runtime, box, mail_to="ana@acme.example")

    on_time = monday_at_eight("2026-W08")
    reporting.send_due(runtime, wanted, now=Clock(on_time), due=[on_time])
    assert [item.is_late for item in letters(runtime)] == [False]

    for minutes in range(0, 48 * 60, 30):
        missed = [monday_at_eight("2026-W09")] if minutes == 0 else []
        reporting.send_due(runtime, wanted, now=Clock(down_until + minutes * 60_000_000), due=missed)
    runs = letters(runtime)[1:]
    assert len(runs) == case["expected"]["run_count"]
    week = weeks.named(runs[0].period, ZONE)
    days = [
        week.first.isoformat(),
        (week.last + timedelta(days=1)).isoformat(),
    ]
    assert days == expected["for_period"]
    assert runs[0].done_us is not None
    assert runs[0].done_us >= _micros(expected["sent_at_after"])
    assert runs[0].is_late is (expected["marked"] == "late")
    assert len(box.received) == 2


def monday_at_eight(week: str) -> int:
    """When the default schedule wants the report of a week."""
    return weeks.named(week, ZONE).period.to_us + 8 * 3_600_000_000


def _micros(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp()) * 1_000_000


def test_the_batch_jobs_of_the_week_come_with_what_they_saved(tmp_path: Path) -> None:
    week = weeks.named(WEEK, ZONE).period
    rows = requests()
    for row in rows:
        if row["feature"] == "ticket-classify" and week.from_us <= row["start_us"] < week.to_us:
            halves = {name: row[name] // 2 for name in ("input_pusd", "output_pusd", "cost_pusd")}
            row |= {"is_batch": True, "tags": json.dumps({"batch_job": "j1"}), **halves}
    charged = sum(row["cost_pusd"] for row in rows if row["is_batch"])
    runtime = runtime_of(company(rows), tmp_path)
    job = batches.Job(
        id="j1",
        provider="openai",
        label="nightly",
        zone=ZONE,
        created_us=week.from_us,
        start_us=week.from_us,
        state="settled",
        outcome="completed",
        items=170,
        bytes=1,
        tokens_est=1,
        max_attempts=2,
        next_us=batches.NEVER_US,
        feature="ticket-classify",
    )
    for one in (job, replace(job, id="j0", created_us=week.from_us - 1)):
        part = batches.Part(
            one.id, 0, "/v1/chat/completions", 1, "settled", 1, 1, 1, f"mark-{one.id}", batches.NEVER_US, "gpt-5-mini"
        )
        batches.add(runtime.control, one, (part,), (batches.Item(0, "a", 0, 0, "succeeded", 1, 0, 1, 1),))

    found = reporting.document(runtime, settings(runtime), WEEK, now=Clock())
    table = next(item.table for item in found.sections if item.title == "Batch jobs")
    assert table is not None
    [row] = table.rows
    assert [cell.value for cell in row] == [
        "nightly",
        "ticket-classify",
        "completed",
        170,
        0,
        usd_text(charged),
        usd_text(charged),
    ]
    assert row[0].href == "/batch/jobs/j1"


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


class TestServerAddress:
    def secrets(self, reference: str) -> str:
        return {"env:PASSWORD": "s3cret", "file:/whole": "smtps://halve:pa%40ss@mail.example"}[reference]

    def test_the_password_is_a_reference(self) -> None:
        found = smtp.server("smtp://halve@mail.example?password=env:PASSWORD", self.secrets)
        assert found == smtp.Server("mail.example", 587, "halve", "s3cret", tls=True, from_the_start=False)

    def test_a_whole_address_may_be_a_secret(self) -> None:
        found = smtp.server("file:/whole", self.secrets)
        assert found == smtp.Server("mail.example", 465, "halve", "pa@ss", tls=True, from_the_start=True)

    def test_this_machine_needs_no_tls(self) -> None:
        assert not smtp.server("smtp://localhost:25", self.secrets).tls
        assert smtp.server("smtp://localhost:25?tls=on", self.secrets).tls

    @pytest.mark.parametrize(
        "address",
        [
            "smtp://halve:s3cret@mail.example",
            "smtp://halve@mail.example?password=s3cret",
            "http://mail.example",
            "mail.example:25",
            "smtp://",
            "smtp://mail.example:port",
            "smtp://mail.example?starttls=no",
        ],
    )
    def test_an_address_that_cannot_be_used_is_refused_without_showing_the_secret(self, address: str) -> None:
        with pytest.raises(UsageError) as caught:
            smtp.server(address, self.secrets)
        assert "s3cret" not in str(caught.value)

    def test_a_password_never_travels_in_the_clear(self) -> None:
        with pytest.raises(UsageError, match="in the clear"):
            smtp.sender(smtp.Server("mail.example", 587, "halve", "s3cret", tls=False, from_the_start=False))

    def test_a_server_without_a_sender_address_is_refused(self, runtime: Runtime) -> None:
        with pytest.raises(UsageError, match="HALVE_MAIL_FROM"):
            reporting.office(runtime, settings(runtime, smtp_url="smtp://localhost", mail_from=""))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    openssl = shutil.which("openssl")
    assert openssl is not None, "the openssl command makes the certificate of this test"
    folder = tmp_path_factory.mktemp("tls")
    names = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"))
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-days", "2")
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names, *subject]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


class TestTls:
    def server_side(self, certificate: tuple[Path, Path]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        return context

    def test_starttls_and_login(self, certificate: tuple[Path, Path], runtime: Runtime) -> None:
        logins = []

        def check(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
            logins.append((data.login, data.password))
            return AuthResult(success=data.password == b"s3cret", handled=False)

        options = {"tls_context": self.server_side(certificate), "require_starttls": True, "authenticator": check}
        trusted = ssl.create_default_context(cafile=str(certificate[0]))
        mail = reporting.office(runtime, settings(runtime)).compose(_letter(runtime))
        with mailbox(**options, auth_required=True) as box:
            where = smtp.Server("127.0.0.1", box.port, "halve", "s3cret", tls=True, from_the_start=False)
            smtp.sender(where, trusted=trusted)(mail)
            assert len(box.received) == 1
            with pytest.raises(UnavailableError, match="user name or password"):
                smtp.sender(replace(where, password="wrong"), trusted=trusted)(mail)
            with pytest.raises(UnavailableError, match="did not take"):
                smtp.sender(where)(mail)  # a certificate that this machine does not trust
            assert len(box.received) == 1
        assert set(logins) == {(b"halve", b"s3cret"), (b"halve", b"wrong")}

    def test_tls_from_the_start(self, certificate: tuple[Path, Path], runtime: Runtime) -> None:
        trusted = ssl.create_default_context(cafile=str(certificate[0]))
        mail = reporting.office(runtime, settings(runtime)).compose(_letter(runtime))
        with mailbox(ssl_context=self.server_side(certificate)) as box:
            where = smtp.Server("127.0.0.1", box.port, "", "", tls=True, from_the_start=True)
            smtp.sender(where, trusted=trusted)(mail)
            assert len(box.received) == 1

    def test_a_server_without_tls_gets_nothing_where_tls_is_demanded(self, runtime: Runtime, box: Mailbox) -> None:
        mail = reporting.office(runtime, settings(runtime)).compose(_letter(runtime))
        where = smtp.Server("127.0.0.1", box.port, "", "", tls=True, from_the_start=False)
        with pytest.raises(UnavailableError):
            smtp.sender(where)(mail)
        assert box.received == []


def _letter(runtime: Runtime) -> outbox.Letter:
    office = reporting.office(runtime, settings(runtime))
    post.queue_now(office, weeks.named(WEEK, ZONE), "ana@acme.example", NOW_US)
    return letters(runtime)[0]


def test_a_recipient_that_is_refused_is_a_refusal_for_good(runtime: Runtime) -> None:
    class Picky(Mailbox):
        async def handle_RCPT(self, *_args: Any) -> str:  # noqa: N802
            return "550 no such mailbox"

    mail = reporting.office(runtime, settings(runtime)).compose(_letter(runtime))
    with mailbox(of=Picky) as box:
        where = smtp.Server("127.0.0.1", box.port, "", "", tls=False, from_the_start=False)
        with pytest.raises(InputError, match="550 no such mailbox"):
            smtp.sender(where)(mail)
