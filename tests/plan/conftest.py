"""The real price book, compiled once for all tests of the plan."""

from __future__ import annotations

import pytest

from app.pricing.book import PriceBook


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    return PriceBook.load(tmp_path_factory.mktemp("prices"))
