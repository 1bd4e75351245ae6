"""Books with own terms, made from an overlay in code or from the text of a price file."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from app.pricing import compile as compiling
from app.pricing.book import PriceBook
from app.pricing.rules import Overlay

if TYPE_CHECKING:
    from pathlib import Path


@cache
def _sources() -> compiling.Sources:
    return compiling.fresh_sources(Overlay())


def book_with(own: Overlay) -> PriceBook:
    """The list prices and our overlay under the user's own rules."""
    return PriceBook.of(msgspec.structs.replace(_sources(), own=own, version="own-terms"))


def book_from(folder: Path, text: str, name: str = "prices.yml") -> PriceBook:
    """The book that `--prices FILE` gives for a file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return PriceBook.load(None, path)
