"""Finding log files: paths, folders and globs, with exclusions relative to the folder that was given."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.core.errors import InputError, UsageError
from ingest.packing import PACKED_SUFFIXES, TAR_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_ARCHIVES: Final = (".zip", ".tar", *TAR_SUFFIXES)
LOG_SUFFIXES: Final = (
    *(".jsonl", ".ndjson", ".jsonlines", ".json", ".log", ".csv", ".tsv", ".parquet", ".sse", ".traj"),
    *_ARCHIVES,  # of logs
)
# What log rotation puts behind a name: a number, a day (and hour) with or without dashes, "old".
_ROTATED: Final = re.compile(
    r"[._-](?:\d{1,4}|\d{4}-?\d{2}-?\d{2}(?:[t_-]?\d{2}(?:[:.-]?\d{2}){0,2})?z?|old)", re.ASCII
)
_SHOWN_SUFFIXES: Final = 4


@dataclass(frozen=True, slots=True)
class Found:
    """One log file: its name as a reader knows it, and where it is."""

    given: str
    path: Path


def written(name: str | Path) -> str:
    """A name as it is stored and printed: bytes that are no UTF-8 become \\xNN."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def reached(name: str) -> Path:
    """The file that a stored name means."""
    path = Path(name)
    if "\\x" not in name or path.exists():
        return path
    raw = re.sub(rb"\\x([89a-f][0-9a-f])", lambda found: bytes([int(found[1], 16)]), os.fsencode(name))
    return Path(os.fsdecode(raw))


def find(paths: Sequence[str | Path | Found], exclude: Iterable[str] = ()) -> list[Found]:
    """The log files under the paths, each once, in a stable order; a `Found` stands for itself.

    A folder gives its files with the suffix of a log, rotated ones too; hidden ones are left out. A file or a glob that
    is named is read whatever its suffix. A pattern of `exclude` with a slash is matched against the path inside the
    given folder, one without against the name alone; `**` crosses folders.

    Raises:
        UsageError: no path was given.
        InputError: a path does not exist or is no file, a glob matches nothing, a folder holds no log, or a folder or a
            file that was named may not be read. An unreadable file inside a folder is left to the quarantine.
    """
    if not paths:
        raise UsageError("No path was given. Name files or folders of logs.")
    patterns = [_compiled(pattern) for pattern in exclude]
    found: dict[Path, Found] = {}
    for given in paths:
        if isinstance(given, Found):
            found.setdefault(given.path, given)
            continue
        for one in _under(Path(given).expanduser(), patterns):
            found.setdefault(one.path, one)
    return list(found.values())


