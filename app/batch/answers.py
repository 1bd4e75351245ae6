"""The results of a settled job as OpenAI hands them out: answers in one file, everything else in another."""

from __future__ import annotations

import threading
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from app.batch.folder import whole_file
from app.control import batch_files

if TYPE_CHECKING:
    from pathlib import Path

    from app.batch.shelf import Shelf
    from app.control.batch_files import ApiBatch

_ONE_AT_A_TIME: Final = threading.Lock()


class _Response(msgspec.Struct):
    status_code: int | None = None


class _Result(msgspec.Struct):
    type: str | None = None


class _Line(msgspec.Struct):
    """A result line of OpenAI (`response`, `error`) or Anthropic (`result`)."""

    response: _Response | None = None
    error: Any = None
    result: _Result | None = None

    def answered(self) -> bool:
        if self.result is not None:
            return self.result.type == "succeeded"
        status = None if self.response is None else self.response.status_code
        return self.error is None and status is not None and 200 <= status < 300


_LINE: Final = msgspec.json.Decoder(_Line)


def with_answers(shelf: Shelf, batch: ApiBatch, results: Path) -> ApiBatch:
    """The batch with the names of its files, which are made now where they were not yet.

    Ids follow from the batch, so that a second call, or one after a crash, makes the same files.
    """
    if batch.output_file_id is not None or batch.error_file_id is not None:
        return batch
    good, bad = (_id(batch.id, kind) for kind in ("output", "error"))
    with _ONE_AT_A_TIME:
        shelf.folder.mkdir(parents=True, exist_ok=True)
        with results.open("rb") as lines, whole_file(shelf.path(good)) as out, whole_file(shelf.path(bad)) as failed:
            _split(lines, out, failed)
        found = {}
        for kind, file_id in (("output", good), ("error", bad)):
            size = shelf.path(file_id).stat().st_size
            if size == 0:
                shelf.path(file_id).unlink()
                continue
            found[kind] = shelf.add(file_id, "batch_output", f"{batch.id}_{kind}.jsonl", size).id
        batch_files.set_results(shelf.control, batch.id, found.get("output"), found.get("error"))
    return batch_files.batch(shelf.control, batch.id)


def _split(lines: BinaryIO, answered: BinaryIO, failed: BinaryIO) -> None:
    for line in lines:
        (answered if _LINE.decode(line).answered() else failed).write(line)


def _id(batch_id: str, kind: str) -> str:
    return f"file-{sha256(f'{batch_id}/{kind}'.encode()).hexdigest()[:24]}"
