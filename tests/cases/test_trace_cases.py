"""Cases of classes d and h that are traces: totals of a list and of its rows agree, and markup stays text."""

from __future__ import annotations

from dataclasses import MISSING, fields
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from dashboard_company import NOW_US
from driven import calls_in, driven, priced_as_logged, write_logs
from failure_cases import load
from starlette.testclient import TestClient

from app.control.database import migrate, open_control
from app.web.commands import Commands, Progress
from app.web.deps import Deps
from app.web.server import create_app

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.data

CASES = load("dh")
RATES = {"provider": "openai", "model": "gpt-4o", "input": "2.50", "cache_read": "1.25", "output": "10"}


def no_commands() -> Commands:
    def never(*given: object) -> None:
        raise AssertionError(given)

    needed = [field.name for field in fields(Commands) if field.default is MISSING]
    return Commands(**{**dict.fromkeys(needed, never), "status": Progress})  # type: ignore[arg-type]


def test_llmc_101_a_traces_total_is_the_sum_of_its_calls(tmp_path: Path) -> None:
    case = CASES["LLMC-101"]
    expected = case["expected"]["trace"]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    with driven([logs], tmp_path / "store", [RATES]) as outcome:
        (row,) = outcome.requests
        assert (row["tokens"]["input"], row["tokens"]["output"]) == (expected["input"], expected["output"])
        assert Decimal(row["cost_usd"]) == Decimal(expected["cost_usd"]) == Decimal(outcome.shown_cost or 0)


def test_llmc_145_markup_in_names_tags_and_models_is_shown_as_text(tmp_path: Path) -> None:
    case = CASES["LLMC-145"]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    with driven([logs], tmp_path / "store", priced_as_logged(case["expected"], calls_in(logs))) as outcome:
        control = open_control(None)
        migrate(control)
        deps = Deps(
            warehouse=outcome.warehouse,
            control=control,
            commands=no_commands(),
            zone="UTC",
            now=lambda: NOW_US,
            no_access_control=True,
        )
        (row,) = outcome.requests
        key = f"{int(row['request_key']) % 2**64:016x}"
        with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:
            for path in (
                "/?period=all",
                "/?period=all&by=model",
                "/requests?period=all",
                f"/requests/{key}",
                "/sources",
            ):
                page = reader.get(path)
                assert page.status_code == 200, path
                policy = page.headers["content-security-policy"]
                assert "unsafe-inline" not in policy, path
                assert "<svg onload" not in page.text, path
                assert "<script>alert" not in page.text, path
                assert 'href="javascript:' not in page.text, path
            listed = reader.get("/requests.json?period=all").json()["rows"]
            assert [one["feature"] for one in listed] == ["javascript:alert(1)"]
            assert "onload=alert(1)" in reader.get("/?period=all&by=model").text, "it is shown, as text"
        control.dispose()
