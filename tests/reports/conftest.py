"""The company's warehouse beside a control store of each test's own, and a mailbox."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from dashboard_company import Company, company
from report_office import Mailbox, mailbox, runtime_of

from app.control import migrate, open_control

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.main.runtime import Runtime


@pytest.fixture(scope="module")
def made() -> Company:
    return company()


@pytest.fixture
def runtime(tmp_path: Path, made: Company) -> Iterator[Runtime]:
    """The company's warehouse beside a control store of this test's own."""
    control = open_control(tmp_path)
    migrate(control)
    yield replace(runtime_of(made, tmp_path), control=control)
    control.dispose()


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as running:
        yield running
