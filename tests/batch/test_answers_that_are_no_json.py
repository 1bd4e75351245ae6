"""A proxy in between answers 200 with a page of its own: nothing is believed, and nothing that creates is repeated."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx2
import pytest

from app.batch.provider import Account, BusyError, Mark, UnclearError
from app.batch.providers import anthropic, openai

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.batch.provider import Provider

MARK = Mark(job="batch_1", part=0, fingerprint="a" * 32, endpoint="/v1/chat/completions", items=1, since_us=0)
LINE = b'{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": []}}\n'
OURS = b'{"custom_id": "a", "params": {"model": "m", "max_tokens": 1, "messages": []}}\n'


class Page(BaseHTTPRequestHandler):
    """Answers everything with the same text; `files` alone is answered as OpenAI does where asked for."""

    files_work = False

    def do_GET(self) -> None:
        self._say(b"maintenance", "text/plain")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.files_work and self.path.endswith("/files"):
            self._say(b'{"id": "file-1", "object": "file", "bytes": 1, "created_at": 1, "purpose": "batch"}')
        else:
            self._say(b"maintenance", "text/plain")

    def _say(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("provider", "line", "files_work", "error"),
    [
        pytest.param(openai.PROVIDER, LINE, False, BusyError, id="openai: the upload alone costs nothing"),
        pytest.param(openai.PROVIDER, LINE, True, UnclearError, id="openai: the batch may have been made"),
        pytest.param(anthropic.PROVIDER, OURS, False, UnclearError, id="anthropic: the batch may have been made"),
    ],
)
def test_a_page_instead_of_an_answer_is_no_batch(
    provider: Provider,
    line: bytes,
    files_work: bool,
    error: type[Exception],
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Page, "files_work", files_work)
    items = tmp_path / "items.jsonl"
    items.write_bytes(line)
    account = Account(base_url=url, key="k", http=httpx2.Client, folder=tmp_path, now_us=lambda: 0)
    with provider.connect(account) as connection:
        with pytest.raises(error, match="the answer was no"):
            connection.submit(items, MARK)
        with pytest.raises(BusyError, match="the answer was no"):
            connection.find(MARK)
        with pytest.raises(BusyError, match="the answer was no"):
            connection.poll("batch_1")
