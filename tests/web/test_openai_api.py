"""The real openai client, unchanged but for its address and key, makes, polls, downloads and cancels batches here."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest
from batch_office import Office, chat, chats
from dashboard_company import NOW_US
from dashboard_site import Site

from app.batch.shelf import Shelf, TooLargeError
from app.control import api_keys, batches
from app.core.errors import ConflictError, NotFoundError
from app.web.batch_desk import Upstream
from tests.batch.peers.anthropic_peer import AnthropicPeer
from tests.batch.peers.openai_peer import OpenAIPeer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOUR_S = 3600


class Desk:
    """A running Halve, the provider behind it, and a client of its API."""

    def __init__(self, folder: Path, key: str | None = None) -> None:
        self.peer = OpenAIPeer(lambda: self.office.now_us / 1e6)
        upstream = Upstream("openai", "OpenAI", self.peer.url, "env:UPSTREAM_KEY")
        self.office = Office(folder, (upstream,), rows=[])
        self.control = self.office.runtime.control
        self.key = key or api_keys.create(self.control, "night worker", "batch", NOW_US)
        self.site = Site(self.office.company)
        self.site.start()
        self.client = openai.OpenAI(base_url=f"{self.site.url}/v1", api_key=self.key, max_retries=0)

    def close(self) -> None:
        self.client.close()
        self.site.stop()
        self.peer.close()
        self.office.close()

    def batch(self, lines: bytes, **given: Any) -> Any:
        file = self.client.files.create(file=("jobs.jsonl", io.BytesIO(lines)), purpose="batch")
        asked = {"endpoint": "/v1/chat/completions", "completion_window": "24h", **given}
        return self.client.batches.create(input_file_id=file.id, **asked)

    def raw(self, method: str, path: str, **given: Any) -> httpx2.Response:
        headers = {"authorization": f"Bearer {self.key}", **given.pop("headers", {})}
        return httpx2.request(method, f"{self.site.url}/v1{path}", headers=headers, **given)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("UPSTREAM_KEY", "sk-of-the-provider")
    made = Desk(tmp_path / "data")
    yield made
    made.close()


def test_a_batch_is_made_polled_and_downloaded(desk: Desk) -> None:
    lines = chats(6)
    file = desk.client.files.create(file=("nightly tickets.jsonl", io.BytesIO(lines)), purpose="batch")
    assert (file.purpose, file.bytes, file.filename) == ("batch", len(lines), "nightly tickets.jsonl")
    assert desk.client.files.content(file.id).read() == lines

    batch = desk.client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"feature": "ticket-classify", "run": "7"},
    )
    assert batch.status == "in_progress"
    assert batch.metadata == {"feature": "ticket-classify", "run": "7"}
    assert (batch.input_file_id, batch.endpoint, batch.completion_window) == (file.id, "/v1/chat/completions", "24h")
    assert batch.request_counts is not None
    assert (batch.request_counts.total, batch.request_counts.completed) == (6, 0)
    assert batch.output_file_id is None

    desk.office.until_settled(batch.id)
    done = desk.client.batches.retrieve(batch.id)
    assert (done.status, done.error_file_id) == ("completed", None)
    assert done.request_counts is not None
    assert (done.request_counts.completed, done.request_counts.failed) == (6, 0)
    assert done.in_progress_at is not None
    assert done.completed_at is not None
    assert done.created_at <= done.in_progress_at <= done.completed_at
    assert done.output_file_id is not None
    answers = [json.loads(line) for line in desk.client.files.content(done.output_file_id).text.splitlines()]
    assert [line["custom_id"] for line in answers] == [f"row-{number}" for number in range(6)]
    assert {line["response"]["status_code"] for line in answers} == {200}
    assert desk.peer.keys == {"sk-of-the-provider"}
    assert desk.client.batches.retrieve(batch.id).output_file_id == done.output_file_id


def test_its_requests_are_booked_on_the_feature_of_the_metadata(desk: Desk) -> None:
    batch = desk.batch(chats(3), metadata={"feature": "nightly-tags"})
    desk.office.until_settled(batch.id)
    with desk.office.runtime.warehouse.session() as session:
        worth = desk.office.company.deps.commands.batch.worth_of_feature(session, "nightly-tags")
    assert worth.requests == 3
    assert worth.saved_pusd == worth.charged_pusd > 0


def fails(text: str, fate: str) -> Any:
    """The fate of requests whose prompt says `text`."""
    return lambda _id, body: fate if text in body["messages"][0]["content"] else "ok"


def test_requests_that_fail_come_back_in_the_error_file(desk: Desk) -> None:
    desk.peer.fate = fails("ticket 1:", "400")
    batch = desk.batch(chats(3))
    desk.office.until_settled(batch.id)
    done = desk.client.batches.retrieve(batch.id)
    assert (done.status, done.errors) == ("completed", None)
    assert (done.request_counts.completed, done.request_counts.failed) == (2, 1)
    failed = [json.loads(line) for line in desk.client.files.content(done.error_file_id).text.splitlines()]
    assert [(line["custom_id"], line["response"]["status_code"]) for line in failed] == [("row-1", 400)]
    answered = [json.loads(line) for line in desk.client.files.content(done.output_file_id).text.splitlines()]
    assert [line["custom_id"] for line in answered] == ["row-0", "row-2"]
    assert {one.purpose for one in desk.client.files.list(purpose="batch_output")} == {"batch_output"}


def test_a_batch_that_no_request_of_is_answered_has_no_output_file(desk: Desk) -> None:
    desk.peer.fate = fails("ticket", "400")
    batch = desk.batch(chats(2))
    desk.office.until_settled(batch.id)
    done = desk.client.batches.retrieve(batch.id)
    assert (done.status, done.output_file_id) == ("completed", None)
    assert len(desk.client.files.content(done.error_file_id).text.splitlines()) == 2


def test_a_file_that_cannot_be_sent_makes_a_failed_batch_that_names_its_lines(desk: Desk) -> None:
    bad = chat("row-0").replace("gpt-5-mini", "")
    batch = desk.batch("\n".join([chat("a"), bad, "{broken", chat("a")]).encode())
    assert batch.status == "failed"
    assert [(one.line, one.code) for one in batch.errors.data] == [
        (2, "invalid_line"),
        (3, "invalid_line"),
        (4, "invalid_line"),
    ]
    assert "model" in batch.errors.data[0].message
    assert desk.client.batches.retrieve(batch.id) == batch
    assert desk.peer.calls == {}
    assert batches.jobs(desk.control) == []
    assert desk.client.batches.cancel(batch.id).status == "failed"


def test_lines_for_another_endpoint_than_the_batch_are_refused(desk: Desk) -> None:
    batch = desk.batch(chats(2), endpoint="/v1/embeddings")
    assert batch.status == "failed"
    assert batch.errors.data[0].code == "url_mismatch"
    assert "/v1/chat/completions" in batch.errors.data[0].message


def test_a_batch_is_cancelled_before_anything_was_sent(desk: Desk) -> None:
    batch = desk.batch(chats(4), metadata={"halve_start": "02:00"})
    desk.office.work(HOUR_S)
    assert desk.peer.calls == {}
    assert desk.client.batches.cancel(batch.id).status == "cancelling"
    desk.office.work(1)
    done = desk.client.batches.retrieve(batch.id)
    assert (done.status, done.output_file_id) == ("cancelled", None)
    assert done.cancelled_at is not None
    assert desk.peer.calls == {}


def test_a_batch_waits_for_the_time_that_its_metadata_names(desk: Desk) -> None:
    batch = desk.batch(chats(1), metadata={"halve_start": "02:00", "halve_zone": "Europe/Berlin"})
    desk.office.work(10 * HOUR_S)
    assert desk.peer.calls == {}
    desk.office.work(5 * HOUR_S)
    desk.office.until_settled(batch.id)
    assert desk.peer.calls["create"] == 1


def test_a_batch_that_expires_hands_out_what_was_finished(desk: Desk) -> None:
    desk.peer.ends = [{"status": "expired", "finished": 2}] * 3
    batch = desk.batch(chats(4))
    desk.office.until_settled(batch.id)
    done = desk.client.batches.retrieve(batch.id)
    assert done.request_counts.total == 4
    answered = desk.client.files.content(done.output_file_id).text.splitlines()
    assert len(answered) == done.request_counts.completed > 1


def test_a_batch_that_the_provider_refuses_says_why(desk: Desk) -> None:
    desk.peer.ends = [{"status": "failed", "problems": [{"code": "model_not_found", "message": "no such model"}]}]
    batch = desk.batch(chats(2))
    desk.office.until_settled(batch.id)
    done = desk.client.batches.retrieve(batch.id)
    assert done.status == "failed"
    assert [(one.code, one.message) for one in done.errors.data] == [("model_not_found", "no such model")]


def test_lists_come_in_pages_that_the_client_follows(desk: Desk) -> None:
    made = []
    for number in range(5):
        made.append(desk.batch(chat(f"row-{number}").encode()))
        desk.office.now_us += 1_000_000
    assert [one.id for one in desk.client.batches.list(limit=2)] == [one.id for one in made[::-1]]
    assert [one.id for one in desk.client.files.list(limit=2, order="asc")] == [one.input_file_id for one in made]
    page = desk.client.batches.list(limit=3, after=made[1].id)
    assert ([one.id for one in page.data], page.has_more) == ([made[0].id], False)


def test_a_deleted_file_is_gone(desk: Desk) -> None:
    file = desk.client.files.create(file=("a.jsonl", io.BytesIO(chats(1))), purpose="batch")
    assert desk.client.files.delete(file.id).deleted
    for ask in (desk.client.files.retrieve, desk.client.files.content, desk.client.files.delete):
        with pytest.raises(openai.NotFoundError, match="no file"):
            ask(file.id)
    assert list(desk.office.desk.folder.parent.glob("batch-files/*")) == []


def test_files_go_after_thirty_days(desk: Desk) -> None:
    old = desk.client.files.create(file=("a.jsonl", io.BytesIO(chats(1))), purpose="batch")
    assert old.expires_at == old.created_at + 30 * 86_400
    desk.office.now_us += 30 * 86_400 * 1_000_000
    new = desk.client.files.create(file=("b.jsonl", io.BytesIO(chats(1))), purpose="batch")
    assert [one.id for one in desk.client.files.list()] == [new.id]


def test_errors_have_openais_shape(desk: Desk) -> None:
    with pytest.raises(openai.BadRequestError, match="purpose=batch") as caught:
        desk.client.files.create(file=("a.jsonl", b"{}"), purpose="fine-tune")
    assert (caught.value.type, caught.value.code) == ("invalid_request_error", "invalid_request")
    with pytest.raises(openai.BadRequestError, match="completion_window") as window:
        desk.batch(chats(1), completion_window="7d")
    assert window.value.param == "completion_window"
    with pytest.raises(openai.NotFoundError):
        desk.client.batches.create(input_file_id="file-nowhere", endpoint="/v1/responses", completion_window="24h")
    with pytest.raises(openai.BadRequestError, match="empty"):
        desk.client.files.create(file=("a.jsonl", b""), purpose="batch")
    with pytest.raises(openai.BadRequestError, match="no time"):
        desk.batch(chats(1), metadata={"halve_start": "tonight"})
    with pytest.raises(openai.NotFoundError, match="somebody waits for"):
        desk.client.chat.completions.create(model="gpt-5-mini", messages=[{"role": "user", "content": "hi"}])
    assert desk.raw("POST", "/batches", content=b"{").json()["error"]["type"] == "invalid_request_error"
    assert desk.raw("PUT", "/files").status_code == 405


def test_a_client_names_a_file_and_never_a_place(desk: Desk) -> None:
    answer = desk.raw("POST", "/files", data={"purpose": "batch"}, files={"file": ("../../etc/\u202epasswd", b"{}")})
    assert "/" not in answer.json()["filename"]
    assert "\u202e" not in answer.json()["filename"]
    assert desk.raw("GET", "/files/..%2F..%2Fcontrol.sqlite3/content").status_code == 404


def test_no_other_key_opens_the_api(desk: Desk) -> None:
    for key in ("sk-wrong", "sk-of-the-provider"):
        with pytest.raises(openai.AuthenticationError, match="halve keys create"):
            openai.OpenAI(base_url=f"{desk.site.url}/v1", api_key=key, max_retries=0).batches.list()
    assert desk.raw("GET", "/batches", headers={"authorization": ""}).status_code == 401
    assert desk.raw("GET", "/batches", headers={"authorization": f"Basic {desk.key}"}).status_code == 401
    access = openai.OpenAI(base_url=f"{desk.site.url}/v1", api_key=desk.office.company.token, max_retries=0)
    assert access.batches.list().data == []
    api_keys.revoke(desk.control, "night worker", NOW_US)
    with pytest.raises(openai.AuthenticationError):
        desk.client.batches.list()


def test_a_key_for_batches_opens_no_page(desk: Desk) -> None:
    with httpx2.Client(base_url=desk.site.url, headers={"authorization": f"Bearer {desk.key}"}) as reader:
        for path in ("/", "/batch", "/batch.json", "/requests.csv"):
            assert reader.get(path).status_code == 401


def test_pages_of_others_cannot_use_the_api(desk: Desk) -> None:
    answer = desk.raw("POST", "/batches", json={}, headers={"origin": "http://evil.example"})
    assert answer.status_code == 403


def test_keys_are_kept_as_hashes_and_named_once(desk: Desk) -> None:
    with pytest.raises(ConflictError, match="night worker"):
        api_keys.create(desk.control, "night worker", "batch", NOW_US)
    with desk.control.connect() as connection:
        stored = connection.exec_driver_sql("SELECT * FROM api_keys").fetchall()
    assert desk.key not in str(stored)
    api_keys.revoke(desk.control, "night worker", NOW_US + 1)
    with pytest.raises(NotFoundError):
        api_keys.revoke(desk.control, "night worker", NOW_US + 2)
    api_keys.create(desk.control, "night worker", "batch", NOW_US + 3)
    assert [(one.name, one.revoked_us) for one in api_keys.all_keys(desk.control)] == [
        ("night worker", NOW_US + 1),
        ("night worker", None),
    ]


def test_a_file_above_the_limit_leaves_nothing_behind(desk: Desk, tmp_path: Path) -> None:
    shelf = Shelf(desk.control, tmp_path / "shelf", lambda: NOW_US, max_bytes=1000)
    with pytest.raises(TooLargeError, match="1,000 bytes"):
        shelf.keep("large.jsonl", io.BytesIO(b"x" * 1001))
    assert list(shelf.folder.iterdir()) == []
    assert shelf.keep("fits.jsonl", io.BytesIO(b"x" * 1000)).bytes == 1000


def test_lines_in_anthropics_words_go_through_the_same_api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_KEY", "sk-ant-of-the-provider")
    office: Office
    peer = AnthropicPeer(lambda: office.now_us / 1e6)
    peer.fate = lambda _id, params: "errored:invalid_request_error" if params["max_tokens"] == 7 else "succeeded"
    office = Office(tmp_path / "data", (Upstream("anthropic", "Anthropic", peer.url, "env:UPSTREAM_KEY"),), rows=[])
    site = Site(office.company)
    site.start()
    client = openai.OpenAI(base_url=f"{site.url}/v1", api_key=office.company.token, max_retries=0)
    try:
        asked = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hello"}]}
        lines = [json.dumps({"custom_id": f"r{most}", "params": {**asked, "max_tokens": most}}) for most in (5, 7, 9)]
        file = client.files.create(file=("a.jsonl", "\n".join(lines).encode()), purpose="batch")
        batch = client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/messages",  # type: ignore[arg-type]
            completion_window="24h",
        )
        office.until_settled(batch.id)
        done = client.batches.retrieve(batch.id)
        assert (done.status, done.request_counts.completed, done.request_counts.failed) == ("completed", 2, 1)
        good = [json.loads(line) for line in client.files.content(done.output_file_id).text.splitlines()]
        bad = [json.loads(line) for line in client.files.content(done.error_file_id).text.splitlines()]
        assert [line["custom_id"] for line in good] == ["r5", "r9"]
        assert [line["custom_id"] for line in bad] == ["r7"]
    finally:
        client.close()
        site.stop()
        peer.close()
        office.close()
