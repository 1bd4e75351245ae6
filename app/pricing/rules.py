"""Dated rules laid over the list prices: set, multiply, backdate, add; aliases; calendars. Ours and the user's alike.

One layout serves our overlay (YAML), the user's `--prices FILE` (YAML or CSV) and rows made in code. Prices are USD
per million tokens (fees: USD each). Every error names the file, the line and the field.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import msgspec

from app.core.errors import InputError
from app.pricing import context as ctx_of
from app.pricing.globs import is_glob, matches
from app.pricing.rates import (
    DAY_US,
    FEES,
    FOREVER_US,
    MINUTES_A_DAY,
    PRICED_CLASSES,
    Prices,
    per_mtok,
    per_unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Layer = Literal["list", "contract"]
Op = Literal["set", "multiply", "derive", "backdate", "add", "withhold"]
MOST: Final = 10**12
"""No price or factor is as large; a number beyond it is a slip, and could not be reckoned with."""
STATUSES: Final = ("confirmed", "announced", "estimated")

_DAYS: Final = {"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6}
_EPOCH_ORDINAL: Final = 719_163
_WINDOW: Final = re.compile(r"(\d\d):([0-5]\d)-(\d\d):([0-5]\d)")
_PLAIN: Final = {
    "op", "provider", "model", "account", "ctx", "from", "to", "minutes", "weekdays", "except", "tiers", "factor",
    "factors", "percent", "of", "currency", "source", "status", "note", "alias_of",
}  # fmt: skip
FIELDS: Final = _PLAIN | set(PRICED_CLASSES) | set(FEES)


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One dated rule. `provider`, `model` and `account` are globs (`app.pricing.globs`); `ctx` None means any context.

    A `set` replaces the named classes (all their price steps); a `multiply` scales token classes by `factors` (class
    or `*`); a `derive` prices classes without a price as a factor of class `of`; a `backdate` carries a context's
    later price back in proportion to the standard one; an `add` puts a fee on top; a `withhold` says that no price is
    known in its context unless another rule of that same context gives one. `minutes` are windows of the UTC
    day, `skip_days` are UTC days on which the rule rests. `taken` says that it was imported from a table of others.
    """

    layer: Layer
    op: Op
    provider: str
    model: str
    account: str | None = None
    ctx: dict[str, str] | None = None
    from_us: int = 0
    to_us: int = FOREVER_US
    minutes: tuple[tuple[int, int], ...] = ()
    weekdays: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    prices: Prices = msgspec.field(default_factory=dict)
    factors: dict[str, Decimal] = msgspec.field(default_factory=dict)
    of: str = "input"
    currency: str = "USD"
    source: str = ""
    status: str = "confirmed"
    where: str = ""
    taken: bool = False

    @property
    def general(self) -> bool:
        """Whether it speaks of a family of models: such a rule adds to prices and makes none."""
        return self.is_glob(self.model)

    def is_glob(self, text: str) -> bool:
        """Whether one of its names stands for several."""
        return is_glob(text, literal_brackets=self.layer == "contract" or self.taken)

    def names(self, provider: str, model: str) -> bool:
        return self._fits(provider, self.provider) and self._fits(model.lower(), self.model)

    def holds_for(self, account: str | None) -> bool:
        """Whether it is of every account, or of this one."""
        return self.account is None or (account is not None and self._fits(account, self.account))

    def _fits(self, name: str, pattern: str) -> bool:
        return matches(name, pattern, literal_brackets=self.layer == "contract" or self.taken)

    def active(self, at_us: int, weekday: int, minute: int) -> bool:
        if not self.from_us <= at_us < self.to_us:
            return False
        if self.weekdays and weekday not in self.weekdays:
            return False
        if self.skip_days and at_us // DAY_US in self.skip_days:
            return False
        return not self.minutes or any(start <= minute < end for start, end in self.minutes)


class Alias(msgspec.Struct, frozen=True):
    """Another name of a model: `name` at `provider` (None: anywhere) is `model` at `to_provider` (None: the same).

    `ctx` is what the name says about the price beside the model: the type of an Azure deployment, its data zone.
    """

    provider: str | None
    name: str
    to_provider: str | None
    model: str
    ctx: dict[str, str] = msgspec.field(default_factory=dict)


class Overlay(msgspec.Struct, frozen=True):
    """The rates and names that one file gives; rates are in USD."""

    rules: list[Rule] = msgspec.field(default_factory=list)
    aliases: list[Alias] = msgspec.field(default_factory=list)
    providers: dict[str, str] = msgspec.field(default_factory=dict)
    confirmed_to_us: int = FOREVER_US


def merged(parts: Sequence[Overlay]) -> Overlay:
    """Several files as one: later rules come after earlier ones, later names of a provider replace earlier ones."""
    return Overlay(
        rules=[rule for part in parts for rule in part.rules],
        aliases=[alias for part in parts for alias in part.aliases],
        providers={name: ours for part in parts for name, ours in part.providers.items()},
        confirmed_to_us=min((part.confirmed_to_us for part in parts), default=FOREVER_US),
    )


