"""A reader of the Batch pages of one office, as a browser is one."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

from starlette.testclient import TestClient

from app.web.server import create_app

if TYPE_CHECKING:
    from batch_office import Office

OURS = {"origin": "http://127.0.0.1"}


class Reader:
    """A reader of the Batch pages of one office."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.http = TestClient(create_app(office.company.deps), base_url="http://127.0.0.1", headers=OURS)

    def upload(self, lines: bytes, name: str = "tickets.jsonl", **fields: str) -> str:
        """Hand a file in; the address of its page."""
        answer = self.http.post("/batch/upload", files={"file": (name, lines)}, data=fields, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def schedule(self, page: str, **fields: str) -> Any:
        given = {"provider": "demo", "when": "now", "name": "tickets", "feature": "ticket-classify", **fields}
        return self.http.post(f"{page.partition('?')[0]}/schedule", data=given, follow_redirects=False)

    def job(self, page: str, **fields: str) -> str:
        """Schedule a file; the id of its job."""
        answer = self.schedule(page, **fields)
        assert answer.status_code == 303, answer.text
        found = re.fullmatch(r"/batch/jobs/(batch_[0-9a-f]{24})\?done=\w+", answer.headers["location"])
        assert found is not None
        return found[1]

    def text(self, path: str, status: int = 200) -> str:
        """What a page says, without its marks."""
        answer = self.http.get(path)
        assert answer.status_code == status, answer.text
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())
