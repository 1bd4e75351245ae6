"""Two logs that were read under one name and tell of the same calls: said where a person sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from app.cli import main

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 30
Row = dict[str, Any]


def rows(name: str, *, late_s: int = 0, count: int = CALLS, every: int = 1, own_ids: bool = False) -> list[Row]:
    """Calls of a model a minute apart, of which `every`th have other tokens than those of another name."""
    told = [
        {
            "request_id": f"{name}-{number}",
            "response_id": f"chatcmpl-{name}{number:024}" if own_ids else None,
            "timestamp": f"2026-03-02T10:{number:02}:{10 + late_s:02}Z",
            "provider": "openai",
            "model": "gpt-4o",
            "input_tokens": 1000 + 17 * number + (0 if number % every == 0 else len(name)),
            "output_tokens": 50 + number,
        }
        for number in range(count)
    ]
    return [{key: value for key, value in row.items() if value is not None} for row in told]


def written(folder: Path, name: str, told: list[Row]) -> str:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in told))
    return str(path)


def run(*arguments: str) -> Any:
    done = CliRunner().invoke(main, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALVE_DATA_DIR", str(tmp_path / "data"))


def doctors_word() -> str:
    (found,) = [check["message"] for check in run("doctor") if check["name"] == "one call, one log"]
    return str(found)


def test_two_logs_of_the_same_calls_under_one_name_are_named_with_what_they_cost(tmp_path: Path) -> None:
    first = written(tmp_path, "gateway", rows("gateway"))
    second = written(tmp_path, "application", rows("application", late_s=1))
    assert run("ingest", first)["problems"] == []
    (said,) = run("ingest", second)["problems"]
    assert "gateway.jsonl and application.jsonl are both kept as generic_rows and have 30 calls alike" in said
    cost = sum((1000 + 17 * n) * 2.5 + (50 + n) * 10 for n in range(CALLS)) / 1e6
    assert f"they count twice, ${cost:.6f}" in said
    assert "30 calls alike" in doctors_word()
    (told,) = run("analyze", first, second)["alike_logs"]
    assert "30 calls alike" in told


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (rows("app", late_s=30), "half a minute apart"),
        (rows("app", every=10), "three of thirty alike"),
        (rows("app", count=4), "four alike"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_calls_that_differ_or_are_few_are_no_sign(tmp_path: Path, other: list[Row], why: str) -> None:
    run("ingest", written(tmp_path, "gateway", rows("gateway")))
    assert run("ingest", written(tmp_path, "app", other))["problems"] == [], why
    assert doctors_word() == "no two logs of a source have calls alike"


def test_equal_calls_with_ids_of_their_own_are_different_calls(tmp_path: Path) -> None:
    run("ingest", written(tmp_path, "worker-1", rows("a", own_ids=True)))
    assert run("ingest", written(tmp_path, "worker-2", rows("b", own_ids=True)))["problems"] == []


def test_a_probe_that_two_workers_send_all_the_time_is_no_sign(tmp_path: Path) -> None:
    """Equal calls every second meet with a clock moved, too."""

    def probes(name: str) -> list[Row]:
        return [
            {
                "request_id": f"{name}-{second}",
                "timestamp": 1_772_445_600 + second,
                "model": "gpt-4o",
                "input_tokens": 10,
                "output_tokens": 1,
            }
            for second in range(4_000)
        ]

    run("ingest", written(tmp_path, "worker-1", probes("a")))
    assert run("ingest", written(tmp_path, "worker-2", probes("b")))["problems"] == []


def test_logs_under_names_of_their_own_are_compared_as_sources_and_count_once(tmp_path: Path) -> None:
    run("ingest", written(tmp_path, "gateway", rows("gateway")), "--source", "gateway")
    assert run("ingest", written(tmp_path, "app", rows("app", late_s=1)), "--source", "app")["problems"] == []
    assert doctors_word() == "no two logs of a source have calls alike"
