"""A LiteLLM proxy's spend log on loopback: the real protocol, with the cruelties that real ones have."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

TOKEN = "sk-fake-admin-0123456789"
TIME = "%Y-%m-%d %H:%M:%S"


def row(number: int, start: datetime, **other: Any) -> dict[str, Any]:
    return {
        "request_id": f"chatcmpl-{number:032x}",
        "call_type": "acompletion",
        "spend": 0.001,
        "total_tokens": 110,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "startTime": start.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "endTime": start.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "model": "gpt-4.1",
        "metadata": {"user_api_key_alias": "worker"},
        "request_tags": ["feature:sync"],
        "status": "success",
        **other,
    }


@dataclass(slots=True)
class Fake:
    """The proxy's table and its moods.

    Attributes:
        rows: the table, any order; listed newest first unless the query asks otherwise.
        max_page_size: larger pages are answered with 422.
        answers: replies given instead of the next pages: (status, headers, body).
        before: called with the number of the page request, 1, 2, ..., before it is answered.
        twist: changes the body of a page, given the number of the page request.
        cap: where the proxy stops counting; `total` and `total_pages` are then too small, and it says so.
        old: ignores the order that is asked for, as proxies did before they knew it.
        calls: the query of every page request that was answered from the table.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    max_page_size: int = 1000
    answers: deque[tuple[int, dict[str, str], bytes]] = field(default_factory=deque)
    before: Callable[[int], None] = lambda number: None
    twist: Callable[[int, bytes], bytes] = lambda number, body: body
    calls: list[dict[str, str]] = field(default_factory=list)
    cap: int | None = None
    old: bool = False
    tokens: list[str | None] = field(default_factory=list)

    def page(self, query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        start, end = (datetime.strptime(query[name], TIME).replace(tzinfo=UTC) for name in ("start_date", "end_date"))
        number, size = int(query["page"]), int(query.get("page_size", "50"))
        if size > self.max_page_size:
            return 422, {"detail": [{"loc": ["query", "page_size"], "msg": "less than or equal to the maximum"}]}
        found = sorted(
            (one for one in self.rows if start <= datetime.fromisoformat(one["startTime"]) <= end),
            key=lambda one: str(one["startTime"]),
            reverse=self.old or query.get("sort_order", "desc") == "desc",
        )
        total = len(found) if self.cap is None else min(self.cap, len(found))
        body: dict[str, Any] = {
            "data": found[(number - 1) * size : number * size],
            "total": total,
            "page": number,
            "page_size": size,
            "total_pages": -(-total // size),
        }
        if self.cap is not None:
            body["total_is_capped"] = len(found) > self.cap
        return 200, body


class FakeProxy:
    """Serves a `Fake` on a free port while the context is open."""

    def __init__(self, fake: Fake) -> None:
        self.fake = fake
        fakes = fake

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet

            def do_GET(self) -> None:
                status, headers, body = answer(fakes, self.path, self.headers.get("Authorization"))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in headers:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                if "Content-Length" in headers:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> str:
        self.thread.start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def answer(fake: Fake, target: str, authorization: str | None) -> tuple[int, dict[str, str], bytes]:
    fake.tokens.append(authorization)
    if authorization != f"Bearer {TOKEN}":
        return 401, {}, b'{"error": {"message": "Authentication Error", "code": "401"}}'
    url = urlsplit(target)
    if url.path != "/spend/logs/v2":
        return 404, {}, b'{"detail": "Not Found"}'
    if fake.answers:
        return fake.answers.popleft()
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    number = len(fake.calls) + 1
    fake.before(number)
    status, document = fake.page(query)
    if status == 200:
        fake.calls.append(query)
    return status, {}, fake.twist(number, json.dumps(document).encode())


def serve(fake: Fake) -> Iterator[str]:
    with FakeProxy(fake) as url:
        yield url
