"""Zip and tar archives: each log inside is read like a file of a folder, straight from the archive, within bounds.

A member has a path of its own, `ARCHIVE!NUMBER/NAME`, under which ledger and quarantine know it. Archives that would
unpack to far more than they are, and members that are packed, locked or named outside, are refused by name.
"""

from __future__ import annotations

import re
import stat
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal

from app.core.errors import InputError
from ingest import tars
from ingest.connectors.files import Found, is_log, written
from ingest.packing import PACKED_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["zip", "tar"]

MAX_MEMBERS: Final = 10_000
MAX_UNPACKED_BYTES: Final = 64 * 1024**3
MAX_RATIO: Final = 500  # logs pack to a hundredth at best; beyond lies what was made to fill a disk
NAME_LENGTH: Final = 120  # of a member's name; more than a file system takes would be no path any more
FREE_BYTES: Final = 64 * 1024 * 1024  # below that the ratio does no harm
_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
_MEMBER: Final = re.compile(r"(.*)!(\d+)/(.*)", re.DOTALL)
_PACKED: Final = (*PACKED_SUFFIXES, ".zip")
_LEADS_OUT: Final = "its name leads out of the archive, as no log's does. Nothing of it is read"
_LOCKED: Final = 0x1
_DRIVE: Final = re.compile(r"[A-Za-z]:")


def expanded(found: Found) -> Iterator[Found]:
    """The logs in an archive, each as a file; anything else, and an archive that cannot be read, as it is.

    A file that is named as a plain log is not opened here: of thousands that did not change none is.
    """
    name = found.path.name.lower()
    if is_log(name) and not name.endswith(".zip") and not tars.ends_as_tar(name):
        yield found
        return
    kind = _kind(found.path)
    if kind is None:
        yield found
        return
    try:
        members = _tarred(found.path) if kind == "tar" else _logs(found.path)
    except InputError:
        yield found  # `refuse` says why
        return
    for number, given in members:
        name = "/".join(part for part in given.split("/") if part not in ("", ".", ".."))[-NAME_LENGTH:]
        yield Found(f"{found.given}/{written(name)}", Path(f"{found.path}!{number}/{name}"))
    if kind == "tar" and _listing(found.path).damage is not None:
        yield found


def on_disk(path: Path) -> Path:
    """The file that holds a path: the archive of a member, else the path itself."""
    found = _member(path)
    return path if found is None else found[0]


def holding(path: Path) -> Kind | None:
    """What kind of archive a path is a member of; None for a plain file."""
    found = _member(path)
    return None if found is None else _kind(found[0])


def packed_bytes(path: Path) -> int:
    """How many bytes of its archive a member takes; at least one. Raises as `member_stream`."""
    found = _member(path)
    if found is not None and _kind(found[0]) == "tar":
        known = _listing(found[0])
        inside = known.members.get(found[1])
        return 1 if inside is None else max(1, inside.size * found[0].stat().st_size // max(1, known.size))
    with _opened(path) as (_, member):
        return max(1, member.compress_size)


def refuse(path: Path) -> None:
    """Say why an archive is not read.

    Raises:
        InputError: always, for an archive of which `expanded` made no files; never for another file.
    """
    kind = _kind(path)
    if kind == "zip":
        _logs(path)
    elif kind == "tar":
        _tarred(path)
        damage = _listing(path).damage
        if damage is not None:
            raise InputError(f"{path} is a damaged tar archive ({damage}). What stands before the damage was read.")


@contextmanager
def member_stream(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a member.

    Raises:
        InputError: it is packed, locked or made in a way that is not read, or the archive is damaged.
    """
    found = _member(path)
    if found is not None and _kind(found[0]) == "tar":
        inside = _listing(found[0]).members.get(found[1])
        if inside is not None and leads_out(inside.name):
            raise InputError(_LEADS_OUT)
        if inside is not None and (inside.name.lower().endswith(".zip") or tars.ends_as_tar(inside.name)):
            raise InputError("it is an archive inside the archive, which is not read. Unpack the archive")
        with tars.member_stream(*found, _most(found[0])) as stream:
            yield stream
        return
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
                raise InputError(_LEADS_OUT)
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


def _kind(path: Path) -> Kind | None:
    try:
        with path.open("rb") as file:
            if file.read(4) in _MAGIC:
                return "zip"
    except OSError:
        return None
    return "tar" if tars.is_tar(path) else None


def _most(path: Path) -> int:
    return min(MAX_UNPACKED_BYTES, max(FREE_BYTES, MAX_RATIO * path.stat().st_size))


def _listing(path: Path) -> tars.Listing:
    try:
        return tars.listing(path, _most(path), MAX_MEMBERS)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def _tarred(path: Path) -> list[tuple[int, str]]:
    """The members of a tar that are logs by their names, with their numbers.

    Raises:
        InputError: the archive is out of bounds, or holds no log.
    """
    found = _listing(path)
    named = [
        (number, inside.name)
        for number, inside in found.members.items()
        if leads_out(inside.name) or _is_named_as_log(inside.name)
    ]
    if not named and found.damage is None:
        raise InputError(f"{path} is a tar archive without a log in it: no name ends as logs do.")
    return named


def _logs(path: Path) -> list[tuple[int, str]]:
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
        (number, member.filename)
        for number, member in enumerate(members)
        if not member.is_dir() and (_leads_out(member) or _is_named_as_log(member.filename))
    ]
    if not found:
        raise InputError(f"{path} is a zip archive without a log in it: no name ends as logs do.")
    return found


def _leads_out(member: zipfile.ZipInfo) -> bool:
    """A link, or a name that leads out: what honest archives of logs never hold."""
    return stat.S_ISLNK(member.external_attr >> 16) or leads_out(member.filename)


def leads_out(given: str) -> bool:
    """Whether a member's name is absolute, on a drive or leads up."""
    name = given.replace("\\", "/")
    return name.startswith("/") or _DRIVE.match(name) is not None or ".." in name.split("/")


def _is_named_as_log(name: str) -> bool:
    return is_log(name) and not _hidden(name)


def _hidden(name: str) -> bool:
    parts = [part for part in name.split("/") if part not in (".", "..")]
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)
