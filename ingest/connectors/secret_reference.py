"""Secrets are named, never stored: `env:NAME` reads an environment variable, `file:PATH` a file's only line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from app.core.errors import UsageError

_MAX_BYTES = 8192


def read_secret(reference: str) -> str:
    """The secret behind a reference. It is for use at once; only the reference may be kept or shown.

    Raises:
        UsageError: the reference has another form, or nothing stands behind it. The message never holds the secret.
    """
    kind, separator, name = reference.partition(":")
    if not separator or not name or kind not in ("env", "file"):
        raise UsageError("A secret is given as env:NAME or file:PATH, never as its own text.")
    secret = (os.environ.get(name, "") if kind == "env" else _first_line(Path(name))).strip()
    if not secret:
        where = "environment variable" if kind == "env" else "file"
        raise UsageError(f"The {where} {name} holds no secret. Set it, or correct the reference {reference}.")
    if not secret.isascii() or not secret.isprintable():
        raise UsageError(f"The secret behind {reference} has characters that no token has. Check for a stray line.")
    return secret


def read_secret_document(reference: str) -> Any:
    """The JSON document behind a reference, such as the key file of a service account; for use at once.

    Raises:
        UsageError: the reference has another form, or no JSON stands behind it. The message never holds the secret.
    """
    kind, _, name = reference.partition(":")
    text = _first_line(Path(name)) if kind == "file" and name else read_secret(reference)
    try:
        return json.loads(text)
    except ValueError:
        # Without a cause: the error would show the text.
        raise UsageError(
            f"Behind {reference} stands no JSON document. Name the key file as it was given out."
        ) from None


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"The file {path} that should hold a secret cannot be read: {error.strerror}.") from error
