"""An office of budgets on stores of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from budget_office import Office
from report_office import book

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path, book())
    yield made
    made.close()
