"""What Sources says was read and rejected adds up, files of no known layout and bad records included."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from dashboard_company import company
from starlette.testclient import TestClient

from app.pricing.book import PriceBook
from app.warehouse.priced import Pricer
from app.web.server import create_app
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("source", [None, "own"])
def test_files_and_rejected_records_are_those_that_the_reasons_count(tmp_path: Path, source: str | None) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    call = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-4o",
        "usage": usage,
    }
    (logs / "calls.jsonl").write_text(json.dumps(call | {"choices": []}) + "\n{broken\n")
    (logs / "colours.jsonl").write_text('{"colour": "red"}\n{"colour": "blue"}\n')
    (logs / "wide.json").write_bytes("ä".encode("utf-16"))
    made = company([], planned=False, no_access_control=True)
    for _ in range(2):  # what is read again counts once
        summary = ingest_paths(
            [logs],
            warehouse=made.deps.warehouse,
            pricer=Pricer(PriceBook.load(None)),
            data_dir=tmp_path / "data",
            source=source,
        )
        assert summary.files + summary.skipped == 3

    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:

        def rows(table: str) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = reader.get(f"/sources.json{table}").json()["rows"]
            return found

        reasons = sum(row["records"] for row in rows("?table=reasons"))
        assert reasons == 3
        for table in ("", "?table=records"):
            named = [row for row in rows(table) if row["source"] != "Total"]
            assert (sum(row["files"] for row in named), sum(row["rejected"] for row in named)) == (3, reasons), table
            assert sum(row["records_read"] for row in named) == 4
        asks = "Save how unknown is billed" in reader.get("/sources").text
        assert not asks, "what was refused is billed by nobody"
