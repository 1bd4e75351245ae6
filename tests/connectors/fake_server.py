"""An HTTP server on loopback that speaks for any source, with the cruelties that real ones have."""

from __future__ import annotations

import gzip
import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

Reply = tuple[int, dict[str, str], bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    document: Any

    def one(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[0]


@dataclass(slots=True)
class FakeServer:
    """Answers with `speak` while the context is open.

    Attributes:
        speak: the protocol: (status, document) of a request, or a whole reply.
        answers: replies given instead of the next ones.
        before: called with the number of the request, 1, 2, ..., before `speak` answers it.
        twist: changes the body of an answer, given the number of the request.
        asked: every request that `speak` answered.
        pack: whether answers are packed with gzip.
        bucket: what it serves, where that is one.
    """

    speak: Callable[[Asked], tuple[int, Any] | Reply]
    answers: deque[Reply] = field(default_factory=deque)
    before: Callable[[int], None] = lambda number: None
    twist: Callable[[int, bytes], bytes] = lambda number, body: body
    asked: list[Asked] = field(default_factory=list)
    pack: bool = False
    bucket: Any = None
    _server: ThreadingHTTPServer = field(init=False)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> FakeServer:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:
                    self.close_connection = True  # who asked was killed

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, headers, answer = fake._reply(self.command, self.path, dict(self.headers), body)
                self._send(status, headers, answer)

            do_HEAD = do_GET  # noqa: N815
            do_POST = do_GET  # noqa: N815 - the name that the standard library calls

            def _send(self, status: int, headers: dict[str, str], answer: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in headers:
                    self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                self.wfile.flush()
                self.close_connection = "Content-Length" in headers

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def _reply(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
        url = urlsplit(target)
        document = json.loads(body) if body[:1] == b"{" else body.decode()
        lower = {name.lower(): value for name, value in headers.items()}
        asked = Asked(method, url.path, parse_qs(url.query), lower, document)
        if self.answers:
            return self.answers.popleft()
        self.asked.append(asked)
        number = len(self.asked)
        self.before(number)
        spoken = self.speak(asked)
        if len(spoken) == 3:
            return spoken
        answer = self.twist(number, json.dumps(spoken[1]).encode())
        return (
            (spoken[0], {"Content-Encoding": "gzip"}, gzip.compress(answer)) if self.pack else (spoken[0], {}, answer)
        )
