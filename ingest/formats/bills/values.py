"""Single values of a bill: exact amounts, quantities in single tokens or units, the UTC day of a charge.

A bill's amount is money: where it cannot be read the line is rejected, never counted as zero.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation, localcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.billed import FLAT_SCOPE, WHOLE_SCOPE, BilledLine
from app.core.hashing import hash64
from app.core.usage import Rejected
from ingest.formats.fields import decoded_text
from ingest.formats.times import utc_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin

    Parsed = Iterator[UsageEvent | BilledLine | Rejected]

_MOST_USD: Final = Decimal(10) ** 15
_MOST_UNITS: Final = Decimal(10) ** 24
_ABSENT: Final = frozenset({"", "null", "none", "n/a", "not_available"})
_AMERICAN_DAY: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})(?:\s.*)?")
_UNIT: Final = re.compile(r"\s*(?:(\d[\d,]*)\s*)?(k|m|thousand|million)?\b", re.IGNORECASE)
_SCALES: Final = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
PAYER: Final = "organization_id"
"""Where a page, or a line of it, says whose bill it is."""


class BadLineError(ValueError):
    """A line of a bill that cannot be used, and why."""


def text(value: Any) -> str | None:
    """Text that says something; a table's ways of writing nothing are None."""
    if value is None or isinstance(value, (bool, dict, list)):
        return None
    found = str(value).strip()
    return None if found.lower() in _ABSENT else found


def amount(value: Any, field: str) -> Decimal | None:
    """An exact decimal amount; None where the line says none.

    Raises:
        BadLineError: it is no finite number, or none that money or tokens come in.
    """
    given = text(value)
    if given is None:
        return None
    try:
        found = Decimal(given.replace(",", "") if given.count(",") and "." in given else given)
    except InvalidOperation as error:
        raise BadLineError(f"{field} is no number: {given[:40]!r}") from error
    if not found.is_finite() or abs(found) >= _MOST_UNITS or (found and found.adjusted() < -30):
        raise BadLineError(f"{field} is no plausible number: {given[:40]!r}")
    return found


def money(value: Any, field: str, *, cents: bool = False) -> Decimal | None:
    """An amount of money in whole units of its currency; `cents` where the export writes hundredths.

    Raises:
        BadLineError: it is no plausible amount.
    """
    found = amount(value, field)
    if found is not None and abs(found) >= _MOST_USD:
        raise BadLineError(f"{field} is no plausible amount of money: {str(value)[:40]!r}")
    return found if found is None or not cents else found.scaleb(-2)


def charge(value: Any, field: str, *, cents: bool = False) -> Decimal:
    """The amount of a line that must have one.

    Raises:
        BadLineError: it has none, or none that is plausible.
    """
    found = money(value, field, cents=cents)
    if found is None:
        raise BadLineError(f"it has no {field}")
    return found


def units(value: Any, field: str, unit: str | None = None) -> Decimal | None:
    """A quantity in single tokens or units: `17.33` of `1K tokens` is 17330.

    Raises:
        BadLineError: it is no plausible number.
    """
    found = amount(value, field)
    if found is None:
        return None
    with localcontext() as context:
        context.prec = 60
        return found * scale(unit)


def scale(unit: str | None) -> int:
    """How many single ones a unit holds: `1M` is 1,000,000, `thousand count` 1,000, `1000 Tokens` 1,000, `Tokens` 1."""
    match = _UNIT.match(unit or "")
    if match is None:
        return 1
    number, word = match.groups()
    return int(number.replace(",", "") if number else 1) * _SCALES.get((word or "").lower(), 1)


def whole(value: Any, field: str) -> int | None:
    """A count.

    Raises:
        BadLineError: it is no whole number.
    """
    found = amount(value, field)
    if found is None:
        return None
    if found != found.to_integral_value() or not 0 <= found < 2**53:
        raise BadLineError(f"{field} is no count: {str(value)[:40]!r}")
    return int(found)


