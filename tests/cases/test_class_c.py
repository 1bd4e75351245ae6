"""The reported cases about loss and doubling on the way in: each is driven by a named test."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest
from failure_cases import load

if TYPE_CHECKING:
    from collections.abc import Iterable

from app.analysis import spend
from app.core.money import pico
from app.core.view import View
from app.warehouse import rollup
from app.warehouse.store import Warehouse
from tests.cli.halve_command import HALVE, environment, halve, inside, service, wait_for
from tests.ingest.made_logs import lines, make_store

pytestmark = pytest.mark.data

TESTS = Path(__file__).resolve().parents[1]
CASES = load("c")
RATES = """
rates:
  - {provider: openai, model: priced-by-call, input: 0, output: 1000}
"""


def test_every_case_about_the_way_in_has_a_test() -> None:
    named = {key for path in TESTS.rglob("test_*.py") for key in CASES if _named(key, path.read_text(encoding="utf-8"))}
    assert CASES
    assert named == CASES.keys()


def _named(key: str, text: str) -> bool:
    return key in text.replace(key + '":', "") or key.lower().replace("-", "_") in text


def rows(count: int, output_tokens: int, **changes: Any) -> Iterable[str]:
    """Calls that cost what their output tokens cost, a thousandth of a dollar each."""
    for number in range(count):
        row = {
            "timestamp": 1_760_000_000 + number,
            "request_id": f"row-{number}",
            "model": "priced-by-call",
            "provider": "openai",
            "input_tokens": 10,
            "output_tokens": output_tokens,
            **{name: value.format(number) if type(value) is str else value for name, value in changes.items()},
        }
        yield json.dumps(row) + "\n"


@pytest.fixture(scope="module")
def price_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prices") / "prices.yml"
    path.write_text(RATES, encoding="utf-8")
    return path


def analysis(data: Path, price_file: Path) -> dict[str, Any]:
    answer = inside(data, "analyze", "--json", HALVE_PRICES=str(price_file))
    assert answer.code == 0, answer
    found: dict[str, Any] = answer.json
    return found


def test_llmc_083_a_failed_commit_and_a_kill_lose_nothing(tmp_path: Path, price_file: Path) -> None:
    """The commit fails on a disk that is full, the process is killed, and the next one finds every event."""
    expected = CASES["LLMC-083"]["expected"]
    data, log = tmp_path / "data", tmp_path / "log.jsonl"
    log.write_text("".join(rows(50, 10)), encoding="utf-8")
    assert inside(data, "migrate").code == 0
    rated = environment(data, HALVE_PRICES=str(price_file))
    codes = []
    for blocks in (1, 4, 16, 32):
        # No file may grow above so many KiB: first the shard does not fit, then the shard does and the commit does not.
        limited = f"ulimit -f {blocks}; exec {HALVE} ingest {log}"
        run = subprocess.run(
            ["bash", "-c", limited], env=rated, capture_output=True, text=True, check=False, timeout=120
        )
        codes.append(run.returncode)
        assert "Traceback" not in run.stderr
    assert codes[0] != 0, codes
    assert halve(data, "ingest", log, HALVE_PRICES=str(price_file)).code == 0
    found = analysis(data, price_file)
    assert found["requests"] == expected["events_stored"]
    assert Decimal(found["cost_usd"]) == Decimal(expected["cost_usd"])


def test_llmc_085_every_feature_of_one_flush_is_written(tmp_path: Path, price_file: Path) -> None:
    expected = CASES["LLMC-085"]["expected"]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(rows(250, 1, feature="feature-{}")), encoding="utf-8")
    data = tmp_path / "data"
    assert inside(data, "ingest", log, HALVE_PRICES=str(price_file)).code == 0
    found = analysis(data, price_file)
    named = [row for row in found["by_feature"] if row["name"].startswith("feature-")]
    assert len(named) == expected["feature_rows"]
    assert sum(Decimal(row["cost_usd"]) for row in found["by_feature"]) == Decimal(expected["cost_usd"])
    assert Decimal(found["cost_usd"]) == Decimal(expected["cost_usd"])
    warehouse = Warehouse(data, memory_limit="256MB")
    with warehouse.session() as session:
        days = spend.daily(session, View(spend.whole_period(session, "UTC")), by="feature", top=1000)
        assert rollup.differences(session) == []
    warehouse.close()
    assert len(days.groups) == expected["feature_rows"]
    assert sum(value or 0 for value in days.totals) == pico(expected["cost_usd"])


def test_llmc_086_eight_writers_at_once_drop_nothing(tmp_path: Path, price_file: Path) -> None:
    expected = CASES["LLMC-086"]["expected"]
    data = tmp_path / "data"
    assert inside(data, "migrate").code == 0
    writers = []
    for writer in range(8):
        log = tmp_path / f"{writer}.jsonl"
        made = rows(500, 1, request_id=f"w{writer}-{{}}", feature="same-key")
        log.write_text("".join(made), encoding="utf-8")
        writers.append(
            subprocess.Popen(
                [HALVE, "ingest", str(log)],
                env=environment(data, HALVE_PRICES=str(price_file)),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    said = [writer.communicate(timeout=300)[0] for writer in writers]
    failed = [text for writer, text in zip(writers, said, strict=True) if writer.returncode]
    assert all("Traceback" not in text for text in said), said
    for number, writer in enumerate(writers):
        if writer.returncode:
            # Whoever could not wait said so and is run again, as its message asks.
            assert halve(data, "ingest", tmp_path / f"{number}.jsonl", HALVE_PRICES=str(price_file)).code == 0, failed
    found = analysis(data, price_file)
    assert found["requests"] == expected["events_stored"]
    assert Decimal(found["cost_usd"]) == Decimal(expected["cost_usd"])


def test_llmc_088_an_import_beside_the_running_service_is_handed_over(tmp_path: Path) -> None:
    data, log = tmp_path / "data", tmp_path / "log.jsonl"
    log.write_text("".join(rows(40, 1)), encoding="utf-8")
    with service(data):
        handed = halve(data, "ingest", "--json", log)
        assert handed.code == 0, handed
        assert handed.json["handed_to_service"] is True
        assert "Traceback" not in handed.err
        wait_for(lambda: not list((data / "inbox").glob("[!.]*")), "the service takes the work over")
    assert inside(data, "analyze", "--json").json["requests"] == 40


COUNT_OPENED = """
import json, sys
from pathlib import Path
from tests.ingest.made_logs import make_store
opened = set()
logs = sys.argv[1]
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        name = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]
        if name.startswith(logs) and name.endswith(".jsonl"):
            opened.add(name)
