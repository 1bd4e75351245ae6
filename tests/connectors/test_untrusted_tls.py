"""A server whose certificate is not trusted here: said at once by its name, and nothing is sent to it."""

from __future__ import annotations

import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from shutil import which
from typing import TYPE_CHECKING

import pytest

from app.core.errors import UnavailableError
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience, PoliteClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def port(tmp_path: Path) -> Iterator[tuple[int, list[str], Path]]:
    openssl = which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = [
        openssl,
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=127.0.0.1",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    ]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    asked: list[str] = []

    class Speaking(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    server = HTTPServer(("127.0.0.1", 0), Speaking)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port, asked, certificate
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_certificate_that_is_not_trusted_is_said_at_once_and_no_key_is_sent(
    port: tuple[int, list[str], Path],
) -> None:
    pauses: list[float] = []
    patience = Patience(sleep=pauses.append)
    with (
        PoliteClient(f"https://127.0.0.1:{port[0]}", {"Authorization": "x"}, guard(["127.0.0.1"]), patience) as client,
        pytest.raises(UnavailableError, match=r"certificate.*self-signed.*Nothing was sent") as told,
    ):
        client.get("/spend/logs", {}, bytes)
    assert "SSL_CERT_FILE" in str(told.value)
    assert (pauses, port[1]) == ([], [])


def test_an_authority_that_the_operator_names_is_trusted(
    port: tuple[int, list[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(port[2]))
    with PoliteClient(f"https://127.0.0.1:{port[0]}", {"Authorization": "x"}, guard(["127.0.0.1"])) as client:
        assert client.get("/spend/logs", {}, bytes) == b"{}"
    assert port[1] == ["/spend/logs"]
