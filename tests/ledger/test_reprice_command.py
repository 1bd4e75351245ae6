"""`halve prices reprice`, `versions` and `rollback` as a person meets them: alone, beside the service, and killed."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.cases.failure_cases import load
from tests.cli.halve_command import environment, halve, inside, service

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.halve_command import Answer

FIRST = 'rates:\n  - {provider: made, model: made-1, from: "2026-06-01", input: "1", output: "2"}\n'
CORRECTED = FIRST.replace('input: "1"', 'input: "1.5"')


def log_of(path: Path, calls: Sequence[dict[str, Any]]) -> Path:
    lines = [{"provider": "made", "model": "made-1", **call} for call in calls]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def prices(folder: Path, text: str, name: str = "prices.yml") -> Path:
    (folder / name).write_text(text)
    return folder / name


def taken_in(tmp_path: Path, calls: int = 48) -> Path:
    """A data folder with calls an hour apart, priced by the first price file."""
    made = [
        {"timestamp": 1_782_864_000 + hour * 3600, "input_tokens": 1000 + hour, "output_tokens": 10}
        for hour in range(calls)
    ]
    data = tmp_path / "data"
    answer = inside(data, "ingest", log_of(tmp_path / "log.jsonl", made), HALVE_PRICES=str(prices(tmp_path, FIRST)))
    assert answer.code == 0, answer
    return data


def reprice(data: Path, *arguments: object) -> Any:
    answer = inside(data, "prices", "reprice", "--json", *arguments)
    assert answer.code == 0, answer
    return answer.json


def spend(data: Path) -> Decimal:
    """The total of the Spend page of a service-less folder, by the command that prints it."""
    answer = inside(data, "analyze", "--json")
    assert answer.code == 0, answer
    return sum((Decimal(row["cost_usd"] or 0) for row in answer.json["by_model"]), Decimal())


@pytest.mark.data
def test_llmc_034_a_corrected_price_reprices_history_deliberately_and_keeps_what_was(tmp_path: Path) -> None:
    case = load("a")["LLMC-034"]
    called, row, correction, action = case["minimal_input"]["steps"]
    call, expected = called["ingest"], case["expected"]
    at = datetime.fromisoformat(call["at"]).astimezone(UTC).timestamp()
    model = call["model"]

    def table(entry: dict[str, Any]) -> str:
        rates = f'input: "{entry["input"]}", output: "{entry["output"]}"'
        return f'rates:\n  - {{provider: made, model: {model}, from: "{entry["valid_from"]}", {rates}}}\n'

    log = log_of(
        tmp_path / "log.jsonl",
        [{"model": model, "timestamp": at, "input_tokens": call["input"], "output_tokens": call["output"]}],
    )
    data = tmp_path / "data"
    before = prices(tmp_path, table(row["price_row"]))
    assert inside(data, "ingest", log, HALVE_PRICES=str(before)).code == 0
    assert spend(data) == Decimal(expected["cost_usd_before"])
    after = prices(tmp_path, table(correction["correction"]), "corrected.yml")
    first, last = action["range"]
    arguments = ("--prices", after, "--from", first, "--to", last)
    tried = reprice(data, *arguments)
    assert [(item["reason"], item["day"]) for item in tried["changes"]] == [("corrected", "2026-07-01")]
    assert spend(data) == Decimal(expected["cost_usd_before"]), "a dry run changes nothing"
    reprice(data, *arguments, "--apply", "--why", "the row was wrong")
    assert spend(data) == Decimal(expected["cost_usd_after"])
    (entry,) = inside(data, "prices", "versions", "--json").json
    assert entry["why"] == "the row was wrong"
    assert entry["who"]
    assert (entry["before_usd"], entry["after_usd"]) == (expected["cost_usd_before"], expected["cost_usd_after"])
    assert inside(data, "prices", "rollback", "0", "--apply").code == 0
    assert spend(data) == Decimal(expected["cost_usd_before"]), "the old value was kept"


def answer(number: int, model: str, **usage: object) -> str:
    """A logged answer with a strong id."""
    counts = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010, **usage}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}
    record = {"id": f"chatcmpl-{number:029d}", "object": "chat.completion", "created": 1_782_864_000 + number}
    return json.dumps({**record, "model": model, "choices": [choice], "usage": counts}) + "\n"


def test_a_log_that_is_read_again_keeps_its_figures_whatever_its_prices_said_of_it(tmp_path: Path) -> None:
    rates = "rates:\n  - {provider: unassigned, model: known, input: 1, output: 1}\n"
    later = (
        rates.replace("input: 1,", "input: 3,") + "  - {provider: unassigned, model: unknown, input: 5, output: 5}\n"
    )
    told = [answer(1, "known"), answer(2, "unknown"), answer(3, "known", cost=0.5)]
    (tmp_path / "log.jsonl").write_text("".join(told))
    (tmp_path / "copy.jsonl").write_text("".join(reversed(told)))
    data, kept = tmp_path / "data", ("provider_response_id", "cost_usd", "cost_state", "price_row", "warnings")
    assert inside(data, "ingest", tmp_path / "log.jsonl", HALVE_PRICES=str(prices(tmp_path, rates))).code == 0

    def figures() -> list[tuple[str, ...]]:
        (tmp_path / "out.csv").unlink(missing_ok=True)
        assert inside(data, "export", "csv", "--out", tmp_path / "out.csv").code == 0
        with (tmp_path / "out.csv").open(newline="") as stream:
            return sorted(tuple(row[name] for name in kept) for row in csv.DictReader(stream))

    before = figures()
    assert {row[4] for row in before} >= {"unknown_model", "reported_cost_disagrees"}
    again = inside(data, "ingest", tmp_path / "copy.jsonl", "--json", HALVE_PRICES=str(prices(tmp_path, later)))
    assert (again.json["merged"], again.json["updated"]) == (3, 0), again
    assert figures() == before, "figures change by a version of the ledger, and by nothing else"
    assert reprice(data, "--prices", tmp_path / "prices.yml", "--apply")["changed"] == 3


def test_a_dry_run_adds_up_and_says_why(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    found = reprice(
        data, "--prices", prices(tmp_path, CORRECTED, "new.yml"), "--from", "2026-07-01", "--to", "2026-07-01"
    )
    assert (found["requests"], found["changed"], found["applied"]) == (24, 24, False)
    before = sum(1000 + hour for hour in range(24)) * Decimal("0.000001") + 24 * 10 * Decimal("0.000002")
    assert Decimal(found["before_usd"]) == before
    changes = found["changes"]
    assert Decimal(found["difference_usd"]) == sum(Decimal(item["difference_usd"]) for item in changes)
    assert Decimal(found["after_usd"]) == Decimal(found["unchanged_usd"]) + sum(
        Decimal(item["after_usd"]) for item in changes
    )
    assert {item["why"] for item in changes} == {"the price row says another rate"}
    text = inside(data, "prices", "reprice", "--prices", tmp_path / "new.yml").out
    assert "Nothing was changed. `--apply` does it" in text
    assert "made-1" in text


def test_the_running_service_reprices_for_the_command_and_its_pages_show_it(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    new = prices(tmp_path, CORRECTED, "new.yml")
    with service(data):
        tried: Any = halve(data, "prices", "reprice", "--json", "--prices", new).json
        done: Any = halve(data, "prices", "reprice", "--json", "--prices", new, "--apply").json
        assert (done["version"], done["state"], done["changed"]) == (1, "whole", 48)
        assert done["changes"] == tried["changes"]
        assert [item["version"] for item in halve(data, "prices", "versions", "--json").json] == [1]
        assert halve(data, "prices", "versions", "1", "--json").json["changes"] == done["changes"]
        halve(data, "prices", "rollback", "7").failed(1, "There is no version 7 to go back to", "the newest is 1")
        halve(data, "prices", "reprice", "--prices", tmp_path / "none.yml").failed(1, "none.yml")
    assert spend(data) == Decimal(done["after_usd"])


STEPS = """
import sys
from dataclasses import replace
from app import settings
from app.main import repricing
from app.main.runtime import opened
with opened(settings.load()) as runtime:
    wish = repricing.Wish(prices=sys.argv[1], who="test")
    while not (done := repricing.applied(runtime, settings.load(), wish, turn_s=0, slice_rows=4))["finished"]:
        print(done["slices_left"], flush=True)
