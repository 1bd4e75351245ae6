"""Who gets in, what may change something, and the headers on every answer."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from dashboard_company import company
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from app.core.errors import UsageError
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dashboard_company import Company

OPEN_TO_ALL = {"/healthz", "/enter", "/leave", "/theme"}
SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def guarded() -> Company:
    return company(requests_of_a_day())


def requests_of_a_day() -> list[dict[str, object]]:
    from dashboard_company import requests

    return requests(days=1)


@pytest.fixture
def visitor(guarded: Company) -> Iterator[TestClient]:
    with TestClient(create_app(guarded.deps), base_url="http://127.0.0.1") as reader:
        yield reader


def routes(company_: Company) -> list[tuple[str, str]]:
    contexts = iter_route_contexts(create_app(company_.deps).routes)
    return [(method, route.path) for route in contexts if route.path for method in sorted(route.methods or ())]


def filled(path: str) -> str:
    return path.replace("{key}", "0" * 16).replace("{fingerprint}", "f0support").replace("{job}", "analysis")


def test_every_route_is_behind_the_guard_unless_it_is_the_way_in(guarded: Company, visitor: TestClient) -> None:
    listed = routes(guarded)
    assert len(listed) > 20
    for method, path in listed:
        if path in OPEN_TO_ALL:
            continue
        answer = visitor.request(method, filled(path), headers=SAME)
        assert answer.status_code == 401, f"{method} {path} answers strangers with {answer.status_code}"


def test_the_printed_link_opens_a_session(guarded: Company, visitor: TestClient) -> None:
    assert visitor.get("/").status_code == 401
    answer = visitor.get("/enter", params={"token": guarded.token}, follow_redirects=False)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert visitor.get("/").status_code == 200


def test_a_wrong_token_opens_nothing(visitor: TestClient) -> None:
    answer = visitor.post("/enter", data={"token": "x" * 43}, headers=SAME)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert visitor.get("/").status_code == 401


def test_signing_out_ends_the_session_in_the_store_too(guarded: Company, visitor: TestClient) -> None:
    visitor.post("/enter", data={"token": guarded.token}, headers=SAME)
    cookie = visitor.cookies["halve_session"]
    visitor.post("/leave", headers=SAME)
    visitor.cookies.set("halve_session", cookie)
    assert visitor.get("/").status_code == 401


def test_a_machine_may_send_the_token_itself(guarded: Company, visitor: TestClient) -> None:
    answer = visitor.get("/spend.json", headers={"authorization": f"Bearer {guarded.token}"})
    assert answer.status_code == 200


def test_the_token_is_not_stored_as_it_is(guarded: Company) -> None:
    with guarded.deps.control.connect() as connection:
        stored = connection.exec_driver_sql("SELECT * FROM access_tokens").all()
    assert guarded.token not in str(stored)


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {},
    ],
    ids=str,
)
def test_a_write_from_another_page_is_refused(guarded: Company, visitor: TestClient, headers: dict[str, str]) -> None:
    visitor.post("/enter", data={"token": guarded.token}, headers=SAME)
    answer = visitor.post("/analyse", headers=headers)
    assert answer.status_code == 403
    assert guarded.deeds.analyses == 0


@pytest.mark.parametrize("headers", [SAME, {"origin": "http://127.0.0.1"}], ids=str)
def test_a_write_from_our_own_page_is_done(guarded: Company, visitor: TestClient, headers: dict[str, str]) -> None:
    visitor.post("/enter", data={"token": guarded.token}, headers=SAME)
    assert visitor.post("/analyse", headers=headers, follow_redirects=False).status_code == 303
    assert guarded.deeds.analyses == 1


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost:80:80", "[::1"])
def test_a_foreign_host_name_is_refused(visitor: TestClient, host: str) -> None:
    answer = visitor.get("/healthz", headers={"host": host})
    assert answer.status_code == 421
    assert "HALVE_HOST_NAMES" in answer.text


def test_the_port_does_not_matter_for_the_host(visitor: TestClient) -> None:
    assert visitor.get("/healthz", headers={"host": "LOCALHOST:8080"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/enter", "/healthz", "/nowhere", "/static/app.css", "/spend.csv"])
def test_security_headers_are_on_every_answer(visitor: TestClient, path: str) -> None:
    headers = visitor.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "cache-control" in headers


def test_no_access_control_is_for_this_machine_alone() -> None:
    made = company([], no_access_control=True)
    with pytest.raises(UsageError, match="only answer on this machine"):
        create_app(replace(made.deps, allowed_hosts=frozenset({"localhost", "halve.example"})))


def test_the_theme_form_leads_to_no_other_host(visitor: TestClient) -> None:
    for back in ("//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"):
        answer = visitor.post("/theme", data={"theme": "dark", "back": back}, headers=SAME, follow_redirects=False)
        assert answer.headers["location"] == "/"


class TestDeeds:
    @pytest.fixture
    def inside(self, guarded: Company, visitor: TestClient) -> TestClient:
        visitor.post("/enter", data={"token": guarded.token}, headers=SAME)
        visitor.headers.update(SAME)
        return visitor

    def test_a_dismissal_without_a_reason_is_refused_and_says_why(self, inside: TestClient) -> None:
        answer = inside.post("/savings/f1search/dismiss", data={"reason": "  "})
        assert answer.status_code == 400
        assert "Say why" in answer.text

    def test_a_dismissed_finding_leaves_the_joint_total(self, inside: TestClient) -> None:
        before = {row["lever"] for row in inside.get("/savings.json").json()["rows"]}
        inside.post("/savings/f1search/dismiss", data={"reason": "Must be fresh", "until": "2026-12-31"})
        after = {row["lever"] for row in inside.get("/savings.json").json()["rows"]}
        assert before - after == {"response_cache"}
        steps = {row["step"] for row in inside.get("/savings.json?table=steps").json()["rows"]}
        assert "Answer cache" not in steps
        inside.post("/savings/f1search/restore")
        assert {row["lever"] for row in inside.get("/savings.json").json()["rows"]} == before

    def test_an_impossible_day_is_refused(self, inside: TestClient) -> None:
        answer = inside.post("/savings/f1search/dismiss", data={"reason": "no", "until": "31.12.2026"})
        assert answer.status_code == 400

    def test_an_uploaded_log_reaches_the_command(self, guarded: Company, inside: TestClient) -> None:
        inside.post("/sources/upload", files={"log": ("../../etc/x.jsonl", io.BytesIO(b"{}\n"))})
        [(name, content)] = guarded.deeds.uploads
        assert content == b"{}\n"
        assert name == "x.jsonl"

    def test_billing_is_one_of_a_fixed_list(self, guarded: Company, inside: TestClient) -> None:
        assert inside.post("/sources/billing", data={"source": "litellm", "billing": "mine"}).status_code == 400
        inside.post("/sources/billing", data={"source": "litellm", "billing": "subscription"})
        assert guarded.deeds.billings == [("litellm", "subscription")]

    def test_what_is_too_large_is_refused(self, guarded: Company, inside: TestClient) -> None:
        small = TestClient(create_app(replace(guarded.deps, max_upload_bytes=1000)), base_url="http://127.0.0.1")
        small.cookies.update(inside.cookies)
        files = {"log": ("big.jsonl", io.BytesIO(b"x" * 2000))}
        assert small.post("/sources/upload", files=files, headers=SAME).status_code == 413
        assert guarded.deeds.uploads == []
        long = inside.post("/sources/billing", data={"source": "x" * 100_000, "billing": "api"})
        assert long.status_code == 413
