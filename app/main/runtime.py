"""The objects every command needs, opened together and closed together."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import OperationalError

from app.control.database import FILE_NAME as CONTROL
from app.control.database import migrate as migrate_control
from app.control.database import open_control
from app.core.errors import NotFoundError, UnavailableError
from app.main.price_books import Books
from app.pricing import imported
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate as migrate_warehouse
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest import install_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from app.settings import Settings


SCRATCH = "halve-"
WAREHOUSE = "warehouse.duckdb"
OWNER = "owner.pid"
NEAR = ("store", "demo/store", "data")
"""Where a store may lie under a folder that was named in its place: the demo's, and that of a project folder."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Both stores, the price book at work and the folder they live in."""

    data_dir: Path
    warehouse: Warehouse
    control: Engine
    books: Books

    @property
    def book(self) -> PriceBook:
        """The price book of the files as they are now; take it once for what must be priced by one book."""
        return self.books.now()

    @property
    def pricer(self) -> Pricer:
        return Pricer(self.book)


def load_book(settings: Settings) -> PriceBook:
    """The price book with imported and the user's own rates laid over it; compiled once, kept under the data folder."""
    cache = price_folder(settings)
    own = Path(settings.prices) if settings.prices else None
    return PriceBook.load(cache if settings.data_dir.is_dir() else None, own, imported.file_in(cache))


def live_books(settings: Settings) -> Books:
    """The price book of a service: imported rates and the user's file are read anew when they change."""
    own = (Path(settings.prices),) if settings.prices else ()
    return Books(lambda: load_book(settings), (price_folder(settings) / imported.NAME, *own))


def price_folder(settings: Settings) -> Path:
    """Where compiled books, imported rates and the tables they came from lie."""
    return settings.data_dir / "prices"


@contextmanager
def opened(settings: Settings) -> Iterator[Runtime]:
    """The stores of the data folder, migrated; this process is then the one that writes the warehouse.

    Raises:
        UnavailableError: another process holds the warehouse, or the folder cannot be written.
    """
    make_folder(settings.data_dir)
    books = live_books(settings)
    warehouse = Warehouse(settings.data_dir, memory_limit=settings.memory)
    try:
        migrate_warehouse(warehouse)
        with opened_control(settings) as control:
            yield Runtime(settings.data_dir, warehouse, control, books)
    finally:
        warehouse.close()


@contextmanager
def opened_control(settings: Settings) -> Iterator[Engine]:
    """The control store alone, migrated; several processes may have it open.

    Raises:
        UnavailableError: it cannot be opened, read or written.
    """
    make_folder(settings.data_dir)
    control = open_control(settings.data_dir)
    try:
        migrate_control(control)
        yield control
    except OperationalError as error:
        raise UnavailableError(
            f"The control store in {settings.data_dir} could not be read or written: {error.orig}. What was stored "
            "before is safe; see that the disk has room and the folder can be written, then repeat what you did."
        ) from error
    finally:
        control.dispose()


def demand_store(settings: Settings) -> None:
    """Refuse a data folder without a store, for commands that only read or change what is there; nothing is made.

    Raises:
        NotFoundError: no store lies in it.
    """
    folder = settings.data_dir
    if _holds_store(folder):
        return
    what = f"The data folder {folder} holds no store" if folder.is_dir() else f"There is no data folder {folder}"
    near = next((folder / name for name in NEAR if _holds_store(folder / name)), None)
    hint = "" if near is None else f" {near} holds one: name that."
    raise NotFoundError(
        f"{what}, so there is nothing to read; nothing was made.{hint} HALVE_DATA_DIR names the folder; "
        "`halve ingest LOGS` or `halve serve` makes a store in it."
    )


def _holds_store(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (WAREHOUSE, CONTROL))


def make_folder(folder: Path) -> None:
    """Make a folder of the data that is not there yet.

    Raises:
        UnavailableError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"The folder {folder} cannot be made: {error.strerror}. Name another data folder with HALVE_DATA_DIR."
        ) from error


def sweep_scratch() -> None:
    """Remove temporary folders of commands that were killed: those whose owner's lock nobody holds any more."""
    for place in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*/{OWNER}"):
        try:
            with place.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place.parent, ignore_errors=True)
        except OSError:
            continue  # held, or somebody else's


@contextmanager
def _owned(directory: Path) -> Iterator[Path]:
    """Mark a folder as in use by this process: a lock ends with its process, however that ends."""
    draft = directory / f".{OWNER}"
    with draft.open("w", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        draft.rename(directory / OWNER)  # never seen without its lock
        yield directory


@contextmanager
def scratch(settings: Settings) -> Iterator[Runtime]:
    """Stores in a temporary folder that is gone afterwards: for commands that need no set-up."""
    books = Books.fixed(load_book(settings))
    sweep_scratch()
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as name, _owned(Path(name)) as directory:
        # Nothing hashed here outlives the command, and the same logs must give the same names twice.
        (directory / install_key.NAME).write_bytes(bytes(install_key.SIZE))
        warehouse = Warehouse(directory, memory_limit=settings.memory)
        control = open_control(None)
        try:
            migrate_warehouse(warehouse)
            migrate_control(control)
            yield Runtime(directory, warehouse, control, books)
        finally:
            control.dispose()
            warehouse.close()
