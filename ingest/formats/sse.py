"""Server-sent events as text: the `data:` payloads of a recorded stream, decoded."""

from __future__ import annotations

from typing import Any

from ingest.formats.fields import decoded_text


def is_stream(text: str) -> bool:
    """True for text that starts like a recorded event stream."""
    return text.lstrip("\ufeff \r\n").startswith(("data:", "event:", "id:", "retry:", ": "))


def events(text: str) -> list[Any]:
    """The JSON payloads of a stream in order; `[DONE]` and payloads that are no JSON object are left out."""
    found: list[Any] = []
    pending: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith("data:"):
            pending.append(line[5:].lstrip(" "))
        elif not line and pending:
            _take(pending, found)
    _take(pending, found)
    return found


def _take(pending: list[str], found: list[Any]) -> None:
    if not pending:
        return
    joined = decoded_text("\n".join(pending))
    if joined is not None:
        found.append(joined)
    else:  # streams saved without the blank lines between events
        found += [value for piece in pending if (value := decoded_text(piece)) is not None]
    pending.clear()
