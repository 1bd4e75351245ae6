"""Opening the control store and bringing its schema up to date."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.exc import OperationalError

from app.core.errors import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "control.sqlite3"
BUSY_TIMEOUT_MS = 5_000


def open_control(data_dir: Path | None) -> sa.Engine:
    """The engine of `data_dir/control.sqlite3`; None keeps it in memory. Run `migrate` before the first use.

    Raises:
        UnavailableError: the file cannot be opened.
    """
    if data_dir is None:
        engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool, connect_args={"check_same_thread": False})
    else:
        data_dir.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(f"sqlite:///{data_dir / FILE_NAME}")
    sa.event.listen(engine, "connect", _set_pragmas)
    try:
        with engine.connect():
            pass
    except OperationalError as error:
        raise UnavailableError(
            f"The control store in {data_dir} cannot be opened: {error.orig}. "
            "Check that the folder is writable and the disk is not full."
        ) from error
    return engine


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def alembic_config() -> Config:
    """The migration environment in `migrations/control`."""
    config = Config()
    config.set_main_option("script_location", str(resources.files("migrations").joinpath("control")))
    config.set_main_option("path_separator", "os")
    return config


def migrate(engine: sa.Engine) -> None:
    """Bring the schema to the newest version; a second call changes nothing."""
    config = alembic_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
