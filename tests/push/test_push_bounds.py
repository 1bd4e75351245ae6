"""What pushing leaves behind is bounded by what was pushed last, not by all that ever was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from made_exports import export, protobuf, span

from app.main.background import Background
from app.main.runtime import opened
from app.settings import Settings
from app.warehouse import store
from ingest.push.journal import Pushed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BATCH = 400
PUSHES = 6
ROUNDS = 3
CHECKPOINT_AT = "1MB"


@pytest.fixture
def background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Background]:
    monkeypatch.setattr(store, "CHECKPOINT_AT", CHECKPOINT_AT)
    settings = Settings(data_dir=tmp_path / "data")
    with opened(settings) as runtime:
        made = Background(runtime, settings)
        made.pushes.journal.start()
        yield made
        made.pushes.journal.close()


def push(background: Background, first: int) -> None:
    body = protobuf(export(*(span(first + number, feature=f"f{number % 3}") for number in range(BATCH))))
    background.pushes.journal.add(Pushed("app", "spans", body)).result()
    background.take_inbox()


def state(background: Background) -> dict[str, Any]:
    data = background.runtime.data_dir
    with background.runtime.warehouse.session() as session:
        waiting = session.connection.execute(
            "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"
        ).fetchall()
        rows = session.connection.execute("SELECT count(*) FROM requests").fetchall()
        summed = session.connection.execute("SELECT count(*) FROM spend_hour").fetchall()
    log = data / "warehouse.duckdb.wal"
    return {
        "requests": rows[0][0],
        "sums": summed[0][0],
        "unsaved_bytes": waiting[0][0],
        "log_bytes": log.stat().st_size if log.exists() else 0,
        "inbox": sorted(entry.name for entry in (data / "inbox").iterdir() if not entry.name.startswith(".push")),
    }


def test_what_is_in_memory_and_waits_does_not_grow_with_what_was_pushed(background: Background) -> None:
    """Rows that are not in the file yet, the log of changes, segments and shards: of the last few pushes at most."""
    number = 0
    seen: list[dict[str, Any]] = []
    for _ in range(ROUNDS):
        for _ in range(PUSHES):
            push(background, number + 1)
            number += BATCH
        seen.append(state(background))
    assert [one["requests"] for one in seen] == [PUSHES * BATCH * (place + 1) for place in range(ROUNDS)]
    assert all(one["inbox"] == [] for one in seen)
    assert {one["sums"] for one in seen} <= {3}
    most = 3 * 2**20
    assert all(one["log_bytes"] < most and one["unsaved_bytes"] < 4 * most for one in seen), seen
