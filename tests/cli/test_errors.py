"""What goes wrong at the command line: one message that says what happened, the documented exit code, nothing lost."""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.halve_command import HALVE, free_port, halve, inside, service
from tests.ingest.made_logs import line, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A superuser reads every file unless it gives that power away.
BOUND = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")
ROOT = os.geteuid() == 0
AS_READER = BOUND if ROOT else ()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that commands without a store of their own keep the compiled price book in."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    (folder / "calls.jsonl").write_text(lines(range(20)), encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", ["analyze", "inspect", "ingest", "replay --ttl 5m"])
def test_a_path_that_does_not_exist(home: Path, command: str) -> None:
    inside(home, *command.split(), "/nowhere/at/all").failed(1, "/nowhere/at/all", "does not exist", "Check the path")


@pytest.mark.parametrize("command", ["analyze", "inspect", "ingest"])
def test_a_folder_without_logs(home: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    inside(home, command, tmp_path).failed(1, f"{tmp_path} holds no log", ".jsonl")


def test_an_unknown_format_names_the_known_ones(home: Path, logs: Path) -> None:
    inside(home, "analyze", "--format", "nonsense", logs).failed(2, "'nonsense'", "openai_chat", "litellm_spend_logs")


def test_an_unknown_layout_says_how_to_go_on(home: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"when": 1772445600, "engine": "gpt-4o", "contexttokens": 10, "generatedtokens": 5}\n' * 3)
    answer = inside(home, "inspect", odd)
    assert answer.code == 0
    assert "UNKNOWN LAYOUT" in answer.out
    assert "model = engine" in answer.out
    assert "--map" in answer.out
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text('{"a": 1, "b": "x"}\n' * 3)
    inside(home, "analyze", nothing).failed(1, "No request could be read", "halve inspect", "--map")
    shown = inside(home, "inspect", nothing)
    assert shown.code == 0
    assert "No column map can be proposed" in shown.out


def test_the_proposed_column_map_can_be_given_back(home: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"when": 1772445600, "engine": "gpt-4o", "contexttokens": 10, "generatedtokens": 5}\n')
    (line_of_it,) = inside(home, "inspect", "--json", odd).lines
    assert line_of_it["kind"] == "unknown_layout"
    (read,) = inside(home, "inspect", "--json", "--map", line_of_it["column_map"], odd).lines
    assert (read["model"], read["tokens"]["input"], read["tokens"]["output"]) == ("gpt-4o", 10, 5)


@pytest.mark.parametrize(
    ("given", "phrase"), [("input_tokens", "column map"), ("nonsense=a", "'nonsense' is no field")]
)
def test_a_wrong_column_map(home: Path, logs: Path, given: str, phrase: str) -> None:
    answer = inside(home, "analyze", "--map", given, logs)
    answer.failed(answer.code, phrase)
    assert answer.code in (1, 2)


@pytest.mark.parametrize("command", ["analyze", "ingest"])
def test_a_wrong_zone_is_told_before_any_work(tmp_path: Path, logs: Path, command: str) -> None:
    data = tmp_path / "data"
    inside(data, command, logs, HALVE_ZONE="Nowhere/Land").failed(2, "'Nowhere/Land' is no time zone", "Europe/Berlin")
    assert not data.exists()


def test_a_wrong_zone_as_an_option(home: Path, logs: Path) -> None:
    inside(home, "analyze", "--zone", "Mars", logs).failed(2, "'Mars' is no time zone")


@pytest.mark.parametrize(
    ("setting", "value"),
    [("HALVE_PORT", "web"), ("HALVE_PORT", "99999"), ("HALVE_MEMORY", "lots"), ("HALVE_TEXT", "some")],
)
def test_a_setting_that_means_nothing(home: Path, setting: str, value: str) -> None:
    inside(home, "plan", **{setting: value}).failed(2, setting, value)


def test_a_port_that_is_none_is_a_wrong_call(home: Path) -> None:
    answer = inside(home, "serve", "--port", 99999)
    assert answer.code == 2
    assert "not in the range" in answer.err


@pytest.mark.parametrize("ttl", ["soon", "5", "-5m"])
def test_a_lifetime_that_means_nothing(home: Path, logs: Path, ttl: str) -> None:
    inside(home, "replay", logs, f"--ttl={ttl}").failed(2, f"{ttl!r} is no lifetime", "5m")


@pytest.mark.parametrize(
    ("name", "text", "phrases"),
    [
        ("own.csv", "provider,model,input\nopenai,gpt-4o-mini,cheap\n", ("own.csv, line 2", "'input'", "'cheap'")),
        ("own.yml", "rates:\n  - {provider: openai, model: gpt-4o, inputt: 3}\n", ("own.yml, line 2", "'inputt'")),
        ("own.yml", "rates:\n  - {model: gpt-4o, input: 3}\n", ("own.yml, line 2", "'provider'", "missing")),
        ("own.yml", "rates: [\n", ("own.yml, line", "YAML")),
    ],
)
def test_a_broken_price_file_names_line_and_field(
    home: Path, logs: Path, tmp_path: Path, name: str, text: str, phrases: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    inside(home, "analyze", "--prices", tmp_path / name, logs).failed(1, *phrases)


def test_a_missing_price_file(home: Path, logs: Path, tmp_path: Path) -> None:
    inside(home, "analyze", "--prices", tmp_path / "none.yml", logs).failed(1, "none.yml", "cannot be read")


def test_a_model_without_a_price_is_shown_as_unpriced_and_is_no_failure(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "own.jsonl"
    text = line(1).replace("gpt-4o-mini-2024-07-18", "our-own-model")
    log.write_text(text + line(2), encoding="utf-8")
    document = inside(home, "analyze", "--json", log)
    assert document.code == 0
    assert document.json["unpriced"]["models"] == ["our-own-model"]
    assert document.json["coverage"]["priced_share"] < 1
    own = next(row for row in document.json["by_model"] if row["name"] == "our-own-model")
    assert own["cost_usd"] is None
    text = inside(home, "analyze", log).out
    assert "our-own-model" in text
    assert "not in the price book" in text
    inside(home, "prices", "show", "our-own-model").failed(1, "No price for 'our-own-model'", "--prices")


def test_a_file_that_may_not_be_read(tmp_path: Path, logs: Path) -> None:
    if ROOT and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv to give up the power of root")
    folder = tmp_path / "logs"
    shutil.copytree(logs, folder)
    locked = folder / "locked.jsonl"
    locked.write_text(line(99), encoding="utf-8")
    locked.chmod(0)
    data = tmp_path / "data"
    halve(data, "ingest", locked, before=AS_READER).failed(1, "locked.jsonl cannot be read", "Permission denied")
    beside = halve(data, "ingest", "--json", folder, before=AS_READER)
    assert beside.code == 0
    assert (beside.json["stored"], beside.json["rejected"]) == (20, 1)
    assert "locked.jsonl cannot be read" in beside.json["problems"][0]
    locked.chmod(0o600)
    after = halve(data, "ingest", "--json", folder)
    assert (after.json["stored"], after.json["rejected"]) == (1, 0)


def test_a_folder_that_may_not_be_read(tmp_path: Path, logs: Path) -> None:
    if ROOT and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv to give up the power of root")
    folder = tmp_path / "logs"
    shutil.copytree(logs, folder)
    (folder / "locked").mkdir(mode=0)
    halve(tmp_path / "data", "ingest", folder, before=AS_READER).failed(1, "locked cannot be read", "Nothing was read")


def test_a_data_folder_that_cannot_be_made(logs: Path, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("", encoding="utf-8")
    for arguments in (("ingest", logs), ("plan",), ("sources", "list"), ("doctor",)):
        inside(place, *arguments).failed(1, str(place), "HALVE_DATA_DIR" if arguments[0] != "doctor" else "data folder")


def test_a_damaged_archive_gives_what_it_still_holds_and_says_where_it_ends(home: Path, tmp_path: Path) -> None:
    whole = gzip.compress(lines(range(3000)).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    answer = inside(tmp_path / "data", "ingest", "--json", tmp_path / "cut.jsonl.gz")
    assert answer.code == 0
    assert answer.json["stored"] > 1000
    assert answer.json["rejected"] == 1
    assert "damaged" in answer.json["problems"][0]
    (tmp_path / "empty.jsonl.gz").write_bytes(whole[:12])
    inside(home, "analyze", tmp_path / "empty.jsonl.gz").failed(1, "No request could be read", "empty.jsonl.gz")


def test_records_that_cannot_be_read_and_nothing_else_are_a_failure(tmp_path: Path) -> None:
    (tmp_path / "torn.jsonl").write_text('{"id": "a", "mod\n{"id": \n', encoding="utf-8")
    answer = inside(tmp_path / "data", "ingest", tmp_path / "torn.jsonl")
    assert answer.code == 1
    assert "rejected" in answer.out


@pytest.mark.parametrize(
    ("arguments", "code", "phrase"),
    [
        (("sources", "add", "litellm", "--url", "http://127.0.0.1:1", "--token", "sk-plain-secret"), 2, "env:NAME"),
        (("sources", "add", "litellm", "--url", "http://127.0.0.1:1", "--token", "env:UNSET_NAME"), 2, "UNSET_NAME"),
        (("sources", "add", "litellm"), 2, "needs url, key"),
        (("sources", "add", "folder"), 2, "needs path"),
        (("sources", "add", "no-such-kind"), 2, "Halve pulls from: folder, litellm"),
        (("sources", "billing", "nobody", "api"), 1, "nobody"),
        (("plan",), 1, "halve analyze"),
        (("prices", "quote", "/nowhere.jsonl"), 1, "/nowhere.jsonl cannot be read"),
    ],
)
def test_other_calls_that_cannot_be_done(tmp_path: Path, arguments: tuple[str, ...], code: int, phrase: str) -> None:
    assert inside(tmp_path, "migrate").code == 0
    answer = inside(tmp_path, *arguments)
    answer.failed(code, phrase)
    assert "sk-plain-secret" not in answer.err


def test_a_backup_never_overwrites(tmp_path: Path, logs: Path) -> None:
    inside(tmp_path / "data", "backup", logs).failed(2, "is not empty")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if not ROOT or mount is None:
        pytest.skip("needs root to mount a small disk")
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_data_folder_that_cannot_be_written_is_not_blamed_on_another_process(small_disk: Path, logs: Path) -> None:
    data = small_disk / "data"
    assert halve(data, "ingest", logs).code == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for arguments in (("analyze",), ("doctor",), ("ingest", logs)):
        answer = halve(data, *arguments)
        answer.failed(1, "must be writable", "HALVE_DATA_DIR")
        assert "process" not in answer.err


def test_a_full_disk_loses_nothing_that_was_committed(small_disk: Path, tmp_path: Path) -> None:
    log = tmp_path / "many.jsonl"
    with log.open("w", encoding="utf-8") as file:
        for number in range(12_000):
            file.write(line(number, system=f"You answer for shop {number}.\n" * 20))
    data = small_disk / "data"
    halve(data, "ingest", log).failed(1, "No space left on device", "lost", "repeat")
    subprocess.run(["mount", "-o", "remount,size=400m", str(small_disk)], check=True)
    answer = halve(data, "ingest", "--json", log)
    assert answer.code == 0, answer
    checks = {check["name"]: check for check in halve(data, "doctor", "--json").json}
    assert "12,000 requests, 0 doubled keys" in checks["one call, one row"]["message"]
    assert checks["roll-ups equal facts"]["ok"]


def test_a_port_in_use(home: Path) -> None:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        port = door.getsockname()[1]
        halve(home, "serve", "--port", port).failed(1, f"Port {port}", "Address already in use", "--port")


def test_a_second_process_is_told_who_holds_the_warehouse(tmp_path: Path, logs: Path) -> None:
    data = tmp_path / "data"
    with service(data):
        for arguments in (("analyze",), ("doctor",), ("migrate",)):
            halve(data, *arguments).failed(1, "service is running", "top it")
        halve(data, "serve", "--port", free_port()).failed(1, "Another Halve process")
        halve(data, "backup", tmp_path / "copy").failed(1, "service is running", "Stop it")
        assert not (tmp_path / "copy").exists()
    assert halve(data, "ingest", logs).code == 0


def test_an_impossible_and_an_unreadable_count_spoil_no_figure_and_are_named(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "mixed.jsonl"
    bad = [{"prompt_tokens": 9e15, "completion_tokens": 10}, {"prompt_tokens": -5, "completion_tokens": 10}]
    bad.append({"prompt_tokens": float("nan"), "completion_tokens": 10})
    log.write_text(
        "".join(line(number) for number in range(3)) + "".join(line(9 + n, usage=b) for n, b in enumerate(bad))
    )
    document = inside(home, "analyze", "--json", log).json
    assert document["tokens"]["input"] == 100 + 101 + 102
    assert document["tokens"]["output"] == 6 * 10
    assert document["coverage"]["priced_share"] == pytest.approx(333 / 363, abs=1e-6)
    (detail,) = document["unpriced"]["details"]
    assert (detail["cost_state"], detail["requests"], detail["unreadable"]) == ("unknown", 3, 3)
    text = inside(home, "analyze", log).out
    assert "a count is unreadable" in text
    assert "no usage logged" not in text


def test_a_call_without_usage_is_not_called_unreadable(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(1) + line(2, usage=None))
    text = inside(home, "analyze", tmp_path / "a.jsonl").out
    assert "no usage logged" in text
    assert "unreadable" not in text


def test_rejected_records_are_named_with_their_place_and_reason(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "torn.jsonl"
    log.write_text(line(1) + "{torn\n" * 5)
    document = inside(home, "analyze", "--json", log).json
    assert document["rejected"] == 5
    assert [one.partition(": ")[0] for one in document["rejected_examples"]] == [f"{log}:{n}" for n in (2, 3, 4)]
    text = inside(home, "analyze", log).out
    assert "torn.jsonl:2" in " ".join(text.split())
    assert "malformed" in text
    assert "`halve inspect` on the same logs shows every rejected record." in text
    (tmp_path / "good.jsonl").write_text(line(1))
    assert "inspect" not in inside(home, "analyze", tmp_path / "good.jsonl").out


@pytest.mark.parametrize("name", ["corrupt.jsonl.gz", "nul.jsonl"])
def test_a_file_without_one_readable_byte_is_a_failure_with_its_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8b" + b"garbage" * 9 if name.endswith("gz") else bytes(999))
    answer = inside(tmp_path / "data", "ingest", tmp_path / name)
    assert answer.code == 1
    assert "1 rejected" in answer.out
    (shown,) = inside(tmp_path / "data", "inspect", "--json", tmp_path / name).lines
    assert shown["kind"] == "rejected"
    assert shown["reason"]


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for arguments in (("analyze", tmp_path / "pipe"), ("ingest", "-"), ("inspect", tmp_path / "pipe")):
        halve(tmp_path / "data", *arguments).failed(1, "is no file but a pipe")
    read_end, write_end = os.pipe()
    os.close(write_end)
    with os.fdopen(read_end) as nothing:
        done = subprocess.run(
            ["halve", "analyze", "/dev/stdin"],
            executable=HALVE,
            stdin=nothing,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, "is no file but a pipe" in done.stderr) == (1, True)
