"""The quarantine and its replay: what could not be read is read again from its source, once a format has learnt it."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from app.core.errors import InputError
from ingest import archives
from ingest.connectors.files import Found, reached
from ingest.inbox import take_inbox
from ingest.install_key import install_key
from ingest.opening import MAX_RECORD_BYTES
from ingest.plan import Choice, NoLedger, Plan
from ingest.records import UNKNOWN
from ingest.shard import INBOX
from ingest.worker import Task, Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.warehouse.merge import Pricer
    from app.warehouse.store import Warehouse
    from ingest.fingerprint import Text
    from ingest.formats.column_map import ColumnMap
    from ingest.records import Chunk
    from ingest.summary import Summary

UPLOADS: Final = "uploads"
PASSING: Final = (INBOX, UPLOADS, "pulled", "batches")
"""Folders under the data folder in which a log lies only until it was read."""
_PLACES_ONE_BY_ONE: Final = 1_000


class Place(msgspec.Struct, frozen=True):
    """One thing in the quarantine; `line` 0 is the file as a whole."""

    source: str
    file: str
    path: str
    line: int
    byte_from: int | None
    reason: str
    head: str
    seen_us: int


def quarantined(warehouse: Warehouse, source: str | None = None) -> list[Place]:
    """What lies in the quarantine, by source, file and line."""
    with warehouse.session() as session:
        places = [Place(*row) for row in session.rows("ingest.quarantined")]
    return [place for place in places if source is None or place.source == source]


def replay_quarantine(
    warehouse: Warehouse,
    pricer: Pricer,
    data_dir: Path,
    *,
    source: str | None = None,
    column_map: ColumnMap | None = None,
    text: Text = "shared",
) -> Summary:
    """Read what lies in the quarantine again from where it came; what can be read now is stored and leaves it.

    Files that are gone keep their places and are named in the summary's problems.
    """
    worker = Worker(data_dir, install_key(data_dir), text, column_map)
    found = quarantined(warehouse, source)
    problems = _not_kept(found, data_dir)
    lying = sorted((place for place in found if not passed_by(place, data_dir)), key=_by_path)
    for (name, path), places in groupby(lying, key=lambda one: (one.source, one.path)):
        choice = Choice(source if name == UNKNOWN else name, None, column_map)
        try:
            task = _task(path, list(places), choice)
        except InputError as error:
            problems.append(str(error))
            continue
        worker.run(task)
    summary = take_inbox(warehouse, pricer, data_dir)
    summary.problems = [*problems, *summary.problems]
    return summary


def passed_by(place: Place, data_dir: Path) -> str:
    """The folder under the data folder through which a record came and in which nothing is kept; empty for a file."""
    path, home = Path(place.path).absolute(), data_dir.absolute()
    if not path.is_relative_to(home):
        return ""
    folder = path.relative_to(home).parts[0]
    return folder if folder in PASSING else ""


def _not_kept(places: Sequence[Place], data_dir: Path) -> list[str]:
    """What to do about records that came to us and were not kept; those that are pulled can be asked for."""
    pushed: dict[str, int] = {}
    uploads: dict[str, int] = {}
    for place in places:
        folder = passed_by(place, data_dir)
        if folder == INBOX:
            pushed[place.source] = pushed.get(place.source, 0) + 1
        elif folder == UPLOADS:
            uploads[place.file] = uploads.get(place.file, 0) + 1
    return [
        *(
            f"{records} records that were pushed as {source} are not kept once they were read. Send them again: what "
            "is stored already counts once."
            for source, records in pushed.items()
        ),
        *(
            f"{file} was uploaded and is not kept ({records} records). Upload it again."
            for file, records in uploads.items()
        ),
    ]


def _by_path(place: Place) -> tuple[str, str, int]:
    return place.source, place.path, place.line


def _task(path: str, places: Sequence[Place], choice: Choice) -> Task:
    file = reached(path)
    if not archives.on_disk(file).is_file():
        raise InputError(
            f"{places[0].file} is gone: what could not be read of it stays in the quarantine. Put it back to read it "
            "again."
        )
    plan = Plan(NoLedger(), choice)
    whole = [chunk for task in plan.tasks([Found(places[0].file, file)]) for chunk in task.chunks]
    single = [place for place in places if place.byte_from is not None and place.line > 0]
    by_place = len(single) == len(places) <= _PLACES_ONE_BY_ONE and all(
        one.layout == "lines" and one.compression == "none" for one in whole
    )
    chunks = [_line(whole[0], place) for place in single] if by_place and whole else whole
    replays = [(place.source, place.path, place.line) for place in places]
    return Task(f"replay-{os.urandom(8).hex()}", chunks, replays)


def _line(chunk: Chunk, place: Place) -> Chunk:
    """The chunk that is just the line of a place."""
    assert place.byte_from is not None
    with Path(chunk.path).open("rb") as file:
        file.seek(place.byte_from)
        size = len(file.readline(MAX_RECORD_BYTES))
    end = place.byte_from + max(size, 1)
    return msgspec.structs.replace(
        chunk, byte_from=place.byte_from, byte_to=end, settled_to=end, line_from=place.line - 1, line_to=place.line
    )
