"""The objects every command needs, opened together and closed together."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import OperationalError

from app.control.database import migrate as migrate_control
from app.control.database import open_control
from app.core.errors import UnavailableError
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate as migrate_warehouse
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest import install_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Runtime:
    """Both stores, the price book at work and the folder they live in."""

    data_dir: Path
    warehouse: Warehouse
    control: Engine
    book: PriceBook
    pricer: Pricer


def load_book(settings: Settings) -> PriceBook:
    """The price book with the user's own rates laid over it; compiled once and kept under the data folder."""
    cache = settings.data_dir / "prices"
    own = Path(settings.prices) if settings.prices else None
    return PriceBook.load(cache if settings.data_dir.is_dir() else None, own)


@contextmanager
def opened(settings: Settings) -> Iterator[Runtime]:
    """The stores of the data folder, migrated; this process is then the one that writes the warehouse.

    Raises:
        UnavailableError: another process holds the warehouse, or the folder cannot be written.
    """
    make_folder(settings.data_dir)
    book = load_book(settings)
    warehouse = Warehouse(settings.data_dir, memory_limit=settings.memory)
    try:
        migrate_warehouse(warehouse)
        with opened_control(settings) as control:
            yield Runtime(settings.data_dir, warehouse, control, book, Pricer(book))
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


@contextmanager
def scratch(settings: Settings) -> Iterator[Runtime]:
    """Stores in a temporary folder that is gone afterwards: for commands that need no set-up."""
    book = load_book(settings)
    with tempfile.TemporaryDirectory(prefix="halve-") as name:
        directory = Path(name)
        # Nothing hashed here outlives the command, and the same logs must give the same names twice.
        (directory / install_key.NAME).write_bytes(bytes(install_key.SIZE))
        warehouse = Warehouse(directory, memory_limit=settings.memory)
        control = open_control(None)
        try:
            migrate_warehouse(warehouse)
            migrate_control(control)
            yield Runtime(directory, warehouse, control, book, Pricer(book))
        finally:
            control.dispose()
            warehouse.close()
