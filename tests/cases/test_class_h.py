"""The reported cases about hostile input, secrets and reach: each is driven by a named test, or waits with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from failure_cases import load

from app.core.errors import ForbiddenError, UnavailableError
from app.main.guarded_http import guarded_client
from ingest.connectors.outbound import guard

if TYPE_CHECKING:
    from collections.abc import Iterator

from driven import write_logs

from tests.cli.halve_command import halve, inside
from tests.ingest.made_logs import make_store

pytestmark = pytest.mark.data

TESTS = Path(__file__).resolve().parents[1]
WAITING: dict[str, str] = {}
CASES = load("h")
KEYS = ("sk-FAKE1234567890abcdefFAKE", "AIzaFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE123")


def given(name: str) -> dict[str, Any]:
    case: dict[str, Any] = CASES[name]["minimal_input"]
    return case


def everything_in(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()


@pytest.mark.parametrize("name", ["LLMC-148", "LLMC-149"])
def test_no_raw_key_is_kept_anywhere(tmp_path: Path, name: str) -> None:
    """Not in a store, not in the quarantine, not in what the commands print."""
    data = tmp_path / "data"
    logs = write_logs(given(name), tmp_path / "logs")
    said = [
        halve(data, *command)
        for command in (
            ("ingest", logs, "--json"),
            ("analyze", "--json"),
            ("inspect", logs, "--json"),
            ("backup", tmp_path / "copy"),
        )
    ]
    assert all(answer.code == 0 for answer in said), said
    for key in KEYS:
        assert all(key not in answer.out + answer.err for answer in said)
        holders = [
            path for folder in (data, tmp_path / "copy") for path, kept in everything_in(folder) if key.encode() in kept
        ]
        assert holders == []


def test_llmc_148_the_address_is_kept_without_its_key(tmp_path: Path) -> None:
    shown = inside(tmp_path / "data", "inspect", write_logs(given("LLMC-148"), tmp_path / "logs"), "--json")
    assert "key=***" in shown.out or "generativelanguage" not in shown.out


def test_llmc_149_calls_of_one_raw_key_stay_together_and_hashes_stay_what_they_are(tmp_path: Path) -> None:
    record = given("LLMC-149")["record"]
    hashed = load("h")["LLMC-148"]["minimal_input"]["record"]["api_key"]
    records = [
        {**record, "request_id": "one"},
        {**record, "request_id": "two"},
        {**record, "request_id": "three", "api_key": hashed, "request_tags": [], "metadata": {}},
    ]
    logs = write_logs({"records": records}, tmp_path / "logs")
    store = make_store(tmp_path / "data")
    store.ingest(logs)
    keys = dict(store.rows("SELECT source_record, api_key_hash FROM requests"))
    assert keys["one"] == keys["two"] != keys["three"]
    assert None not in keys.values()
    store.warehouse.close()


def test_llmc_151_addresses_that_reach_inside_are_never_called() -> None:
    """Through the client that every outbound call uses, with all public hosts allowed."""
    *inner, public = given("LLMC-151")["records"]
    assert len(inner) == CASES["LLMC-151"]["expected"]["blocked_by_default"]
    with guarded_client(guard(frozenset({"*"}))) as client:
        for address in inner:
            with pytest.raises((ForbiddenError, UnavailableError)):
                client.get(address)
        assert client.follow_redirects is False
    assert [public] == CASES["LLMC-151"]["expected"]["allowed"]
    guard(frozenset({"*"}))("hooks.slack.com", "93.184.216.34")
