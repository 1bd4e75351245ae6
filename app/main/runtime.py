"""The objects every command needs, opened together and closed together."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.control.database import migrate as migrate_control
from app.control.database import open_control
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
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    book = load_book(settings)
    warehouse = Warehouse(settings.data_dir, memory_limit=settings.memory)
    try:
        migrate_warehouse(warehouse)
        control = open_control(settings.data_dir)
        try:
            migrate_control(control)
            yield Runtime(settings.data_dir, warehouse, control, book, Pricer(book))
        finally:
            control.dispose()
    finally:
        warehouse.close()


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
