"""What batch jobs used, on both engines."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from app.analysis.batch_worth import JOB_PATH
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse, clickhouse_text
from app.warehouse.migrate import available
from tests.analysis.facts import SCHEMA, add_requests, open_warehouse

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

AT = 1_795_000_000_000_000


def made() -> list[dict[str, Any]]:
    rng = random.Random(5)
    return [
        {
            "request_key": key,
            "start_us": AT + rng.randrange(20_000_000_000),
            "provider": rng.choice(["openai", "anthropic"]),
            "model_id": rng.choice(["a", "b"]),
            "is_batch": key % 5 > 0,
            "tok_input": rng.choice([None, 900, 200_000, 202_000, 300_001]),
            "tok_output": rng.randrange(400),
            "cost_pusd": rng.choice([None, rng.randrange(10**12)]),
            "cost_state": rng.choice(["priced", "partly", "unpriced", "not_billed"]),
            "tags": None if key % 7 == 0 else json.dumps({"batch_job": f"batch_{key % 3}", "feature": "x"}),
        }
        for key in range(1, 300)
    ]


def test_the_usage_of_batch_jobs_is_the_same_on_both_engines(tmp_path: Path) -> None:
    values = {"job_path": JOB_PATH, "since_us": AT + 1_000_000_000}
    warehouse = open_warehouse()
    client = clickhouse_connect.get_client(dsn=f"chdb://{tmp_path / 'ch'}", settings=CLICKHOUSE_SETTINGS)
    try:
        with warehouse.writing() as session:
            add_requests(session, made())
        with warehouse.session() as session:
            expected = session.rows("batch.usage", **values)
            frame = session.connection.sql("SELECT * FROM requests").pl().select(list(SCHEMA))
        for _, name, sql in available():
            if name == "facts":
                for statement in clickhouse_text(sql, {}):
                    client.command(statement.sql)
        client.insert("requests", frame.rows(), column_names=frame.columns)
        (query,) = clickhouse("batch.usage", None, values)
        found = client.query(query.sql, parameters=query.values).result_rows
    finally:
        client.close()
        warehouse.close()
    assert expected
    assert sorted(map(plain, found), key=str) == sorted(map(plain, expected), key=str)


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(int(value) if isinstance(value, (bool, int)) or hasattr(value, "as_tuple") else value for value in row)
