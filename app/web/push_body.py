"""Reading what is pushed: bounded on the wire, bounded unpacked, bounded in time, and all bodies together in memory."""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect

from app.core.errors import HalveError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MAX_WIRE_BYTES: Final = 16 * 1024 * 1024
MAX_PASSED_OVER_BYTES: Final = 64 * 1024 * 1024
MAX_BODY_BYTES: Final = 32 * 1024 * 1024
MAX_MEMORY_BYTES: Final = 96 * 1024 * 1024
SLOWEST_S: Final = 30.0
_GZIP_WINDOW: Final = 31


class RefusedBodyError(HalveError):
    """A body that is not taken: its HTTP status, and after how many seconds it may come again, None for never."""

    def __init__(self, message: str, status: int, again_s: int | None = None, *, unread: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.again_s = again_s
        self.unread = unread  # refused before the body was looked at


class Room:
    """How many bytes of bodies are in memory; a body that finds no room is asked to come again."""

    def __init__(self, most: int = MAX_MEMORY_BYTES) -> None:
        self.most = most
        self.held = 0

    def take(self, size: int) -> None:
        if self.held + size > self.most:
            raise RefusedBodyError("Too much is being pushed at once. Send it again in a moment.", 429, 1)
        self.held += size

    def give(self, size: int) -> None:
        self.held -= size


class Body:
    """One body while it is read; `close` gives its room back."""

    def __init__(self, room: Room, *, packed: bool) -> None:
        self._room = room
        self._unpack = zlib.decompressobj(_GZIP_WINDOW) if packed else None
        self._parts: list[bytes] = []
        self._wire = 0
        self._size = 0

    async def read(self, stream: AsyncIterator[bytes]) -> bytes:
        """All of it, unpacked.

        Raises:
            RefusedBodyError: it is too large, too slow, no gzip, or there is no room for it now.
        """
        refused: RefusedBodyError | None = None
        try:
            async with asyncio.timeout(SLOWEST_S):
                async for part in stream:
                    self._wire += len(part)
                    if refused is None:
                        refused = self._added(part)
                    elif self._wire > MAX_PASSED_OVER_BYTES:
                        break
        except TimeoutError as error:
            raise RefusedBodyError(f"The body did not come within {SLOWEST_S:.0f} s.", 408, 1) from error
        except ClientDisconnect as error:  # nobody is there to read this
            raise RefusedBodyError("The client went before its body was here.", 400) from error
        if refused is not None:
            raise refused
        if self._unpack is not None and not self._unpack.eof and self._wire:
            raise RefusedBodyError("The gzip body breaks off before its end.", 400)
        whole = b"".join(self._parts)
        self._parts = []
        return whole

    def _added(self, part: bytes) -> RefusedBodyError | None:
        """Add a part; why the body is refused from here on. The rest is passed over: who sends does not listen."""
        try:
            if self._wire > MAX_WIRE_BYTES:
                raise _too_large(MAX_WIRE_BYTES)
            self._add(part)
        except RefusedBodyError as error:
            self._parts = []
            self.close()
            return error
        return None

    def _add(self, part: bytes) -> None:
        if self._unpack is None:
            self._keep(part)
            return
        rest = part
        while rest:
            try:
                found = self._unpack.decompress(rest, MAX_BODY_BYTES + 1 - self._size)
            except zlib.error as error:
                raise RefusedBodyError(f"The body is no gzip: {error}.", 400) from error
            self._keep(found)
            rest = self._unpack.unconsumed_tail
            if self._unpack.eof and self._unpack.unused_data:
                raise RefusedBodyError("Something follows the end of the gzip body.", 400)

    def _keep(self, part: bytes) -> None:
        if self._size + len(part) > MAX_BODY_BYTES:
            raise _too_large(MAX_BODY_BYTES)
        self._room.take(len(part))
        self._size += len(part)
        self._parts.append(part)

    def close(self) -> None:
        """Give the room back."""
        self._room.give(self._size)
        self._size = 0


def _too_large(most: int) -> RefusedBodyError:
    unpacked = ", unpacked" if most == MAX_BODY_BYTES else ""
    return RefusedBodyError(
        f"The body is larger than {most // 2**20} MiB{unpacked}. Send fewer records at a time (an OpenTelemetry "
        "exporter: OTEL_BSP_MAX_EXPORT_BATCH_SIZE).",
        413,
    )


async def pass_over(stream: AsyncIterator[bytes]) -> None:
    """Read what is not wanted, within bounds: who still sends would see a broken connection instead of the answer."""
    size = 0
    with contextlib.suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(SLOWEST_S):
            async for part in stream:
                size += len(part)
                if size > MAX_WIRE_BYTES:
                    return
