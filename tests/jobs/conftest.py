"""A control store on disk, and a simulated world on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulated import FixedClock, World, us

from app.control import migrate, open_control

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Engine


@pytest.fixture
def control(tmp_path: Path) -> Iterator[Engine]:
    engine = open_control(tmp_path)
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def world(control: Engine) -> Callable[..., World]:
    """A world that begins at an instant: `world("2026-03-01T00:00Z", "Europe/Berlin")`."""
    return lambda begins, zone="UTC": World(control, FixedClock(us(begins)), zone)
