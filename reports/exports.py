"""Frames written as CSV or Parquet while they come, in bounded memory: a block at a time, complete or not there.

The file appears under its name only when it is whole. Text in CSV that a spreadsheet would run is defused.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import polars as pl
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMULA: Final = r"^ *[=+\-@\t\r\n]"


class Sink(Protocol):
    """Takes frames of one schema, in order."""

    def take(self, frame: pl.DataFrame) -> None:
        """Write a frame behind those before it."""


class CsvSink:
    """Frames as one CSV file with a header; unknown is empty, times are UTC."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._begun = False

    def take(self, frame: pl.DataFrame) -> None:
        """Write a frame behind those before it."""
        text = [name for name, kind in frame.schema.items() if kind == pl.String]
        times = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Datetime)]
        harmless = frame.with_columns(
            *(
                pl.when(pl.col(name).str.contains(FORMULA)).then(pl.lit("'") + pl.col(name)).otherwise(name).alias(name)
                for name in text
            ),
            *(pl.col(name).dt.to_string("%Y-%m-%dT%H:%M:%S%.6f").str.replace(r"\.000000$", "") + "Z" for name in times),
        )
        harmless.write_csv(self._file, include_header=not self._begun)
        self._begun = True

    def close(self) -> None:
        """Bring everything to the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


class ParquetSink:
    """Frames as row groups of one Parquet file (zstd); decimals and timestamps keep their types."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: pq.ParquetWriter | None = None

    def take(self, frame: pl.DataFrame) -> None:
        """Write a frame behind those before it."""
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, table.schema, compression="zstd")
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Write the foot and bring everything to the disk."""
        if self._writer is None:
            return
        self._writer.close()
        with self._path.open("ab") as file:
            os.fsync(file.fileno())


@contextmanager
def complete_file(path: Path, *, parquet: bool) -> Iterator[Sink]:
    """A sink whose file is put in place when the block ends without an error; nothing is left of it otherwise."""
    draft = path.with_name(f".{path.name}.part")
    sink = ParquetSink(draft) if parquet else CsvSink(draft)
    try:
        try:
            yield sink
        finally:
            sink.close()
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
