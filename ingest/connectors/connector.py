"""What a connector is: a name, the options it takes, the hosts it calls, and how it pulls. It knows no token of a call.

A pull yields batches. Whoever drives it stores a batch first and the batch's position after it, so that a pull which
is killed anywhere goes on at the last stored position; what then comes again is merged by key.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from app.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ingest.connectors.files import Found
    from ingest.connectors.outbound import Guard
    from ingest.connectors.polite import Patience

MINUTE_US: Final = 60_000_000
DAY_US: Final = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Option:
    """Something a source of this kind is told when it is added; a `secret` is only taken as a reference."""

    name: str
    about: str
    required: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Errand:
    """One pull.

    Attributes:
        options: as `halve sources add` stored them.
        held: the position that was stored last, a JSON value of the connector's own; None at the first pull.
        now_us: nothing that begins later is asked for.
        since_us: where the first pull begins.
        guard: says which hosts may be called.
        roots: folders of this machine that may be read.
        scratch: a private folder for what is fetched; emptied by the caller.
        patience: how long to try.
    """

    options: Mapping[str, Any]
    held: Any
    now_us: int
    since_us: int
    guard: Guard
    roots: tuple[Path, ...]
    scratch: Path
    patience: Patience


@dataclass(frozen=True, slots=True)
class Batch:
    """What a pull hands over at once, and where it stands when that is stored.

    Attributes:
        position: the JSON value that the next pull is given as `held`.
        lines: records as JSON lines.
        files: whole files that were fetched, under the names that rows and messages show.
        in_place: folders and files of this machine, read where they lie.
        fresh_us: everything that began before has been asked for; late rows may follow. None where that has no meaning.
        complete_us: as `fresh_us`, and late rows have had their time too.
    """

    position: Any
    lines: Sequence[bytes] = ()
    files: Sequence[Found] = ()
    in_place: Sequence[Path] = ()
    fresh_us: int | None = None
    complete_us: int | None = None


def no_hosts(_options: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    """Of a connector that calls nobody."""
    return ()


@dataclass(frozen=True, slots=True)
class Connector:
    """A kind of source.

    Attributes:
        name: the kind, as in `halve sources add KIND`.
        reads: what it reads, in one sentence.
        options: what it is told.
        pull: fetches what is new.
        check: refuses options that no pull could work with.
        hosts: (name, port) of every host that a pull with these options calls.
        format: the format of its records; None is found out from them.
        every: how often it looks where nobody says otherwise.
        extra: (name, module) of the extra that it needs.
    """

    name: str
    reads: str
    options: tuple[Option, ...]
    pull: Callable[[Errand], Iterator[Batch]]
    check: Callable[[Mapping[str, Any]], object]
    hosts: Callable[[Mapping[str, Any]], Sequence[tuple[str, int]]] = no_hosts
    format: str | None = None
    every: str = "15m"
    extra: tuple[str, str] | None = None

    def configured(self, given: Mapping[str, str | None]) -> dict[str, str]:
        """The options to store.

        Raises:
            UsageError: one is missing, unknown or of no use; the message names what this kind takes.
        """
        known = {option.name for option in self.options}
        values = {name: value for name, value in given.items() if value is not None}
        unknown = sorted(values.keys() - known)
        missing = [option.name for option in self.options if option.required and option.name not in values]
        if unknown or missing:
            wrong = f"needs {', '.join(missing)}" if missing else f"takes no {', '.join(unknown)}"
            takes = "; ".join(f"{option.name}: {option.about}" for option in self.options)
            raise UsageError(f"A source of kind {self.name} {wrong}. It takes {takes}.")
        self.check(values)
        return values

    def installed(self) -> None:
        """See that what this kind needs is there.

        Raises:
            UsageError: its extra is not installed.
        """
        if self.extra is not None and not _importable(self.extra[1]):
            raise UsageError(
                f"A source of kind {self.name} needs the extra {self.extra[0]!r}: pip install 'halve[{self.extra[0]}]'."
            )

    def secrets(self, options: Mapping[str, Any]) -> list[str]:
        """The references to secrets among the options."""
        return [str(options[one.name]) for one in self.options if one.secret and one.name in options]


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def whole_number(options: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    """An option that counts something.

    Raises:
        UsageError: it is no whole number, or outside its range.
    """
    text = str(options.get(name, default))
    if not text.isdecimal() or not low <= int(text) <= high:
        raise UsageError(f"The option {name} is a whole number from {low} to {high}, not {text!r}.")
    return int(text)
