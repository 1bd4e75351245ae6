"""What a report says, free of any channel: mail, page and terminal only dress it.

Amounts are written as on the pages; tables carry exact values beside what they show. Links are paths of the dashboard:
whoever dresses the document puts the origin before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.charts.chart import Chart
    from app.web.format import Change
    from app.web.page import Link
    from app.web.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One headline figure; `change` is against the stretch before, None where there is none."""

    label: str
    value: str
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing to do: what it is worth and in which unit, who has it, its first step, where to read on."""

    what: str
    where: str
    worth: str
    grade: str
    owner: str
    step: str
    href: str


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report. It is only made where it has something to say; `charts` have their summary beside them.

    `wide_only` are keys of table columns that a narrow screen can do without.
    """

    title: str
    sentences: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    table: Table | None = None
    wide_only: frozenset[str] = frozenset()
    deeds: tuple[Deed, ...] = ()
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    Attributes:
        report: its kind, `weekly`; `period` is what it is about, `2026-W47`, and `days` the same in words.
        subject: one line with the news in it.
        title: the headline of the body; `lead` are the sentences below it.
        warnings: what makes the figures less than complete; said before them.
        files: exact tables that travel along as CSV.
        notes: how the figures were come by.
        link: the page that shows the same figures.
        kind: what the head of a mail calls it.
    """

    report: str
    period: str
    days: str
    subject: str
    title: str
    lead: tuple[str, ...]
    warnings: tuple[str, ...]
    figures: tuple[Figure, ...]
    sections: tuple[Section, ...]
    files: tuple[Table, ...]
    notes: tuple[str, ...]
    link: Link
    kind: str = "weekly savings report"


def clipped(text: str, most: int) -> str:
    """Text of a log in a report: its beginning where it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
