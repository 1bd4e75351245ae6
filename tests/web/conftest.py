"""The made company's dashboard, in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from batch_office import Office
from batch_reader import Reader
from dashboard_company import Company, company
from starlette.testclient import TestClient

from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def open_company() -> Company:
    return company(no_access_control=True, demo=True)


@pytest.fixture(scope="module")
def client(open_company: Company) -> Iterator[TestClient]:
    """A reader of a dashboard without access control."""
    with TestClient(create_app(open_company.deps), base_url="http://127.0.0.1") as reader:
        yield reader


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    office = Office(tmp_path / "data", rows=[], no_access_control=True)
    yield Reader(office)
    office.close()
