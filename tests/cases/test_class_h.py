"""The reported cases about hostile input, secrets and reach: each is driven by a named test, or waits with a reason."""

from __future__ import annotations

import stat
import zipfile
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
from tests.ingest.made_logs import line, make_store

pytestmark = pytest.mark.data

TESTS = Path(__file__).resolve().parents[1]
CASES = load("h")
KEYS = ("sk-FAKE1234567890abcdefFAKE", "AIzaFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE123")


def test_every_case_about_hostile_input_has_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    names = {name: (name, name.lower().replace("-", "_"), f"_{name[-3:]}_") for name in CASES}
    assert CASES
    assert {name for name, words in names.items() if any(word in text for text in texts for word in words)} == set(
        CASES
    )


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
    store = make_store(tmp_path / "data")
    store.ingest(write_logs(given("LLMC-148"), tmp_path / "logs"))
    error = store.one("SELECT error FROM requests")
    store.warehouse.close()
    assert "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent?" in error
    assert CASES["LLMC-148"]["expected"]["redaction_marker"] in error


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


def test_llmc_154_archive_entries_that_lead_out_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    case, expected = given("LLMC-154"), CASES["LLMC-154"]["expected"]
    place = tmp_path / "in" / "logs.zip"
    place.parent.mkdir()
    with zipfile.ZipFile(place, "w") as archive:
        for number, name in enumerate(case["records"]):
            entry = zipfile.ZipInfo(name.split(" -> ")[0])
            if "symlink" in name:
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, "/etc/passwd" if "symlink" in name else line(number))
    before = {path for path in tmp_path.rglob("*") if path != tmp_path / "data"}
    store = make_store(tmp_path / "data")
    summary = store.ingest(place)
    assert (summary.stored, summary.rejected) == (len(expected["extracted"]), expected["rejected"])
    refused = store.rows("SELECT file FROM quarantine WHERE reason LIKE '%leads out of the archive%'")
    assert len(refused) == expected["rejected"]
    store.warehouse.close()
    outside = {path for path in tmp_path.rglob("*") if (tmp_path / "data") not in (path, *path.parents)}
    assert len(outside - before) == expected["written_outside"]


def test_llmc_155_only_what_lies_under_a_root_is_read(tmp_path: Path) -> None:
    """No page takes a path; of a command's paths the real one must lie under a root that the operator named."""
    expected = CASES["LLMC-155"]["expected"]["http_status"]
    root = tmp_path / "data" / "imports"
    root.mkdir(parents=True)
    (root / "ok.jsonl").write_text(line(1), encoding="utf-8")
    (root / "link-to-etc").symlink_to("/etc")
    codes = []
    for number, record in enumerate(given("LLMC-155")["records"]):
        path = record["import_path"].replace("/data/imports", str(root))
        path = str(root) if path.endswith("ok.jsonl") else path
        answer = inside(
            tmp_path / "halve", "sources", "add", "folder", f"source-{number}", "--path", path,
            HALVE_INGEST_ROOTS=str(root),
        )  # fmt: skip
        assert "root:" not in answer.err + answer.out
        codes.append(answer.code)
    assert [code == 0 for code in codes] == [status == 202 for status in expected]
    listed = inside(tmp_path / "halve", "sources", "list", "--json").json
    assert [row["name"] for row in listed] == ["source-4"]
