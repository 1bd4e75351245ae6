"""What every peer shares: a threaded HTTP server, a list of troubles to make, and a clock that tests can hold."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections import defaultdict, deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BEFORE = ("drop_before", "500_before", "429", "429_date", "quota", "400", "401")
AFTER = ("drop_after", "500_after")


class DropError(Exception):
    """Close the connection without a word."""


class AnswerError(Exception):
    """An answer that is ready to be sent."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


class Peer:
    """A provider. `troubles[operation]` are made one after the other; `chance` makes them at random as well.

    Operations are named by subclasses. `calls` counts every call that came in, `clock` gives seconds.
    """

    prefix = ""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.troubles: dict[str, deque[str]] = defaultdict(deque)
        self.chance: dict[str, float] = {}
        self.random = random.Random(1)
        self.calls: dict[str, int] = defaultdict(int)
        self.paths: list[str] = []
        self.lock = threading.RLock()
        self.listed_after_s = 0.0
        self.works_s = 0.0
        self.slow_s = 0.0
        self.asks = "70"
        self.keys: set[str] = set()
        peer = self

        class Handler(_Handler):
            owner = peer

        self.server = _Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}{self.prefix}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def trouble(self, operation: str, among: tuple[str, ...]) -> str | None:
        """The next trouble of an operation, if it is one of these."""
        with self.lock:
            waiting = self.troubles[operation]
            if waiting and waiting[0] in among:
                return waiting.popleft()
            for name in among:
                if name in self.chance and self.random.random() < self.chance[name]:
                    return name
        return None

    @contextmanager
    def operation(self, name: str) -> Iterator[None]:
        """Troubles before and after the work of one call."""
        with self.lock:
            self.calls[name] += 1
        match self.trouble(name, BEFORE):
            case "drop_before":
                raise DropError
            case "500_before":
                raise AnswerError(500, self.error("server_error", "it broke before"))
            case "429":
                raise AnswerError(429, self.error("rate_limit_exceeded", "slow down"), {"Retry-After": self.asks})
            case "429_date":
                raise AnswerError(
                    429,
                    self.error("rate_limit_exceeded", "slow down"),
                    {"Retry-After": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 600))},
                )
            case "quota":
                raise AnswerError(429, self.error("insufficient_quota", "no money left"))
            case "400":
                raise AnswerError(400, self.error("invalid_request_error", "no such thing"))
            case "401":
                raise AnswerError(401, self.error("invalid_api_key", "wrong key"))
        yield
        match self.trouble(name, AFTER):
            case "drop_after":
                raise DropError
            case "500_after" if name == "content":
                # Its answer is out already: a second one on this connection would be read as that of the next call.
                raise DropError
            case "500_after":
                raise AnswerError(500, self.error("server_error", "it broke after accepting"))

    def error(self, code: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": code, "code": code, "param": None}}

    def respond(self, method: str, path: str, query: dict[str, str], body: Callable[[], bytes], headers: Any) -> Any:
        """The answer to a call: a JSON value, or raises AnswerError, DropError."""
        raise NotImplementedError

    def send_lines(self, handler: _Handler, operation: str, lines: list[bytes]) -> None:
        """Stream result lines, with the troubles of downloads: torn, cut, short, slow."""
        data = b"".join(line + b"\n" for line in lines)
        trouble = self.trouble(operation, ("torn", "cut", "short"))
        torn = data[: max(1, len(data) - 20)] if trouble == "torn" and data else data
        if trouble == "short":
            torn = b"".join(line + b"\n" for line in lines[:-1])
        handler.send_response(200)
        handler.send_header("Content-Type", "application/octet-stream")
        handler.send_header("Content-Length", str(len(torn)))
        handler.end_headers()
        if trouble == "cut":
            handler.wfile.write(torn[: len(torn) // 2])
            raise DropError
        step = max(1, len(torn) // 8) if self.slow_s else len(torn) or 1
        for start in range(0, len(torn), step):
            handler.wfile.write(torn[start : start + step])
            handler.wfile.flush()
            time.sleep(self.slow_s / 8)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Killed clients are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Peer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self.serve("GET")

    def do_POST(self) -> None:
        self.serve("POST")

    def serve(self, method: str) -> None:
        parts = urlsplit(self.path)
        self.owner.paths.append(f"{method} {parts.path}")
        key = self.headers.get("authorization", "").removeprefix("Bearer ") or self.headers.get("x-api-key", "")
        self.owner.keys.add(key)
        try:
            found = self.owner.respond(method, parts.path, dict(parse_qsl(parts.query)), self.read_body, self)
        except AnswerError as answer:
            self.reply(answer.status, answer.body, answer.headers)
        except DropError:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            if found is not None:
                self.reply(200, found, {})

    def read_body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        size = int(self.headers.get("content-length") or 0)
        data = self.rfile.read(size)
        if len(data) < size:
            raise DropError
        return data

    def reply(self, status: int, body: Any, headers: dict[str, str]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
