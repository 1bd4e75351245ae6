from __future__ import annotations

from pathlib import Path

import pytest

import ingest.formats
from ingest.formats.column_map import FIELDS
from ingest.formats.envelope import NAMES

README = (Path(ingest.formats.__file__).parent / "README.md").read_text(encoding="utf-8")
ENVELOPE, _, TABLE = README.partition("## The generic table")


@pytest.mark.parametrize("column", sorted(FIELDS))
def test_every_column_of_the_generic_table_is_documented(column):
    assert f"`{column}`" in TABLE


def test_every_documented_field_of_the_envelope_is_read():
    rows = [line.split("|")[1] for line in ENVELOPE.splitlines() if line.startswith("| `")]
    fields = {name.strip(" `") for row in rows for name in row.split(",")} - {"request", "response"}
    assert fields
    assert fields <= NAMES.keys()