sys.addaudithook(watch)
store = make_store(Path(sys.argv[2]))
summary = store.ingest(Path(logs))
store.warehouse.close()
print(json.dumps({"opened": len(opened), "stored": summary.stored}))
"""


def test_llmc_089_a_later_import_opens_only_what_changed(tmp_path: Path) -> None:
    expected = CASES["LLMC-089"]["expected"]
    logs, data = tmp_path / "logs", tmp_path / "data"
    logs.mkdir()
    for number in range(2000):
        (logs / f"{number:04}.jsonl").write_text(lines([number]), encoding="utf-8")
    store = make_store(data)
    assert store.ingest(logs).stored == 2000
    store.warehouse.close()
    for number in (3, 800, 1999):
        with (logs / f"{number:04}.jsonl").open("a", encoding="utf-8") as log:
            log.write(lines([10_000 + number]))
    child = subprocess.run(
        [sys.executable, "-c", COUNT_OPENED, str(logs), str(data)],
        env={**environment(data), "PYTHONPATH": f"{TESTS.parent}:{TESTS / 'ingest'}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert child.returncode == 0, child.stderr
    found = json.loads(child.stdout)
    assert found["stored"] == 3
    assert 3 <= found["opened"] <= expected["files_opened_at_most"]


def test_llmc_094_what_the_accounting_missed_is_found_in_the_source_log(tmp_path: Path, price_file: Path) -> None:
    """Six of ten events arrived; reading the gateway's own log brings the four others and doubles none."""
    expected = CASES["LLMC-094"]["expected"]
    data, arrived, log = tmp_path / "data", tmp_path / "arrived.jsonl", tmp_path / "gateway.jsonl"
    events = list(rows(10, 1))
    arrived.write_text("".join(events[:3] + events[7:]), encoding="utf-8")
    log.write_text("".join(events), encoding="utf-8")
    assert inside(data, "ingest", arrived, HALVE_PRICES=str(price_file)).code == 0
    again = inside(data, "ingest", "--json", log, HALVE_PRICES=str(price_file))
    assert again.json["stored"] == expected["reconciliation_report"]["missing_before"]
    assert inside(data, "ingest", "--json", log, HALVE_PRICES=str(price_file)).json["stored"] == 0
    assert analysis(data, price_file)["requests"] == expected["events_stored"]


def test_llmc_095_observations_without_an_id_are_kept_and_a_repeat_stays_one_row(tmp_path: Path) -> None:
    """What is answered with 200 is stored, whole; the missing id is made of source, time and content."""
    expected = CASES["LLMC-095"]["expected"]
    data = tmp_path / "data"
    key = inside(data, "keys", "create", "shop", "--scope", "ingest", "--source", "shop").out.strip()
    with service(data) as link:
        place = urlsplit(link)
        for _ in range(2):
            answer = httpx2.post(
                f"{place.scheme}://{place.netloc}/v1/ingest",
                json=CASES["LLMC-095"]["minimal_input"]["record"],
                headers={"Authorization": f"Bearer {key}"},
            )
            assert answer.status_code == 200, answer.text
        wait_for(lambda: not list((data / "inbox").glob("[!.]*")), "what was pushed is read")
    found = inside(data, "analyze", "--json").json
    assert found["requests"] == len(expected["per_item"])
    assert found["tokens"]["input"] == expected["input_tokens"]
