"""Every mail as it was made, as `.eml` files under `data/reports`: what is sent again is this very file."""

from __future__ import annotations

import os
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from typing import TYPE_CHECKING

from app.core.errors import NotFoundError, UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from app.control.outbox import Letter

FOLDER = "reports"


def path_of(data_dir: Path, letter: Letter) -> Path:
    """Where the mail of an outbox row lies; its name holds nothing that a reader chose."""
    return data_dir / FOLDER / f"{letter.report}-{letter.period}-{letter.id}.eml"


def keep(data_dir: Path, letter: Letter, mail: EmailMessage) -> None:
    """Write the mail so that after a crash the file is there whole or not at all.

    Raises:
        UnavailableError: the disk does not take it.
    """
    target = path_of(data_dir, letter)
    unfinished = target.with_suffix(".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as out:
            out.write(mail.as_bytes())
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise UnavailableError(f"The mail could not be stored in {target.parent}: {error.strerror}.") from error


def kept(data_dir: Path, letter: Letter) -> EmailMessage | None:
    """The mail as it was made, None where it was not made yet."""
    path = path_of(data_dir, letter)
    if not path.is_file():
        return None
    mail = message_from_bytes(path.read_bytes(), EmailMessage, policy=SMTP)
    assert isinstance(mail, EmailMessage)
    return mail


def file_of(data_dir: Path, letter: Letter) -> bytes:
    """The file's bytes.

    Raises:
        NotFoundError: the mail was not made yet, or its file is gone.
    """
    path = path_of(data_dir, letter)
    if not path.is_file():
        raise NotFoundError("That mail has no file in the archive: it was not made yet, or its file was removed.")
    return path.read_bytes()