def _under(given: Path, patterns: list[tuple[bool, re.Pattern[str]]]) -> Iterator[Found]:
    if given.is_dir():
        yield from _folder(given, patterns)
    elif given.exists():
        if not given.is_file():
            raise InputError(_no_file(given))
        if not os.access(given, os.R_OK):
            raise InputError(_unreadable(given, "Permission denied"))
        yield Found(written(given), given.resolve())
    elif str(given) == "-":
        raise InputError(_no_file("Standard input"))
    else:
        matches = sorted(glob.glob(str(given), recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not matches:
            raise InputError(f"{given} does not exist and matches no file. Check the path.")
        if not any(Path(match).is_file() for match in matches):
            raise InputError(f"{given} matches no file, only {written(matches[0])}. Name files, or the folder.")
        for match in matches:
            path = Path(match)
            if path.is_file() and not _excluded(path.name, patterns):
                yield Found(written(match), path.resolve())


def _folder(folder: Path, patterns: list[tuple[bool, re.Pattern[str]]]) -> Iterator[Found]:
    some = False
    for root, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            inside = path.relative_to(folder).as_posix()
            if name.startswith(".") or not is_log(name) or not path.is_file():
                continue
            some = True
            if not _excluded(inside, patterns):
                yield Found(written(path), path.resolve())
    if not some:
        wanted, packed = ", ".join(LOG_SUFFIXES), ", ".join(PACKED_SUFFIXES)
        raise InputError(
            f"{folder} holds no log: no file ends in {wanted} (or these with {packed} behind). Name the files."
        )


def holds_logs(folder: Path) -> bool:
    """Whether a folder, or one under it, holds a log yet.

    Raises:
        InputError: a folder may not be read.
    """
    return any(
        is_log(name) and not name.startswith(".") for _, _, names in os.walk(folder, onerror=_refuse) for name in names
    )


def _refuse(error: OSError) -> None:
    """A folder passed over in silence would be logs lost in silence."""
    raise InputError(_unreadable(error.filename, error.strerror)) from error


def _no_file(place: object) -> str:
    return (
        f"{place} is no file but a pipe, a socket or a device, which Halve does not read: it must be able to come back "
        "to each record. Write the logs into a file and name that."
    )


def _unreadable(place: object, why: str | None) -> str:
    return f"{place} cannot be read: {why}. Nothing was read; allow reading it, or name other paths."


def is_log(name: str) -> bool:
    """True for names that end as logs do, before what packing and rotation put behind: app.log, app.jsonl.2.gz."""
    return unrotated(name).endswith(LOG_SUFFIXES)


def unrotated(name: str) -> str:
    """A name in lower case without the marks of packing and rotation, by whose end a layout may be told."""
    bare = _unpacked(name.lower())
    marks = [found.start() for found in _ROTATED.finditer(bare) if _ROTATED.fullmatch(bare, found.start())]
    for start in marks:
        # An archive of logs is never continued by rotation.
        if bare[:start].endswith(LOG_SUFFIXES) and not bare[:start].endswith(_ARCHIVES):
            return bare[:start]
        if _unpacked(bare[:start]) != bare[:start]:
            return unrotated(bare[:start])
    return bare


def _unpacked(name: str) -> str:
    for packed in PACKED_SUFFIXES:
        name = name.removesuffix(packed)
    return name


def left_out(paths: Iterable[str], exclude: Iterable[str] = ()) -> str | None:
    """A sentence about the files in these folders that are not read because their names are no log's, or None."""
    patterns = [_compiled(pattern) for pattern in exclude]
    kinds: Counter[str] = Counter()
    example = ""
    for folder in (Path(path).expanduser() for path in paths):
        for root, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                inside = Path(root, name).relative_to(folder).as_posix()
                if name.startswith(".") or is_log(name) or _excluded(inside, patterns):
                    continue
                kinds["".join(Path(name).suffixes[-2:]) if _unpacked(name) != name else Path(name).suffix] += 1
                example = example or written(Path(root, name))
    if not kinds:
        return None
    ends = [f"{count:,} {end or 'without an ending'}" for end, count in kinds.most_common(_SHOWN_SUFFIXES)]
    more = ", ..." if len(kinds) > _SHOWN_SUFFIXES else ""
    whole = sum(kinds.values())
    return (
        f"{whole:,} {'file was' if whole == 1 else 'files were'} not read, because the name is no log's "
        f"({', '.join(ends)}{more}), such as {example}. "
        "A file that is named, itself or by a glob, is read whatever its name."
    )


def _excluded(inside: str, patterns: list[tuple[bool, re.Pattern[str]]]) -> bool:
    name = inside.rpartition("/")[2]
    return any(pattern.fullmatch(inside if whole else name) for whole, pattern in patterns)


def pattern_of(pattern: str) -> Callable[[str], bool]:
    """Whether a glob matches a path: one with a slash the whole path, one without the name alone."""
    compiled = [_compiled(pattern)]
    return lambda inside: _excluded(inside, compiled)


def _compiled(pattern: str) -> tuple[bool, re.Pattern[str]]:
    """(matches the whole path inside the folder, pattern) of a glob."""
    text = pattern.removeprefix("./").rstrip("/")
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", text)
    meaning = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "/" in text, re.compile("".join(meaning.get(part, re.escape(part)) for part in parts), re.DOTALL)
