"""Files that are no lines: JSON documents (arrays streamed element by element), CSV, Parquet, event streams.

Memory is bounded by the largest single record; a record above the limit ends the file with a named reason.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from typing import IO, TYPE_CHECKING, Any

from app.core.errors import InputError
from ingest.lines import DECODER
from ingest.opening import BOM, MAX_RECORD_BYTES, delimiter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK = 1 << 20
_SPACE = " \t\r\n\x00\ufeff"


class _Window:
    """A growing window of text over a byte stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.at = 0
        self.ended = False

    def grow(self) -> None:
        """Read one more block, dropping what was consumed; doubles the reading so that a long record stays linear."""
        want = max(BLOCK, len(self.text) - self.at)
        block = self._stream.read(want)
        self.ended = not block
        self.text = self.text[self.at :] + self._decoder.decode(block, final=self.ended)
        self.at = 0

    def peek(self, skip: str = _SPACE) -> str:
        """The next character that is not skipped, or empty at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in skip:
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                return ""
            self.grow()


def json_values(stream: IO[bytes]) -> Iterator[Any]:
    """The values of a JSON document: each element of a top-level array, or each of several concatenated values.

    Raises:
        InputError: the document breaks off, is malformed, or holds one record above the limit. What came before stands.
    """
    window = _Window(stream)
    if window.peek() == "[":
        window.at += 1
        while (mark := window.peek(_SPACE + ",")) not in ("]", ""):
            yield _value(window)
        if mark == "":
            raise InputError("the JSON array breaks off before its end")
        window.at += 1
    while window.peek(_SPACE + ","):
        yield _value(window)


def _value(window: _Window) -> Any:
    while True:
        try:
            value, end = DECODER.raw_decode(window.text, window.at)
        except json.JSONDecodeError as error:
            _grow_or_fail(window, f"malformed JSON: {error.msg}")
        except RecursionError as error:
            raise InputError("JSON nested too deeply") from error
        else:
            if end < len(window.text) or window.ended or isinstance(value, (dict, list, str)):
                window.at = end
                return value
            window.grow()


def _grow_or_fail(window: _Window, reason: str) -> None:
    if window.ended:
        raise InputError(reason)
    if len(window.text) - window.at > MAX_RECORD_BYTES:
        raise InputError(f"one record is above the limit of {MAX_RECORD_BYTES // 2**20} MiB, or {reason}")
    window.grow()


def csv_rows(stream: IO[bytes]) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, row) of a CSV file with a header; cells beyond the header are dropped, missing ones are absent.

    Raises:
        InputError: a cell above the limit.
    """
    csv.field_size_limit(MAX_RECORD_BYTES)
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    header = buffered.peek(65536).removeprefix(BOM).partition(b"\n")[0]
    text = io.TextIOWrapper(buffered, encoding="utf-8-sig", errors="replace", newline="")
    reader = csv.DictReader(text, delimiter=delimiter(header))
    try:
        for row in reader:
            yield reader.line_num, {name: cell for name, cell in row.items() if name is not None and cell is not None}
    except csv.Error as error:
        raise InputError(f"the CSV cannot be read after line {reader.line_num}: {error}") from error
    finally:
        text.detach()


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, a few thousand in memory at a time.

    Raises:
        InputError: it is no readable Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=2000):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"the Parquet file cannot be read: {error}") from error
