"""Cells from facts: the exact value for the twins and the text for the page, made together so that they never part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from app.core.money import usd_text
from app.web import format as show
from app.web.table import Cell

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

Tone = Literal["", "worse", "better", "muted"]


def text(value: str | None, href: str = "", note: str = "") -> Cell:
    """Free text; None is unknown."""
    return Cell(value, show.UNKNOWN if value is None else value, href=href, note=note)


def money(pusd: int | None, *, exact: bool = False, muted: bool = False) -> Cell:
    """Pico-USD as dollars; the twins carry the exact decimal text."""
    shown = show.exact_money(pusd) if exact else show.money(pusd)
    return Cell(usd_text(pusd), shown, tone="muted" if muted or not pusd else "")


def unit_money(pusd: int | None, note: str = "") -> Cell:
    """What one request costs: finer than `money`."""
    return Cell(usd_text(pusd), show.unit_money(pusd), note=note, tone="" if pusd else "muted")


def unit_usd(amount: str | None) -> Cell:
    """Decimal USD text of what one request costs."""
    return Cell(amount, show.unit_money(amount))


def usd(amount: str | None, *, short: bool = False) -> Cell:
    """Decimal USD text as dollars."""
    return Cell(amount, show.short_money(amount) if short else show.money(amount))


def count(number: int | None, href: str = "") -> Cell:
    return Cell(number, show.count(number), href=href)


def tokens(number: int | None) -> Cell:
    """A token count, short on the page and exact in the twins."""
    return Cell(number, show.short_count(number), tone="" if number else "muted")


def ratio(part: int | None, whole: int | None) -> Cell:
    """A share: per cent on the page, a number between 0 and 1 in the twins, unrounded: a small share is never 0."""
    value = None if part is None or not whole else part / whole
    return Cell(value, show.percent(value), tone="" if value else "muted")


def delta(pusd: int | None) -> Cell:
    """A change in pico-USD with sign and tone; more is worse."""
    if pusd is None:
        return Cell(None, show.UNKNOWN)
    if pusd == 0:
        return Cell("0", "–", tone="muted")
    sign = "+" if pusd > 0 else show.MINUS
    return Cell(usd_text(pusd), f"{sign}{show.money(abs(pusd))}", tone="worse" if pusd > 0 else "better")


def duration(length_us: int | None) -> Cell:
    """A length of time, microseconds in the twins."""
    return Cell(length_us, show.duration(length_us))


def moment(at_us: int | None, zone: ZoneInfo, href: str = "") -> Cell:
    """An instant, local on the page and ISO 8601 UTC in the twins."""
    return Cell(show.iso_moment(at_us), show.moment(at_us, zone), href=href)
