"""Reading records through the public seam: a format found by content, its gather and its parse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from app.core.usage import Rejected, UsageEvent
from ingest.formats import detect_format, format_named
from ingest.formats.format import Origin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ingest.formats.format import Format

Items = list[UsageEvent | Rejected]


def read_all(form: Format, records: list[Any]) -> Items:
    numbered = list(enumerate(records, 1))
    gathered = form.gather(numbered) if form.gather is not None else numbered
    return [item for line, record in gathered for item in form.parse(record, Origin("test", "test.jsonl", line))]


@pytest.fixture(scope="session")
def read() -> Callable[..., Items]:
    """Items of records, by the format named or else found by content."""

    def reading(*records: Any, form: str | Format | None = None) -> Items:
        if isinstance(form, str):
            form = format_named(form)
        form = form or detect_format(list(records))
        assert form is not None, "no format found by content"
        return read_all(form, list(records))

    return reading


@pytest.fixture(scope="session")
def one(read: Callable[..., Items]) -> Callable[..., UsageEvent]:
    """The only event of some records."""

    def reading(*records: Any, form: str | Format | None = None) -> UsageEvent:
        items = read(*records, form=form)
        assert len(items) == 1, items
        assert isinstance(items[0], UsageEvent), items[0]
        return items[0]

    return reading


@pytest.fixture(scope="session")
def sample(data_dir: Path) -> Callable[[str], list[Any]]:
    """The records of a public sample file."""

    def reading(name: str) -> list[Any]:
        text = (data_dir.parent / "samples" / f"{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line]

    return reading