"""


def killed_after(data: Path, file: Path, steps: int) -> None:
    """Apply in slices of four requests and kill the process after some of them."""
    with subprocess.Popen(
        [sys.executable, "-c", STEPS, str(file)], stdout=subprocess.PIPE, text=True, env=environment(data)
    ) as process:
        assert process.stdout is not None
        for _ in range(steps):
            assert process.stdout.readline()
        process.kill()


def test_a_killed_run_goes_on_where_it_stopped_and_counts_nothing_twice(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    new = prices(tmp_path, CORRECTED, "new.yml")
    tried = reprice(data, "--prices", new)
    random.seed(5)
    for _ in range(2):
        killed_after(data, new, random.randint(1, 3))
    (version,) = inside(data, "prices", "versions", "--json").json
    assert version["state"] == "unfinished"
    assert 0 < version["changed"] < 48
    assert inside(data, "doctor").code == 0, "facts and roll-ups agree in the middle"
    other = prices(tmp_path, CORRECTED.replace("1.5", "9"), "other.yml")
    halve(data, "prices", "reprice", "--prices", other, "--apply").failed(
        1, "Version 1 was begun and not finished", "new.yml"
    )
    done = reprice(data, "--prices", new, "--apply")
    assert (done["version"], done["state"], done["changed"]) == (1, "whole", 48)
    assert done["changes"] == tried["changes"]
    assert (done["before_usd"], done["after_usd"]) == (tried["before_usd"], tried["after_usd"])


def test_an_unfinished_version_can_be_given_up(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    paid = spend(data)
    killed_after(data, prices(tmp_path, CORRECTED, "new.yml"), 2)
    back: Answer = inside(data, "prices", "rollback", "--json", "--apply")
    assert (back.json["version"], back.json["restores"]) == (2, 0)
    assert [item["state"] for item in inside(data, "prices", "versions", "--json").json] == ["whole", "left"]
    assert spend(data) == paid


def test_wrong_calls_say_what_is_wrong(tmp_path: Path) -> None:
    data = taken_in(tmp_path, 1)
    halve(data, "prices", "rollback").failed(1, "nothing was priced anew")
    halve(data, "prices", "reprice", "--from", "soon").failed(2, "soon..soon")
    halve(data, "prices", "reprice", "--from", "2026-07-02", "--to", "2026-07-01").failed(2, "lies before")
    halve(data, "prices", "versions", "3").failed(1, "There is no version 3")


def test_a_plan_from_before_says_that_its_prices_are_old(tmp_path: Path) -> None:
    data = taken_in(tmp_path)
    spend(data)  # makes a plan
    assert not [note for note in inside(data, "plan", "--json").json["notes"] if "priced anew" in note]
    reprice(data, "--prices", prices(tmp_path, CORRECTED, "new.yml"), "--apply")
    (note,) = [note for note in inside(data, "plan", "--json").json["notes"] if "priced anew" in note]
    assert "(version 1)" in note
    assert note in " ".join(inside(data, "plan").out.split())
    spend(data)
    assert "priced anew" not in inside(data, "plan").out
