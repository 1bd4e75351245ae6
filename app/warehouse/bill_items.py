"""Pages of items that stand for themselves: which pages are one export, and whether it was read to its end.

A page may part a day, so that no page says a day whole; all pages of an export together do. Nothing on a page names
its export: files that were written within an hour of each other are taken for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

APART_NS: Final = 3_600 * 10**9


@dataclass(frozen=True, slots=True)
class ItemsOfDay:
    """What one page says of the days from `first` up to and including `through`.

    `place` is the page: (export, line of the page), `written_ns` the time of its file; `has_more`: it says that another
    page follows.
    """

    place: tuple[str, int]
    first: date
    through: date
    written_ns: int
    has_more: bool


@dataclass(frozen=True, slots=True)
class ItemExport:
    """The pages of one export: what it says of its days from first to last. `is_whole`: its last page is the last."""

    number: int
    first: date
    through: date
    is_whole: bool


def exports_of(items: Iterable[ItemsOfDay]) -> dict[tuple[str, int], ItemExport]:
    """The export of each page, by its place. All items are of one report."""
    groups: list[list[ItemsOfDay]] = []
    for item in sorted(items, key=lambda item: (item.written_ns, item.place)):
        if not groups or item.written_ns - groups[-1][-1].written_ns > APART_NS:
            groups.append([])
        groups[-1].append(item)
    found = {}
    for number, group in enumerate(groups):
        export = ItemExport(
            number,
            min(item.first for item in group),
            max(item.through for item in group),
            not group[-1].has_more,
        )
        found.update(dict.fromkeys((item.place for item in group), export))
    return found
