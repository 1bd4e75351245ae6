"""Fresh books for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_bills import Books, open_books

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    made = open_books(tmp_path)
    yield made
    made.warehouse.close()
