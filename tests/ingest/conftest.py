"""A fresh store for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_logs import Store, make_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = make_store(tmp_path / "data")
    yield made
    made.warehouse.close()
