"""OpenAI's files and batches: upload, create, list, retrieve, content, cancel."""

from __future__ import annotations

import json
import re
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .peer import AnswerError, Peer

if TYPE_CHECKING:
    from collections.abc import Callable


class OpenAIPeer(Peer):
    """A batch works for `works_s`, then ends as `ends` says for it (completed unless told otherwise)."""

    prefix = "/v1"

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.fate: Callable[[str, dict[str, Any]], str] = lambda _id, _body: "ok"
        self.ends: list[dict[str, Any]] = []
        self.tokens: Callable[[dict[str, Any]], int] = lambda _body: 1000
        self.shuffle = True
        self.empty_file_id: str | None = None
        self.queue_limit: int | None = None

    # What a test asks afterwards.

    def sent(self) -> list[tuple[str, dict[str, Any]]]:
        """Every (safe id, body) of every batch that was made."""
        return [
            (row["custom_id"], row["body"])
            for batch in self.batches.values()
            for row in self.rows(batch["input_file_id"])
        ]

    def rows(self, file_id: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.files[file_id].splitlines() if line.strip()]

    def charged(self) -> list[str]:
        """The response id of every request that was answered, and is therefore billed."""
        lines = (line for batch in self.batches.values() for line in self.output_of(batch))
        return [
            line["response"]["body"]["id"]
            for line in lines
            if line["response"] and line["response"]["status_code"] == 200
        ]

    # The protocol.

    def respond(self, method: str, path: str, query: dict[str, str], body: Callable[[], bytes], headers: Any) -> Any:
        match [method, *path.removeprefix("/v1/").split("/")]:
            case ["POST", "files"]:
                data = body()
                with self.operation("upload"):
                    return self._upload(data, headers.headers["content-type"])
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
            case ["POST", "batches", batch_id, "cancel"]:
                body()
                with self.operation("cancel"):
                    return self._cancel(batch_id)
            case ["GET", "files", file_id, "content"]:
                with self.operation("content"):
                    self.send_lines(headers, "content", self._content(file_id))
                return None
        raise AnswerError(404, self.error("not_found", f"no {method} {path}"))

    def _upload(self, data: bytes, content_type: str) -> dict[str, Any]:
        boundary = re.search(r"boundary=([^;]+)", content_type)
        assert boundary is not None
        for piece in data.split(b"--" + boundary[1].strip('"').encode()):
            head, _, content = piece.partition(b"\r\n\r\n")
            if b"filename=" in head:
                with self.lock:
                    file_id = f"file-{len(self.files):06}"
                    self.files[file_id] = content.removesuffix(b"\r\n")
                return {
                    "id": file_id,
                    "object": "file",
                    "bytes": len(content),
                    "created_at": int(self.clock()),
                    "filename": "in.jsonl",
                    "purpose": "batch",
                    "status": "processed",
                }
        raise AnswerError(400, self.error("missing_file", "no file in the form"))

    def _create(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["input_file_id"] not in self.files:
            raise AnswerError(404, self.error("not_found", "no such file"))
        with self.lock:
            number = len(self.batches)
            batch = {
                "id": f"batch_{number:06}",
                "created": self.clock(),
                "metadata": asked.get("metadata") or {},
                "endpoint": asked["endpoint"],
                "input_file_id": asked["input_file_id"],
                "cancelled_at": None,
                "ends": self.ends.pop(0) if self.ends else {},
            }
            rows = self.rows(batch["input_file_id"])
            batch["total"] = len(rows)
            models = {row["body"]["model"] for row in rows}
            if len({row["custom_id"] for row in rows}) != len(rows):
                batch["ends"] = _failed("duplicate_custom_id", "an id is used twice")
            elif len(models) > 1:
                batch["ends"] = _failed("model_mismatch", "one model a file")
            elif any(row["url"] != asked["endpoint"] for row in rows):
                batch["ends"] = _failed("url_mismatch", "one endpoint a file")
            elif self.queue_limit is not None and self._queued() + len(self.files[batch["input_file_id"]]) // 4 > (
                self.queue_limit
            ):
                message = f"Enqueued token limit reached for the model. Limit: {self.queue_limit} enqueued tokens."
                batch["ends"] = _failed("token_limit_exceeded", message)
            self.batches[batch["id"]] = batch
        return self.shown(batch)

    def _queued(self) -> int:
        live = [one for one in self.batches.values() if self.shown(one)["status"] in ("in_progress", "validating")]
        return sum(len(self.files[one["input_file_id"]]) // 4 for one in live)

    def _list(self, query: dict[str, str]) -> dict[str, Any]:
        newest = [
            batch for batch in reversed(self.batches.values()) if self.clock() - batch["created"] >= self.listed_after_s
        ]
        limit, after = int(query.get("limit", 20)), query.get("after")
        if after is not None:
            names = [batch["id"] for batch in newest]
            newest = newest[names.index(after) + 1 :]
        page = [self.shown(batch) for batch in newest[:limit]]
        return {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": len(newest) > limit,
        }

    def _batch(self, batch_id: str) -> dict[str, Any]:
        if batch_id not in self.batches:
            raise AnswerError(404, self.error("not_found", "no such batch"))
        return self.batches[batch_id]

    def _cancel(self, batch_id: str) -> dict[str, Any]:
        batch = self._batch(batch_id)
        if self.shown(batch)["status"] not in ("validating", "in_progress"):
            raise AnswerError(409, self.error("conflict", "it has ended"))
        batch["cancelled_at"] = self.clock()
        return self.shown(batch)

    def cancel_from_outside(self, batch_id: str, finished: int = 0) -> None:
        """Somebody stops a batch in the provider's console after `finished` requests."""
        self.batches[batch_id]["cancelled_at"] = self.clock()
        self.batches[batch_id]["ends"] = {"status": "cancelled", "finished": finished}

    def shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        """The batch object as it is now."""
        created = batch["created"]
        over = batch["cancelled_at"] is not None or self.clock() >= created + self.works_s
        status = "in_progress"
        if over:
            status = "cancelled" if batch["cancelled_at"] is not None else batch["ends"].get("status", "completed")
        total = batch["total"] if over else 0
        lines = self.output_of(batch) if over and status != "failed" else []
        good = [line for line in lines if line["response"] and line["response"]["status_code"] == 200]
        bad = len(lines) - len(good)
        ended = int(created + self.works_s) + 1
        problems = batch["ends"].get("problems")
        return {
            "id": batch["id"],
            "object": "batch",
            "endpoint": batch["endpoint"],
            "completion_window": "24h",
            "input_file_id": batch["input_file_id"],
            "status": status,
            "created_at": int(created),
            "expires_at": int(created) + 86400,
            "metadata": batch["metadata"],
            "errors": {"object": "list", "data": problems} if problems and status == "failed" else None,
            "output_file_id": f"out-{batch['id']}" if good else self.empty_file_id,
            "error_file_id": f"err-{batch['id']}" if bad else self.empty_file_id,
            "request_counts": {"total": total, "completed": len(good), "failed": bad},
            **{f"{status}_at": ended for _ in [0] if status in ("completed", "failed", "expired", "cancelled")},
        }

    def output_of(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """Every output and error line of a batch, whatever way it ended."""
        if batch.get("output") is None or batch["cancelled_at"] is not None:
            ends = batch["ends"]
            if ends.get("status") == "failed":
                return []
            rows = self.rows(batch["input_file_id"])
            finished = ends.get("finished", 0 if batch["cancelled_at"] is not None else len(rows))
            lines = [self._line(batch, row) for row in rows[:finished]]
            if ends.get("status") == "expired":
                lines += [
                    _row(batch, row, None, {"code": "batch_expired", "message": "too late"}) for row in rows[finished:]
                ]
            batch["output"] = [line for line in lines if line is not None]
        found: list[dict[str, Any]] = batch["output"]
        return found

    def _line(self, batch: dict[str, Any], row: dict[str, Any]) -> dict[str, Any] | None:
        fate = self.fate(row["custom_id"], row["body"])
        if fate == "missing":
            return None
        if fate == "expired":
            return _row(batch, row, None, {"code": "batch_expired", "message": "too late"})
        if fate != "ok":
            code = "unsupported_parameter" if fate == "400" else "server_error"
            error = {"error": {"message": f"it says {fate}", "type": "some_error", "code": code}}
            return _row(batch, row, {"status_code": int(fate), "request_id": "r", "body": error}, None)
        name = sha256(f"{batch['id']} {row['custom_id']}".encode()).hexdigest()[:29]
        tokens = self.tokens(row["body"])
        body = {
            "id": f"chatcmpl-{name}",
            "object": "chat.completion",
            "created": int(batch["created"]) + 1,
            "model": row["body"]["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 100, "total_tokens": tokens + 100},
        }
        return _row(batch, row, {"status_code": 200, "request_id": f"req-{name}", "body": body}, None)

    def _content(self, file_id: str) -> list[bytes]:
        kind, _, batch_id = file_id.partition("-")
        if batch_id not in self.batches:
            raise AnswerError(404, self.error("not_found", "no such file"))
        lines = [
            line
            for line in self.output_of(self.batches[batch_id])
            if (bool(line["response"]) and line["response"]["status_code"] == 200) == (kind == "out")
        ]
        if self.shuffle:
            self.random.shuffle(lines)
        return [json.dumps(line).encode() for line in lines]


def _row(batch: dict[str, Any], row: dict[str, Any], response: Any, error: Any) -> dict[str, Any]:
    name = sha256(f"row {batch['id']} {row['custom_id']}".encode()).hexdigest()[:24]
    return {"id": f"batch_req_{name}", "custom_id": row["custom_id"], "response": response, "error": error}


def _failed(code: str, message: str) -> dict[str, Any]:
    return {"status": "failed", "problems": [{"code": code, "message": message, "line": None, "param": None}]}


def failed_at(*lines: int) -> dict[str, Any]:
    """An end for `ends`: the validation refuses these lines (1-based)."""
    problems = [{"code": "invalid_json_line", "message": "bad", "line": line, "param": None} for line in lines]
    return {"status": "failed", "problems": problems}
