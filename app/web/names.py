"""Names that browsers and clients give to files."""

from __future__ import annotations

from pathlib import PurePosixPath

NAME_MAX = 200


def plain_name(given: str | None) -> str:
    """The last part of a file's name without what cannot be seen: a client names a file, never a place on this machine.

    Empty where nothing is left.
    """
    name = PurePosixPath((given or "").replace("\\", "/")).name
    name = "".join(character for character in name if character.isprintable())[-NAME_MAX:]
    return name if name.strip(". ") else ""
