"""Made log lines and a store to read them into, shared by the tests of ingest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ingest.summary import Summary

SYSTEM = "You are a helpful assistant of a shop.\nAnswer briefly."


def call(number: int, **changes: Any) -> dict[str, Any]:
    """One exchange with the OpenAI chat API; `usage`, `system`, `user` and envelope fields may be changed."""
    usage = changes.pop("usage", {"prompt_tokens": 100 + number, "completion_tokens": 10, "total_tokens": 110 + number})
    system, user = changes.pop("system", SYSTEM), changes.pop("user", f"question {number}")
    response_id = changes.pop("response_id", f"chatcmpl-{number:024d}")
    return {
        "timestamp": 1_760_000_000 + number,
        "latency_ms": 500,
        "request": {
            "model": "gpt-4o-mini",
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            **changes.pop("request", {}),
        },
        "response": {
            "id": response_id,
            "object": "chat.completion",
            "model": "gpt-4o-mini-2024-07-18",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
            "usage": usage,
        },
        **changes,
    }


def line(number: int, **changes: Any) -> str:
    return json.dumps(call(number, **changes), separators=(",", ":")) + "\n"


def lines(numbers: Iterable[int], **changes: Any) -> str:
    return "".join(line(number, **changes) for number in numbers)


@dataclass(frozen=True)
class Store:
    """A warehouse in a folder of its own and the ways tests look at it."""

    warehouse: Warehouse
    data_dir: Path

    def ingest(self, *paths: Path, **options: Any) -> Summary:
        summary = ingest_paths(
            paths, warehouse=self.warehouse, pricer=Unpriced(), data_dir=self.data_dir, **({"workers": 0} | options)
        )
        parts = (summary.stored, summary.updated, summary.merged, summary.benign, summary.rejected)
        assert summary.read == sum(parts), summary
        return summary

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.warehouse.session() as session:
            return session.connection.execute(sql).fetchall()

    def one(self, sql: str) -> Any:
        ((value,),) = self.rows(sql)
        return value

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """All facts, in an order of their own: equal for equal stores."""
        tables = ("requests", "request_parts", "segments", "lines", "sources")
        return {table: sorted(self.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


def make_store(data_dir: Path) -> Store:
    warehouse = Warehouse(data_dir, memory_limit="256MB")
    migrate(warehouse)
    return Store(warehouse, data_dir)
