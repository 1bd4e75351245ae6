"""Every number, time and change that a page shows is written here, and nowhere else.

Unknown is `n/a`, never 0. Money is dollars with a point and thousands commas; times are local to the named zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Literal

from app.core.money import usd, usd_text

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

UNKNOWN = "n/a"
CENT = Decimal("0.01")
MINUS = "\u2212"


def money(amount: int | str | Decimal | None) -> str:
    """Dollars as `$1,204.10`, below a cent two significant digits: `$0.00042`.

    An int is pico-USD, text and Decimal are USD.
    """
    if amount is None:
        return UNKNOWN
    value = usd(amount) if isinstance(amount, int) else Decimal(amount)
    sign, value = (MINUS, -value) if value < 0 else ("", value)
    if value == 0 or value >= CENT:
        return f"{sign}${value.quantize(CENT, ROUND_HALF_EVEN):,f}"
    return f"{sign}${value.quantize(Decimal(1).scaleb(value.adjusted() - 1), ROUND_HALF_EVEN):f}"


def unit_money(amount: int | str | Decimal | None) -> str:
    """What one of something costs: like `money`, but below a dollar four decimals (`$0.0123`)."""
    if amount is None:
        return UNKNOWN
    value = usd(amount) if isinstance(amount, int) else Decimal(amount)
    if CENT <= abs(value) < 1:
        sign = MINUS if value < 0 else ""
        return f"{sign}${abs(value).quantize(Decimal('0.0001'), ROUND_HALF_EVEN):f}"
    return money(value)


def exact_money(amount: int | str | None) -> str:
    """Every digit of an amount: an int is pico-USD, text is USD."""
    if amount is None:
        return UNKNOWN
    text = usd_text(amount) if isinstance(amount, int) else amount
    return f"{MINUS}${text[1:]}" if text is not None and text.startswith("-") else f"${text}"


def native_money(amount: Decimal, currency: str) -> str:
    """An amount in a currency of its own, every digit of it and at least cents: `1,204.10 EUR`."""
    whole, _, cents = f"{amount.copy_abs():,f}".partition(".")
    return f"{MINUS if amount < 0 else ''}{whole}.{cents.rstrip('0').ljust(2, '0')} {currency}"


def short_money(amount: int | str | Decimal | None) -> str:
    """Dollars for headlines: `$12.4k`, `$3.10M`, `$842`, below 100 as `money` writes it."""
    if amount is None:
        return UNKNOWN
    value = usd(amount) if isinstance(amount, int) else Decimal(amount)
    sign, size = (MINUS, -value) if value < 0 else ("", value)
    if size < 100:
        return money(value)
    if size < 10_000:
        return f"{sign}${size:,.0f}"
    if size < 1_000_000:
        return f"{sign}${size / 1000:,.1f}k"
    return f"{sign}${size / 1_000_000:,.2f}M"


def count(number: int | None) -> str:
    """A whole number with thousands commas."""
    return UNKNOWN if number is None else f"{number:,}".replace("-", MINUS)


def short_count(number: float | None) -> str:
    """A number for headlines and narrow columns: `842`, `12.4k`, `3.10M`, `1.20B`."""
    if number is None:
        return UNKNOWN
    size = abs(number)
    sign = MINUS if number < 0 else ""
    for unit, name, digits in ((1e9, "B", 2), (1e6, "M", 2), (1e4, "k", 1)):
        if size >= unit:
            return f"{sign}{size / (1e3 if name == 'k' else unit):,.{digits}f}{name}"
    return f"{sign}{size:,.0f}"


def share(part: float | Decimal | None, whole: float | Decimal | None) -> str:
    """A part of a whole in per cent; `n/a` where either is unknown or the whole is nothing."""
    if part is None or whole is None or whole == 0:
        return UNKNOWN
    return percent(float(part) / float(whole))


def percent(ratio: float | None) -> str:
    """`0.973` as `97.3%`; what is not whole never rounds up to 100% or down to 0%."""
    if ratio is None:
        return UNKNOWN
    if 0.9995 <= ratio < 1:
        return ">99.9%"
    if 0 < ratio < 0.0005:
        return "<0.1%"
    return f"{ratio * 100:,.1f}%".replace("-", MINUS) if ratio not in (0, 1) else f"{ratio * 100:.0f}%"


@dataclass(frozen=True, slots=True)
class Change:
    """A change against the period before: text, arrow and tone together, so that colour never speaks alone."""

    text: str
    arrow: Literal["▲", "▼", ""]
    tone: Literal["worse", "better", "flat", "unknown"]


NO_CHANGE = Change("no earlier figure", "", "unknown")


def change(
    now: int | Decimal | None, before: int | Decimal | None, *, dollars: bool, good: Literal["down", "none"] = "down"
) -> Change:
    """How far a figure moved. Ints are pico-USD where `dollars`, else plain numbers. More dollars are worse.

    The percentage is left out where the base is under $1, because it would say nothing.
    """
    if now is None or before is None:
        return NO_CHANGE
    moved = Decimal(now) - Decimal(before)
    if moved == 0:
        return Change("unchanged", "", "flat")
    arrow: Literal["▲", "▼"] = "▲" if moved > 0 else "▼"
    sign = "+" if moved > 0 else MINUS
    ratio = float(moved) / float(before) if before else None
    small = before < 10**12 if dollars else before == 0
    per_cent = None if ratio is None or small else f"{sign}{abs(ratio) * 100:,.1f}%"
    if dollars:
        amount = f"{sign}{(money if Decimal(now) >= 10**12 else unit_money)(int(abs(moved)))}"
        text = f"{amount} ({per_cent})" if per_cent else amount
    else:
        text = per_cent or f"{sign}{short_count(float(abs(moved)))}"
    if good == "none":
        return Change(text, arrow, "flat")
    return Change(text, arrow, "worse" if moved > 0 else "better")


def duration(length_us: float | None) -> str:
    """A length of time: `840 ms`, `1.24 s`, `2 min 3 s`, `1 h 5 min`."""
    if length_us is None:
        return UNKNOWN
    seconds = length_us / 1e6
    if seconds < 0.001:
        return f"{length_us:.0f} µs"
    if seconds < 0.9995:
        return f"{seconds * 1000:.{0 if seconds >= 0.1 else 1}f} ms"
    if seconds < 59.995:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"


def moment(at_us: int | None, zone: ZoneInfo) -> str:
    """An instant in the zone: `27 Nov 2026 14:03`."""
    return UNKNOWN if at_us is None else _local(at_us, zone).strftime("%-d %b %Y %H:%M")


def precise_moment(at_us: int | None, zone: ZoneInfo) -> str:
    """An instant with milliseconds and offset: `2026-11-27 14:03:22.118 +01:00`."""
    if at_us is None:
        return UNKNOWN
    local = _local(at_us, zone)
    offset = local.strftime("%z")
    return f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03} {offset[:3]}:{offset[3:5]}"


def iso_moment(at_us: int | None) -> str | None:
    """An instant for machines: ISO 8601 in UTC."""
    return None if at_us is None else _local(at_us, None).isoformat().replace("+00:00", "Z")


def ago(at_us: int | None, now_us: int) -> str:
    """How long ago: `just now`, `5 min ago`, `3 h ago`, `12 days ago`."""
    if at_us is None:
        return "never"
    minutes = max(0, now_us - at_us) // 60_000_000
    if minutes < 2:
        return "just now"
    if minutes < 120:
        return f"{minutes} min ago"
    if minutes < 48 * 60:
        return f"{minutes // 60} h ago"
    return f"{minutes // (24 * 60)} days ago"


def day(value: date, *, year: bool = False) -> str:
    """A day: `27 Nov`, with its year where asked."""
    return value.strftime("%-d %b %Y" if year else "%-d %b")


def day_span(first: date, last: date) -> str:
    """Days from first to last, both included: `1–28 Nov 2026`, `30 Oct – 26 Nov 2026`."""
    if first == last:
        return f"{first:%-d %b %Y}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{last:%-d %b %Y}"
    if first.year == last.year:
        return f"{first:%-d %b} – {last:%-d %b %Y}"
    return f"{first:%-d %b %Y} – {last:%-d %b %Y}"


def rate(pico_per_token: Decimal | int | None) -> str:
    """A rate in pico-USD a token as dollars per million tokens (one and the same number of millionths)."""
    if pico_per_token is None:
        return UNKNOWN
    value = Decimal(pico_per_token) / 1_000_000
    text = f"{value.normalize():f}"
    whole, _, fraction = text.partition(".")
    return f"${int(whole):,}.{fraction.ljust(2, '0')}"


def key_text(key: int) -> str:
    """A signed 64-bit key as the 16 hexadecimal digits that stand in URLs."""
    return f"{key & 0xFFFFFFFFFFFFFFFF:016x}"


def key_number(text: str) -> int | None:
    """The signed 64-bit key of 16 hexadecimal digits; None where the text is none."""
    if len(text) != 16 or not all(character in "0123456789abcdef" for character in text):
        return None
    number = int(text, 16)
    return number - (1 << 64) if number >= 1 << 63 else number


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 request`, `1,204 requests`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def _local(at_us: int, zone: ZoneInfo | None) -> datetime:
    moment_utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)
    return moment_utc if zone is None else moment_utc.astimezone(zone)
