"""Zip archives: each log inside is read like a file of a folder, straight from the archive, within bounds.

A member has a path of its own, `ARCHIVE!NUMBER/NAME`, under which ledger and quarantine know it. Archives that would
unpack to far more than they are, and members that are packed, locked or named outside, are refused by name.
"""

from __future__ import annotations

import re
import stat
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from app.core.errors import InputError
from ingest.connectors.files import Found, is_log, written

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MEMBERS: Final = 10_000
MAX_UNPACKED_BYTES: Final = 64 * 1024**3
MAX_RATIO: Final = 500  # logs pack to a hundredth at best; beyond lies what was made to fill a disk
NAME_LENGTH: Final = 120  # of a member's name; more than a file system takes would be no path any more
FREE_BYTES: Final = 64 * 1024 * 1024  # below that the ratio does no harm
_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
_MEMBER: Final = re.compile(r"(.*)!(\d+)/(.*)", re.DOTALL)
_PACKED: Final = (".gz", ".zst", ".zstd", ".zip")
_LOCKED: Final = 0x1
_DRIVE: Final = re.compile(r"[A-Za-z]:")


def expanded(found: Found) -> Iterator[Found]:
    """The logs in an archive, each as a file; anything else, and an archive that cannot be read, as it is.

    A file that is named as a plain log is not opened here: of thousands that did not change none is.
    """
    name = found.path.name.lower()
    if (is_log(name) and not name.endswith(".zip")) or not _is_archive(found.path):
        yield found
        return
    try:
        members = _logs(found.path)
    except InputError:
        yield found  # `refuse` says why
        return
    for number, member in members:
        name = "/".join(part for part in member.filename.split("/") if part not in ("", ".", ".."))[-NAME_LENGTH:]
        yield Found(f"{found.given}/{written(name)}", Path(f"{found.path}!{number}/{name}"))


def on_disk(path: Path) -> Path:
    """The file that holds a path: the archive of a member, else the path itself."""
    found = _member(path)
    return path if found is None else found[0]


def is_member(path: Path) -> bool:
    """True for the path of something in an archive."""
    return _member(path) is not None


def packed_bytes(path: Path) -> int:
    """How many bytes of its archive a member takes; at least one. Raises as `member_stream`."""
    with _opened(path) as (_, member):
        return max(1, member.compress_size)


def refuse(path: Path) -> None:
    """Say why an archive is not read.

    Raises:
        InputError: always, for an archive of which `expanded` made no files; never for another file.
    """
    if _is_archive(path):
        _logs(path)


@contextmanager
def member_stream(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a member.

    Raises:
        InputError: it is packed, locked or made in a way that is not read, or the archive is damaged.
    """
    with _opened(path) as (archive, member), archive.open(member) as stream:
        yield stream


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, zipfile.ZipInfo]]:
    found = _member(path)
    assert found is not None
    place, number = found
    try:
        with zipfile.ZipFile(place) as archive:
            members = archive.infolist()
            if number >= len(members):
                raise InputError(f"{place.name} has changed: what was read of it before is not in it any more.")
            member = members[number]
            if member.filename.lower().endswith(_PACKED):
                raise InputError("it is packed once more inside the archive, which is not read. Unpack the archive")
            if _leads_out(member):
                raise InputError("its name leads out of the archive, as no log's does. Nothing of it is read")
            if member.flag_bits & _LOCKED:
                raise InputError("it is locked with a password, which is not read. Unpack the archive")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError("it is packed by a method that is not read. Pack with deflate, or unpack the archive")
            yield archive, member
    except zipfile.BadZipFile as error:
        raise InputError(f"the archive is damaged here: {error}") from error


def _member(path: Path) -> tuple[Path, int] | None:
    found = _MEMBER.fullmatch(str(path))
    if found is None or path.exists() or not Path(found[1]).is_file():
        return None
    return Path(found[1]), int(found[2])


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) in _MAGIC
    except OSError:
        return False


def _logs(path: Path) -> list[tuple[int, zipfile.ZipInfo]]:
    """The members that are logs by their names, with their numbers.

    Raises:
        InputError: the archive is damaged or out of bounds, or holds no log.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InputError(f"{path} is a damaged zip archive ({error}). Make it anew, or unpack what can be.") from error
    whole = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS:
        raise InputError(f"{path} holds {len(members)} files; at most {MAX_MEMBERS} are read. Unpack it.")
    if whole > MAX_UNPACKED_BYTES or whole > max(FREE_BYTES, MAX_RATIO * path.stat().st_size):
        raise InputError(
            f"{path} would unpack to {whole:,} bytes, far more than logs do. Nothing of it is read; unpack it by hand "
            "if it is what it should be."
        )
    found = [
        (number, member)
        for number, member in enumerate(members)
        if not member.is_dir() and (_leads_out(member) or (is_log(member.filename) and not _hidden(member.filename)))
    ]
    if not found:
        raise InputError(f"{path} is a zip archive without a log in it: no name ends as logs do.")
    return found


def _leads_out(member: zipfile.ZipInfo) -> bool:
    """A link, an absolute name, a drive, or a way up: what honest archives of logs never hold."""
    name = member.filename.replace("\\", "/")
    return (
        stat.S_ISLNK(member.external_attr >> 16)
        or name.startswith("/")
        or _DRIVE.match(name) is not None
        or ".." in name.split("/")
    )


def _hidden(name: str) -> bool:
    parts = [part for part in name.split("/") if part not in (".", "..")]
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)
