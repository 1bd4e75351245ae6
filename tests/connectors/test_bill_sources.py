"""Bills that the service pulls: every line of every report in the warehouse once, and a corrected day replaced."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.control import sources
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source
from app.settings import Settings
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY, PROTOCOLS, Protocol, Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.main.runtime import Runtime

DAYS = 9
TODAY = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)


@pytest.fixture(params=[one for one in PROTOCOLS if not one.requests], ids=lambda protocol: protocol.kind)
def bill(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Protocol, Table, FakeServer]]:
    """Three lines a day of nine days."""
    monkeypatch.setenv("FAKE_KEY", KEY)
    protocol: Protocol = request.param
    table = Table()
    for day in range(1, DAYS + 1):
        for n in range(3):
            table.add(TODAY - timedelta(days=day), f"line-{day}-{n}")
    with FakeServer(lambda asked: protocol.speak(table, asked)) as server:
        yield protocol, table, server


def _sums(runtime: Runtime) -> dict[Any, Any]:
    """Dollars by day."""
    with runtime.warehouse.session() as session:
        rows = session.connection.execute(
            "SELECT day, sum(cost) FROM billed WHERE cost IS NOT NULL GROUP BY day"
        ).fetchall()
    return {day: float(cost) for day, cost in rows}


def _expected(table: Table) -> dict[Any, float]:
    days = [moment.date() for moment, _ in table.rows]
    return {day: 0.25 * days.count(day) for day in days}


def test_every_line_counts_once_and_a_corrected_day_replaces_what_was_known(
    bill: tuple[Protocol, Table, FakeServer], tmp_path: Path
) -> None:
    protocol, table, server = bill
    settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    given = {"url": server.url, **protocol.options}
    add_source(settings, kind=protocol.kind, name="bill", given=given, every_us=0)
    with opened(settings) as runtime:
        work = Background(runtime, settings)
        for _ in range(2):
            assert work.run_due_sources() == [("bill", None)]
            assert _sums(runtime) == _expected(table)
        table.add(TODAY - timedelta(days=2), "line-that-came-late")
        assert work.run_due_sources() == [("bill", None)]
        assert _sums(runtime) == _expected(table)
        with runtime.warehouse.session() as session:
            assert session.connection.execute("SELECT count(*) FROM quarantine").fetchall() == [(0,)]
            assert session.connection.execute("SELECT count(*) FROM requests").fetchall() == [(0,)]
        assert sources.cursor(runtime.control, "bill").state == "ok"
