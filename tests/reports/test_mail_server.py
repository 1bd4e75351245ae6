"""The way to the mail server: its address, its password, TLS, and refusals."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from aiosmtpd.smtp import AuthResult
from dashboard_company import NOW_US, ZONE
from report_office import WEEK, Mailbox, mailbox
from report_post import letters, settings

from app.core.errors import InputError, UnavailableError, UsageError
from app.main import reporting
from reports import post, smtp, weeks

if TYPE_CHECKING:
    from pathlib import Path

    from app.control import outbox
    from app.main.runtime import Runtime


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
