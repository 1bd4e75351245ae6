"""A folder of this machine, looked through again and again: what is new in it is read, what only grew is read on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.core.errors import ForbiddenError, UsageError
from ingest.connectors.connector import Batch, Connector, Errand, Option
from ingest.connectors.files import holds_logs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def allowed(folder: Path, roots: Sequence[Path]) -> Path:
    """The folder itself, links resolved.

    Raises:
        ForbiddenError: it lies under none of the folders that may be read. UsageError: it is no folder.
    """
    real = folder.expanduser().resolve()
    if not any(real.is_relative_to(root) for root in roots):
        named = ":".join(map(str, roots)) or "empty"
        raise ForbiddenError(f"{real} lies under none of HALVE_INGEST_ROOTS ({named}). Add its folder there.")
    if not real.is_dir():
        raise UsageError(f"{real} is no folder.")
    return real


def roots_of(setting: str) -> tuple[Path, ...]:
    """The folders of HALVE_INGEST_ROOTS, links resolved."""
    return tuple(Path(root).expanduser().resolve() for root in setting.split(":") if root)


def pull(errand: Errand) -> Iterator[Batch]:
    """The folder, to be read where it lies; one without a log yet waits for the first. Raises as `allowed` does."""
    folder = allowed(Path(str(errand.options["path"])), errand.roots)
    logs = [folder] if holds_logs(folder) else []
    yield Batch(None, in_place=logs, fresh_us=errand.now_us, complete_us=errand.now_us)


def _check(options: Mapping[str, Any]) -> None:
    if not str(options["path"]).strip():
        raise UsageError("A folder source needs the path of its folder.")


CONNECTOR: Final = Connector(
    name="folder",
    reads="The logs in a folder of this machine and the folders under it, as they come and grow.",
    options=(Option("path", "the folder, under HALVE_INGEST_ROOTS", required=True),),
    pull=pull,
    check=_check,
)
