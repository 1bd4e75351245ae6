"""Tar archives, packed or not: the members in order, and the bytes of one, with nothing unpacked into a folder.

A packed tar can only be read from its front. So each thread keeps its place in the archive that it reads, and the
member it read last in a spool without a name: members that are read in order cost one pass, however often each is.
"""

from __future__ import annotations

import io
import os
import tarfile
import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, cast

from app.core.errors import InputError
from ingest import packing
from ingest.spool import Descriptor, Spool, SpoolReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK: Final = 512
MAX_HEADER: Final = 1 << 20  # of what stands before a member: its long name, its extended attributes
MAX_MEMBER: Final = 8 * 1024**3
PLACES: Final = 2
MOST_LISTED: Final = 64  # archives whose members are remembered, so that one that did not change is not read again
_STEP: Final = 1 << 20
_ENDINGS: Final = (".tar", *packing.TAR_SUFFIXES, *(f".tar{suffix}" for suffix in packing.PACKED_SUFFIXES))


class Member(NamedTuple):
    """One member that is no folder: its name and its bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The members of an archive by their numbers, their bytes in all, and what ended them early."""

    members: dict[int, Member]
    size: int
    damage: str | None


class _Forward:
    """A stream that `tarfile` reads from its front: it never goes back further than the last block."""

    def __init__(self, raw: IO[bytes], most: int) -> None:
        self._raw = raw
        self._most = most
        self._at = 0
        self._last = b""
        self._back = 0

    def tell(self) -> int:
        return self._at - self._back

    def read(self, size: int) -> bytes:
        if size > MAX_HEADER:
            raise InputError("a header in it is longer than any archive of logs needs. Nothing of it is read")
        return self.take(size)

    def take(self, size: int) -> bytes:
        """The next bytes of a member."""
        again = self._last[len(self._last) - self._back :][:size] if self._back else b""
        self._back -= len(again)
        parts = [again]
        size -= len(again)
        while size > 0 and (part := self._raw.read(min(size, _STEP))):
            parts.append(part)
            size -= len(part)
            self._at += len(part)
            self._last = (self._last + part)[-BLOCK:]
            if self._at > self._most:
                raise InputError(
                    "it would unpack to far more than logs do. Nothing of it is read; unpack it by hand if it is what "
                    "it should be"
                )
        return b"".join(parts)

    def seek(self, position: int) -> int:
        back = self._at - position
        if 0 <= back <= len(self._last):
            self._back = back
            return position
        if back > 0:
            raise InputError("its headers lead backwards, as no archive's do. Nothing of it is read")
        self._back = 0
        while self._at < position and self.take(min(_STEP, position - self._at)):
            pass
        return self._at


class _Cursor:
    """A place in one archive: the members come in order, and the bytes of the current one may be read."""

    def __init__(self, path: Path, most: int) -> None:
        self._file = io.BufferedReader(Descriptor(os.open(path, os.O_RDONLY | os.O_CLOEXEC)), _STEP)
        self._forward = _Forward(unpacked(self._file), most)
        self.identity = _identity(path)
        self.number = -1
        self.member: tarfile.TarInfo | None = None
        self.spool: Spool | None = None
        try:
            self._tar = tarfile.TarFile(fileobj=cast("Any", self._forward), mode="r", errorlevel=0)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    def next(self) -> tarfile.TarInfo | None:
        """The next member, or None at the end.

        Raises:
            one of `damaged_errors`: the archive is damaged here.
        """
        self.member = member = self._tar.next()
        self._tar.members = []  # type: ignore[attr-defined]  # or the headers of all members would stay in memory
        self.number += 1
        self.spool = None
        if member is None:
            self._forward.seek(self._tar.offset)  # `tarfile` takes a damaged header for the end
            end = self._forward.read(BLOCK)
            if end.strip(b"\0") or not end:
                raise tarfile.ReadError("a member's header is damaged" if end else "its end is missing")
        return member

    def spooled(self) -> Spool:
        """The bytes of the current member."""
        spool, member = Spool(), self.member
        assert member is not None
        left = member.size
        damaged = damaged_errors()
        try:
            self._forward.seek(member.offset_data)
            while left > 0 and (part := self._forward.take(min(_STEP, left))):
                spool.write(part)
                left -= len(part)
        except damaged as error:
            spool.damage = str(error)
        if left > 0 and spool.damage is None:
            spool.damage = "the archive breaks off"
        self.spool = spool
        return spool


class _Kept(threading.local):
    """The places that this thread has in archives: who plans is ahead of who reads. The last one used comes last."""

    def __init__(self) -> None:
        self.cursors: list[_Cursor] = []