class Entry:
    """One mapping of text fields with the place it came from; reads typed values and names what is wrong."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = values
        self.where = where

    def fail(self, field: str, problem: str) -> InputError:
        return InputError(f"{self.where}: field {field!r}: {problem}. The price file was not used; correct that line.")

    def text(self, field: str, default: str | None = None) -> str | None:
        value = self.values.get(field)
        if value is None or value == "":
            return default
        if not isinstance(value, str):
            raise self.fail(field, "must be one value, not a list or a mapping")
        return value.strip()

    def number(self, field: str, value: Any) -> Decimal:
        """A number that is not negative; a factor may be written as a fraction, such as 12/11."""
        above, slash, below = str(value).strip().partition("/")
        try:
            number = Decimal(above) / Decimal(below) if slash else Decimal(above)
        except (InvalidOperation, ZeroDivisionError):
            raise self.fail(field, f"{value!r} is no number") from None
        if not number.is_finite() or not 0 <= number < MOST:
            raise self.fail(field, f"{value!r} must be a number that is not negative, and not beyond all measure")
        return number

    def time_us(self, field: str, default: int) -> int:
        value = self.text(field)
        if value is None:
            return default
        try:
            if len(value) == len("2026-01-31"):
                return (date.fromisoformat(value).toordinal() - _EPOCH_ORDINAL) * DAY_US
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise self.fail(field, f"{value!r} is no date (2026-01-31) or time (2026-01-31T16:00:00Z)") from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return round(moment.timestamp()) * 1_000_000


def overlay_from_rows(rows: Iterable[Mapping[str, Any]], *, layer: Layer = "contract", name: str = "rows") -> Overlay:
    """Rules from flat rows such as a CSV gives: provider, model, from, to, ctx, account, one field a class.

    A row with prices sets them, a row with `factor` multiplies, a row with `alias_of` names a model
    (`provider/model` or a model of the same provider).

    Raises:
        InputError: naming row and field.
    """
    rules: list[Rule] = []
    aliases: list[Alias] = []
    for number, row in enumerate(rows, start=1):
        entry = Entry({key: value for key, value in row.items() if value not in (None, "")}, f"{name}, row {number}")
        if entry.values.get("alias_of"):
            aliases.append(_alias(entry, "model", "alias_of"))
            continue
        found = rule(entry, layer, {})
        if found.currency != "USD":
            raise entry.fail("currency", "rows have no exchange rates; write a YAML file with `currencies`")
        rules.append(found)
    return Overlay(rules=rules, aliases=aliases)


def _alias(entry: Entry, name_field: str, target_field: str) -> Alias:
    known = {"provider", "ctx", "note", "source", name_field, target_field}
    for field in entry.values:
        if field not in known and entry.values[field] not in (None, ""):
            raise entry.fail(str(field), f"is unknown in an alias; known fields are {', '.join(sorted(known))}")
    name, target = entry.text(name_field), entry.text(target_field)
    if name is None or target is None:
        missing = name_field if name is None else target_field
        raise entry.fail(missing, "is missing")
    provider = entry.text("provider")
    to_provider, slash, model = target.partition("/")
    if not slash:
        to_provider, model = "", target
    return Alias(
        provider=None if provider in (None, "*") else str(provider).lower(),
        name=name.lower(),
        to_provider=to_provider.lower() or None,
        model=model.lower(),
        ctx=_context(entry, "set") or {},
    )


def alias(entry: Entry) -> Alias:
    """An alias of the YAML form {provider, name, model}."""
    return _alias(entry, "name", "model")


def rule(entry: Entry, layer: Layer, calendars: Mapping[str, tuple[int, ...]]) -> Rule:
    """A rule of one entry.

    Raises:
        InputError: an unknown or unreadable field.
    """
    for field in entry.values:
        if field not in FIELDS:
            raise entry.fail(str(field), f"is unknown; known fields are {', '.join(sorted(FIELDS))}")
    prices, factors = _prices(entry), _factors(entry)
    op = _op(entry, "multiply" if factors else "set")
    if op in ("set", "add") and not prices:
        raise entry.fail("input", "a rule that sets or adds needs at least one price")
    if op in ("multiply", "derive") and not factors:
        raise entry.fail("factor", "a rule that multiplies or derives needs a factor")
    status = entry.text("status") or "confirmed"
    if status not in STATUSES:
        raise entry.fail("status", f"{status!r} is none of {', '.join(STATUSES)}")
    skip = entry.text("except")
    if skip is not None and skip not in calendars:
        raise entry.fail("except", f"no calendar is called {skip!r}")
    provider, model = entry.text("provider"), entry.text("model")
    if provider is None:
        raise entry.fail("provider", "is missing")
    from_us, to_us = entry.time_us("from", 0), entry.time_us("to", FOREVER_US)
    if from_us >= to_us:
        raise entry.fail("to", f"{entry.text('to')!r} is not after `from`, so the entry would never hold")
    return Rule(
        layer=layer,
        op=op,
        provider=provider.lower(),
        model=(model or "*").lower(),
        account=entry.text("account"),
        ctx=_context(entry, op),
        from_us=from_us,
        to_us=to_us,
        minutes=_minutes(entry),
        weekdays=_weekdays(entry),
        skip_days=calendars[skip] if skip else (),
        prices=prices,
        factors=factors,
        of=entry.text("of") or "input",
        currency=(entry.text("currency") or "USD").upper(),
        source=entry.text("source") or entry.where,
        status=status,
        where=entry.where,
    )


def _op(entry: Entry, default: Op) -> Op:
    named = entry.text("op") or default
    for op in get_args(Op):
        if named == op:
            found: Op = op
            return found
    raise entry.fail("op", f"{named!r} is none of {', '.join(get_args(Op))}")


def _context(entry: Entry, op: str) -> dict[str, str] | None:
    value = entry.text("ctx")
    if value is None:
        return None if op in ("multiply", "derive", "add") else {}
    if value == "any":
        return None
    context = ctx_of.parse(value)
    unknown = [name for name in context if name not in ctx_of.DIMENSIONS]
    if unknown:
        raise entry.fail("ctx", f"{unknown[0]!r} is no part of a price context ({', '.join(ctx_of.DIMENSIONS)})")
    return context


def _prices(entry: Entry) -> Prices:
    prices: Prices = {}
    for name in PRICED_CLASSES:
        if name in entry.values:
            prices[name] = ((-1, per_mtok(entry.number(name, entry.values[name]))),)
    for name in FEES:
        if name in entry.values:
            prices[name] = ((-1, per_unit(entry.number(name, entry.values[name]))),)
    for above, tier in _tiers(entry):
        for name, value in tier.items():
            if name == "above":
                continue
            if name not in PRICED_CLASSES or name not in prices:
                raise entry.fail("tiers", f"{name!r} is no class that this entry prices")
            prices[name] = (*prices[name], (above, per_mtok(entry.number("tiers", value))))
    return prices


def _tiers(entry: Entry) -> list[tuple[int, dict[str, Any]]]:
    """The tiers of an entry by the length above which they hold, ascending whatever their order in the file."""
    found: dict[int, dict[str, Any]] = {}
    for tier in entry.values.get("tiers") or ():
        if not isinstance(tier, dict) or "above" not in tier:
            raise entry.fail("tiers", "each tier is a mapping with `above` and the prices that hold there")
        above = entry.number("tiers", tier["above"])
        if above != int(above) or int(above) in found:
            raise entry.fail("tiers", f"`above` {tier['above']} is no whole number of tokens, or stands there twice")
        found[int(above)] = tier
    return sorted(found.items())


def _factors(entry: Entry) -> dict[str, Decimal]:
    factors = entry.values.get("factors") or {}
    if not isinstance(factors, dict):
        raise entry.fail("factors", "must be a mapping of class to number")
    for name in factors:
        if name not in PRICED_CLASSES:
            raise entry.fail("factors", f"{name!r} is no token class ({', '.join(PRICED_CLASSES)})")
    found = {str(name): entry.number("factors", value) for name, value in factors.items()}
    if "percent" in entry.values:
        percent = entry.number("percent", entry.values["percent"])
        if percent > 100 or "factor" in entry.values:
            raise entry.fail("percent", "is a discount of 0 to 100 per cent, in place of a factor")
        found["*"] = 1 - percent / 100
    if "factor" in entry.values:
        found["*"] = entry.number("factor", entry.values["factor"])
    return found


def _minutes(entry: Entry) -> tuple[tuple[int, int], ...]:
    value = entry.text("minutes")
    windows: list[tuple[int, int]] = []
    for window in (value or "").split():
        given = _WINDOW.fullmatch(window)
        start, end = (60 * int(given[1]) + int(given[2]), 60 * int(given[3]) + int(given[4])) if given else (0, 0)
        if not given or start == end or max(start, end) > MINUTES_A_DAY:
            raise entry.fail("minutes", f"{window!r} is no window such as 01:00-04:00 (UTC)")
        if start < end:
            windows.append((start, end))
        else:
            windows += [(start, MINUTES_A_DAY), (0, end)]
    return tuple(windows)


def _weekdays(entry: Entry) -> tuple[int, ...]:
    value = entry.text("weekdays")
    days: list[int] = []
    for word in (value or "").lower().split():
        first, _, last = word.partition("-")
        if first not in _DAYS or (last and last not in _DAYS):
            raise entry.fail("weekdays", f"{word!r} is no weekday or range such as mon-fri")
        length = (_DAYS[last or first] - _DAYS[first]) % 7 + 1  # fri-mon goes over the end of the week
        days.extend((_DAYS[first] + step) % 7 for step in range(length))
    return tuple(days)
