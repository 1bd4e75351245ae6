"""The install key: 32 random bytes made at first start; stored hashes of prompts cannot be looked up without it."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Final

from app.core.errors import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "install.key"
SIZE: Final = 32


def install_key(data_dir: Path) -> bytes:
    """The key of this install, made (mode 0600) where there is none.

    Raises:
        UnavailableError: it cannot be made or read, or has the wrong size.
    """
    path = data_dir / NAME
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _make(path)
        key = path.read_bytes()
    except OSError as error:
        raise UnavailableError(f"The install key {path} cannot be made or read: {error.strerror}.") from error
    if len(key) != SIZE:
        raise UnavailableError(
            f"The install key {path} has {len(key)} bytes instead of {SIZE}: it was damaged. Restore it from a backup; "
            "with another key new prompts no longer match stored ones."
        )
    return key


def _make(path: Path) -> None:
    """Written aside and linked into place: two first starts agree on one key, and none sees half of it."""
    draft = path.with_name(f".{NAME}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SIZE))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink()