_kept: Final = _Kept()
_listed: Final[OrderedDict[tuple[Any, ...], Listing]] = OrderedDict()
_lock: Final = threading.Lock()


def is_tar(path: Path) -> bool:
    """True for a tar by its first block, packed or not; a file of another name is not unpacked to see."""
    try:
        with path.open("rb") as file:
            magic = file.read(packing.MAGIC_BYTES)
            if packing.packing_of(magic) is None:
                return _is_header(magic + file.read(BLOCK - packing.MAGIC_BYTES))
            file.seek(0)
            return _is_header(unpacked(file).read(BLOCK))
    except damaged_errors():
        return False


def ends_as_tar(name: str) -> bool:
    """True for names that tell a tar: a.tar, a.tgz, a.tar.gz, a.tar.xz."""
    return name.lower().endswith(_ENDINGS)


def listing(path: Path, most: int, most_members: int) -> Listing:
    """The members of an archive that are no folders, read through once; remembered while the file stays as it is.

    Raises:
        InputError: it unpacks to more than `most` bytes, holds more members, or has headers that no archive has.
    """
    identity = _identity(path)
    with _lock:
        known = _listed.get(identity)
        if known is not None:
            _listed.move_to_end(identity)
            return known
    found = _listing(path, most, most_members)
    with _lock:
        _listed[identity] = found
        while len(_listed) > MOST_LISTED:
            _listed.popitem(last=False)
    return found


def _listing(path: Path, most: int, most_members: int) -> Listing:
    members: dict[int, Member] = {}
    damaged = damaged_errors()
    cursor = None
    try:
        cursor = _Cursor(path, most)
        while (member := cursor.next()) is not None:
            if len(members) >= most_members:
                raise InputError(f"it holds more than {most_members} files. Unpack it")
            if not member.isdir():
                members[cursor.number] = Member(member.name, member.size)
    except damaged as error:
        return Listing(members, _whole(members), str(error) or type(error).__name__)
    finally:
        if cursor is not None:
            cursor.close()
    return Listing(members, _whole(members), None)


def _whole(members: dict[int, Member]) -> int:
    return sum(one.size for one in members.values())


@contextmanager
def member_stream(path: Path, number: int, most: int) -> Iterator[IO[bytes]]:
    """The bytes of a member; a reading of an archive that breaks off raises EOFError at its end.

    Raises:
        InputError: the archive changed, or the member is none that is read.
    """
    spool = _spool_of(path, number, most)
    if spool is None:
        raise InputError(f"{path.name} has changed: what was read of it before is not in it any more.")
    with io.BufferedReader(SpoolReader(spool), _STEP) as stream:
        yield stream


def let_go() -> None:
    """Close what this thread keeps open."""
    while _kept.cursors:
        _kept.cursors.pop().close()


def _spool_of(path: Path, number: int, most: int) -> Spool | None:
    identity = _identity(path)
    near = [one for one in _kept.cursors if one.identity == identity and one.number <= number]
    cursor = max(near, key=lambda one: one.number, default=None)
    if cursor is None:
        cursor = _Cursor(path, most)
    else:
        _kept.cursors.remove(cursor)
    try:
        while cursor.number < number:
            if cursor.next() is None:
                cursor.close()
                return None
    except Exception:
        cursor.close()
        raise
    _kept.cursors.append(cursor)
    while len(_kept.cursors) > PLACES:
        _kept.cursors.pop(0).close()
    assert cursor.member is not None
    why = _why_not(cursor.member)
    if why is not None:
        raise InputError(why)
    return cursor.spool or cursor.spooled()


def _identity(path: Path) -> tuple[Any, ...]:
    status = path.stat()
    return os.fspath(path), status.st_ino, status.st_size, status.st_mtime_ns


def _why_not(member: tarfile.TarInfo) -> str | None:
    if member.issym() or member.islnk():
        return "it is a link to another file, which is not followed"
    if not member.isreg() or member.issparse():
        return "it is no plain file. Unpack the archive"
    return "it is too large to be read in passing. Unpack the archive" if member.size > MAX_MEMBER else None


def unpacked(stream: IO[bytes]) -> IO[bytes]:
    """What a buffered stream holds, unpacked where its first bytes say that it is packed."""
    try:
        magic = cast("io.BufferedReader", stream).peek(packing.MAGIC_BYTES)[: packing.MAGIC_BYTES]
    except EOFError:
        return stream  # which says so again when it is read
    found = packing.packing_of(magic)
    return stream if found is None else packing.unpacked(stream, found)


def _is_header(block: bytes) -> bool:
    if len(block) < BLOCK:
        return False
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


def damaged_errors() -> tuple[type[Exception], ...]:
    """What reading a damaged archive raises."""
    return (tarfile.TarError, OSError, *packing.damaged_errors())
