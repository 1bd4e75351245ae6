"""Anthropic's message batches: create, list, retrieve, results, cancel. No metadata, counts only at the end."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .peer import AnswerError, Peer

if TYPE_CHECKING:
    from collections.abc import Callable

SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class AnthropicPeer(Peer):
    """`fate(custom id, params)` is succeeded, errored:TYPE, expired or canceled."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self.batches: dict[str, dict[str, Any]] = {}
        self.fate: Callable[[str, dict[str, Any]], str] = lambda _id, _params: "succeeded"
        self.shuffle = True

    def sent(self) -> list[tuple[str, dict[str, Any]]]:
        """Every (safe id, params) of every batch of ours."""
        return [
            (row["custom_id"], row["params"])
            for batch in self.batches.values()
            if not batch.get("foreign")
            for row in batch["requests"]
        ]

    def charged(self) -> list[str]:
        """The message id of every request that was answered."""
        return [
            line["result"]["message"]["id"]
            for batch in self.batches.values()
            if not batch.get("foreign")
            for line in self.output_of(batch)
            if line["result"]["type"] == "succeeded"
        ]

    def add_foreign(self, size: int) -> str:
        """Another program of the same account makes a batch of its own."""
        rows = [{"custom_id": f"theirs-{number}", "params": {"model": "claude-x"}} for number in range(size)]
        batch = self._new(rows)
        batch["foreign"] = True
        return str(batch["id"])

    def error(self, code: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": code, "message": message}}

    def respond(self, method: str, path: str, query: dict[str, str], body: Callable[[], bytes], headers: Any) -> Any:
        match [method, *path.removeprefix("/v1/messages/").split("/")]:
            case ["POST", "batches"]:
                data = body()
                with self.operation("create"):
                    return self._create(json.loads(data))
            case ["GET", "batches"]:
                with self.operation("list"):
                    return self._list(query)
            case ["GET", "batches", batch_id]:
                with self.operation("retrieve"):
                    return self.shown(self._batch(batch_id))
            case ["GET", "batches", batch_id, "results"]:
                with self.operation("content"):
                    lines = self.output_of(self._batch(batch_id))
                    if self.shuffle:
                        self.random.shuffle(lines)
                    self.send_lines(headers, "content", [json.dumps(line).encode() for line in lines])
                return None
            case ["POST", "batches", batch_id, "cancel"]:
                body()
                with self.operation("cancel"):
                    batch = self._batch(batch_id)
                    batch["cancelled"] = batch["cancelled"] or self.clock()
                    return self.shown(batch)
        raise AnswerError(404, self.error("not_found_error", f"no {method} {path}"))

    def _create(self, asked: dict[str, Any]) -> dict[str, Any]:
        ids = [row["custom_id"] for row in asked["requests"]]
        if len(set(ids)) != len(ids) or not all(SAFE_ID.fullmatch(one) for one in ids):
            raise AnswerError(400, self.error("invalid_request_error", "custom_id"))
        return self.shown(self._new(asked["requests"]))

    def _new(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        with self.lock:
            batch = {
                "id": f"msgbatch_{len(self.batches):06}",
                "created": self.clock(),
                "requests": rows,
                "cancelled": None,
            }
            self.batches[batch["id"]] = batch
            return batch

    def _list(self, query: dict[str, str]) -> dict[str, Any]:
        newest = [
            batch for batch in reversed(self.batches.values()) if self.clock() - batch["created"] >= self.listed_after_s
        ]
        limit, after = int(query.get("limit", 20)), query.get("after_id")
        if after is not None:
            newest = newest[[batch["id"] for batch in newest].index(after) + 1 :]
        page = [self.shown(batch) for batch in newest[:limit]]
        return {
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": len(newest) > limit,
        }

    def _batch(self, batch_id: str) -> dict[str, Any]:
        if batch_id not in self.batches:
            raise AnswerError(404, self.error("not_found_error", "no such batch"))
        return self.batches[batch_id]

    def shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        over = batch["cancelled"] is not None or self.clock() >= batch["created"] + self.works_s
        counts = {"processing": 0 if over else len(batch["requests"])}
        kinds = [line["result"]["type"] for line in self.output_of(batch)] if over else []
        counts |= {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        return {
            "id": batch["id"],
            "type": "message_batch",
            "processing_status": "ended" if over else "in_progress",
            "request_counts": counts,
            "created_at": _text(batch["created"]),
            "expires_at": _text(batch["created"] + 86400),
            "ended_at": _text(batch["created"] + self.works_s) if over else None,
            "archived_at": None,
            "cancel_initiated_at": None if batch["cancelled"] is None else _text(batch["cancelled"]),
            "results_url": f"{self.url}/v1/messages/batches/{batch['id']}/results" if over else None,
        }

    def output_of(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        if "output" not in batch:
            batch["output"] = [self._line(batch, row) for row in batch["requests"]]
        return list(batch["output"])

    def _line(self, batch: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
        fate, _, kind = self.fate(row["custom_id"], row["params"]).partition(":")
        if batch["cancelled"] is not None:
            fate = "canceled"
        result: dict[str, Any] = {"type": fate}
        if fate == "errored":
            result["error"] = self.error(kind, f"it says {kind}")
        if fate == "succeeded":
            name = sha256(f"{batch['id']} {row['custom_id']}".encode()).hexdigest()[:24]
            result["message"] = {
                "id": f"msg_{name}",
                "type": "message",
                "role": "assistant",
                "model": row["params"]["model"],
                "content": [{"type": "text", "text": "fine"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 1000, "output_tokens": 100, "service_tier": "batch"},
            }
        return {"custom_id": row["custom_id"], "result": result}


def _text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