def day(value: Any, field: str) -> str:
    """The UTC day that a charge belongs to, ISO. A day written as month/day/year is read so, as Azure writes it.

    Raises:
        BadLineError: it is no time.
    """
    if isinstance(value, str):
        if american := _AMERICAN_DAY.fullmatch(value.strip()):
            month, day_of_month, year = (int(part) for part in american.groups())
            try:
                return datetime(year, month, day_of_month, tzinfo=UTC).date().isoformat()
            except ValueError as error:
                raise BadLineError(f"{field} is no day: {value[:40]!r}") from error
        value = value.strip().removesuffix(" UTC")
    warnings: list[str] = []
    at_us = utc_instant(value, field, warnings)
    if at_us is None:
        raise BadLineError(f"{field} is no time: {str(value)[:40]!r}")
    return (_EPOCH + timedelta(microseconds=at_us)).date().isoformat()


def last_day(value: Any, field: str, first: str) -> str | None:
    """The last UTC day of a period that begins on `first` and ends before this time; None where it is the first day.

    Raises:
        BadLineError: it is no time.
    """
    if text(value) is None:
        return None
    day(value, field)  # the same ways of writing a time, and the same error
    ends_us = utc_instant(str(value).strip().removesuffix(" UTC"), field, [])
    if ends_us is None:
        return None
    found = (_EPOCH + timedelta(microseconds=ends_us - 1)).date().isoformat()
    return found if found > first else None


def nested(record: Mapping[str, Any], path: str) -> Any:
    """A value by its dotted path: of objects, of ones written as JSON text, or of a flattened column of that name."""
    if path in record:
        return record[path]
    found: Any = record
    for step in path.split("."):
        if isinstance(found, str):
            found = decoded_text(found)
        if not isinstance(found, dict) or step not in found:
            return None
        found = found[step]
    return found


def payer_of(value: Any) -> str | None:
    """The name of a billing account without the path that some exports write in front of it, in small letters."""
    given = text(value)
    return None if given is None else given.rstrip("/").rpartition("/")[2].lower() or None


def items(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list, given as such or as its JSON text."""
    found = decoded_text(value) if isinstance(value, str) else value
    if isinstance(found, list):
        yield from (item for item in found if isinstance(item, dict))


def pages(record: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(bucket, result) of a page of a usage or cost API; a bucket of its own is a page of one."""
    if not isinstance(record, dict):
        return
    buckets = record.get("data") if isinstance(record.get("data"), list) else [record]
    for bucket in items(buckets):
        for result in items(bucket.get("results")):
            yield bucket, result


def scope_of_account(payer: str | None, account: str | None) -> str:
    """The scope of a line in an export that may be of one account alone: what it says of another's days stays."""
    return f"{payer or ''}{WHOLE_SCOPE}{account or ''}"


def scope_of_item(item: Mapping[str, Any], amounts: Collection[str]) -> str:
    """The scope of a flat item of a page: whatever names it but its `amounts`.

    Pages of flat items may part in the middle of a day, so that no page says a day whole: each item stands for itself.
    """

    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: named(value[name]) for name in sorted(value) if name not in amounts}
        return None if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    return f"{FLAT_SCOPE}{hash64(msgspec.json.encode(named(item))):x}"


def rejected(error: BadLineError) -> Rejected:
    """What the quarantine says of a line."""
    return Rejected(f"the line of the bill cannot be used: {error}")


def of_pages(parse: Callable[[Any, Origin], Parsed]) -> Callable[[Any, Origin], Parsed]:
    """A reader whose lines say whether their page names another that follows (`has_more`), and whose bill it is where
    what pulled the page wrote that on it.
    """

    @wraps(parse)
    def reading(record: Any, origin: Origin) -> Parsed:
        page = record if isinstance(record, dict) else {}
        said: dict[str, Any] = {"has_more": True} if page.get("has_more") is True else {}
        if (payer := text(page.get(PAYER))) is not None:
            said["payer"] = payer
        for line in parse(record, origin):
            yield msgspec.structs.replace(line, **said) if said and isinstance(line, BilledLine) else line

    return reading
