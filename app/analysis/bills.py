"""Bills in the words of the requests: models resolved, amounts in USD, the same bill from two sources counted once.

`settle` makes `bill_lines` and `bill_facts` anew from `billed`, the requests and the price book, and is called after
every ingest. Nothing of it is a fact of its own: it can be thrown away and made again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.bill_costs import with_costs_elsewhere
from app.analysis.bill_doubles import undoubled
from app.analysis.bill_facts import bill_facts
from app.core.hashing import hash64
from app.core.money import pico
from app.core.view import UNASSIGNED
from app.pricing import context as ctx_of
from app.warehouse import bill_periods, rollup

if TYPE_CHECKING:
    from app.analysis.bill_facts import Logged
    from app.pricing.book import PriceBook
    from app.warehouse.store import Session

DAY_US: Final = 86_400_000_000
NOON_US: Final = DAY_US // 2
MOST_SINGLE_DAYS: Final = 40
_INPUT_SIDE: Final = ("input", "cache_read", "cache_write", "tokens")
_SHORTEST_WRITE: Final = {"openai": "r_cache_write_30m", "azure": "r_cache_write_30m"}
_LINE_SCHEMA: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "at_us": pl.Int64,
    "last_us": pl.Int64,
    **dict.fromkeys(
        ("source", "report", "provider", "account", "model", "model_id", "class", "kind", "service_tier"), pl.String
    ),
    "is_batch": pl.Boolean,
    "currency": pl.String,
    "quantity": pl.Decimal(38, 6),
    "requests": pl.Int64,
    "cost": pl.Decimal(38, 12),
    "cost_pusd": pl.Int64,
    "value_pusd": pl.Int64,
    "price_row": pl.String,
    "has_cost": pl.Boolean,
    "doubled_by": pl.String,
    "cost_elsewhere": pl.Boolean,
    "is_gone": pl.Boolean,
    "unlike": pl.String,
}


@dataclass(frozen=True, slots=True)
class BillLine:
    """What one bill says of a day, account, model and class; the columns of `bill_lines`.

    `last_us` is noon UTC of the last day that the line is about: a month may stand in one line of its first day.
    `cost_pusd` is None where the report says no cost, or in a currency without a rate; `value_pusd` is the quantity of
    a line without a cost at the price book's rate, None where that has none. A line with `doubled_by` does not count:
    that source says it too, its own where a newer export of the same report does.
    `cost_elsewhere`: a cost line of the bill says what a line without a cost costs. `payer`: the organisation or
    billing account whose bill it is, where it is said; it is not stored. `is_gone`: an item that the newest whole
    export of its days no longer has; it does not count. `unlike`: the source that says its days too, with amounts that
    are nothing alike and no word of the payer: both count.
    """

    at_us: int
    last_us: int
    source: str
    report: str
    provider: str
    account: str | None
    model: str | None
    model_id: str | None
    usage_class: str
    kind: str
    service_tier: str | None
    is_batch: bool | None
    currency: str | None
    quantity: Decimal | None
    requests: int | None
    cost: Decimal | None
    has_cost: bool
    cost_pusd: int | None = None
    value_pusd: int | None = None
    price_row: str | None = None
    doubled_by: str | None = None
    cost_elsewhere: bool = False
    payer: str | None = None
    is_gone: bool = False
    unlike: str | None = None

    @property
    def amount_pusd(self) -> int | None:
        """What the line charges or, for a usage report, what its quantity is worth."""
        return self.cost_pusd if self.has_cost else self.value_pusd

    @property
    def days(self) -> range:
        """Noon UTC of each day that the line is about."""
        return range(self.at_us, self.last_us + 1, DAY_US)


def settle(session: Session, book: PriceBook) -> bool:
    """Bring `bill_lines`, `bill_facts` and the roll-ups of their days up to date; whether anything changed for Spend.

    Call inside `Warehouse.writing()` after the roll-ups. Without a bill, or a change of what it rests on (bills, logged
    days, prices), it costs a look.
    """
    if not session.rows("billed.any")[0][0]:
        return False
    logged, made_of = _rests_on(session, book)
    if session.rows("billed.state") == [(made_of,)]:
        return False
    session.execute("billed.set_state", made_of=made_of)
    lines = with_costs_elsewhere(_priced(undoubled(_read(session, book)), book))
    made = pl.DataFrame([_row(line) for line in lines], schema=_LINE_SCHEMA, orient="row")
    _replace(session, "billed.clear_lines", "billed.insert_lines", made)
    before = session.frame("billed.facts")
    after = bill_facts(lines, logged).select(before.columns).cast(before.schema)
    if before.sort(before.columns).equals(after.sort(before.columns)):
        return False
    _replace(session, "billed.clear_facts", "billed.insert_facts", after)
    _fill_again(session, pl.concat([before["at_us"], after["at_us"]]).unique())
    return True


def _fill_again(session: Session, noons: pl.Series) -> None:
    """Fill the roll-ups of these hours: one by one, or all between them at once where they are many."""
    if noons.len() <= MOST_SINGLE_DAYS:
        rollup.rebuild_for(session, noons)
        return
    first, last = noons.cast(pl.Int64).sort().to_list()[:: noons.len() - 1]
    rollup.rebuild(session, from_us=first, to_us=last + 1)


def _rests_on(session: Session, book: PriceBook) -> tuple[list[Logged], str]:
    """What was logged on the days of bills, and one text that changes with bills, logged days and prices."""
    *figures, first_us, last_us = session.rows("billed.made_of")[0]
    rows = (
        []
        if first_us is None
        else session.rows("billed.logged_days", from_us=int(first_us) - NOON_US, to_us=int(last_us) + NOON_US)
    )
    logged = [
        (int(at_us), _known(provider), _known(account), _known(model)) for at_us, provider, account, model in rows
    ]
    exchanges = [(one.currency, str(one.usd), one.from_us) for one in book.sources.exchanges]
    text = repr((book.version, exchanges, [str(figure) for figure in figures], logged))
    return logged, f"{hash64(text.encode()):x}"


def _known(name: str) -> str | None:
    return None if name == UNASSIGNED else name


def _replace(session: Session, clear: str, insert: str, made: pl.DataFrame) -> None:
    session.execute(clear)
    session.register("made_of_bills", made)
    session.execute(insert, {"made": "made_of_bills"})
    session.unregister("made_of_bills")


def _read(session: Session, book: PriceBook) -> list[tuple[BillLine, str | None, int]]:
    """Every line with its region and the time of its file; its own source doubles what a newer export of it says."""
    models: dict[tuple[str, str | None], str | None] = {}
    found = []
    session.register("older_periods", bill_periods.older(session))
    rows = session.frame("billed.sums", {"older": "older_periods"})
    session.unregister("older_periods")
    for row in rows.iter_rows(named=True):
        provider, model = row["provider"], row["model"]
        if (provider, model) not in models:
            match = book.matcher.find(provider, model)
            models[provider, model] = model if match is None else match.price_model
        line = BillLine(
            at_us=row["at_us"],
            last_us=row["last_us"],
            source=row["source"],
            report=row["report"],
            provider=provider,
            account=row["account"],
            model=model,
            model_id=models[provider, model],
            usage_class=row["class"],
            kind=row["kind"],
            service_tier=row["service_tier"],
            is_batch=row["is_batch"],
            currency=row["currency"],
            quantity=row["quantity"],
            requests=None if row["requests"] is None else int(row["requests"]),
            cost=row["cost"],
            has_cost=row["has_cost"],
            cost_pusd=_dollars(row, book),
            doubled_by=row["source"] if row["is_older"] else None,
            payer=row["payer"],
            is_gone=row["is_gone"],
        )
        found.append((line, row["region"], row["written_ns"]))
    return found


def _dollars(row: dict[str, Any], book: PriceBook) -> int | None:
    """A cost in pico-USD, at the exchange rate of its day; None where there is no cost or no rate."""
    worth = book.usd_of(row["currency"] or "USD", row["at_us"]) if row["has_cost"] else None
    if worth is None:
        return None
    with localcontext() as context:
        context.prec = 60
        return pico(row["cost"] * worth)


def _priced(lines: list[tuple[BillLine, str | None]], book: PriceBook) -> list[BillLine]:
    """Value the lines without a cost at the price book's rate of their day."""
    asked: dict[tuple[Any, ...], int] = defaultdict(int)
    prompts: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
    for line, _ in lines:
        group = _group(line)
        asked[group] += line.requests or 0
        if line.usage_class.startswith(_INPUT_SIDE) and not line.has_cost:
            prompts[group] += line.quantity or 0
    found = []
    for line, region in lines:
        if line.has_cost or line.model_id is None or line.quantity is None:
            found.append(line)
            continue
        group = _group(line)
        # A daily sum says nothing of how long one prompt was: the mean stands for all of them.
        mean = int(prompts[group] / asked[group]) if asked[group] else 0
        extra = {"inference_geo": region} if region and line.provider == "anthropic" else None
        context = ctx_of.of_request(
            is_batch=bool(line.is_batch), service_tier=line.service_tier, region=None, extra=extra
        )
        rate = book.rate(
            line.provider, line.model or "", at_us=line.at_us, ctx=ctx_of.text(context), prompt_tokens=mean
        )
        column = f"r_{line.usage_class}"
        if column == "r_cache_write":
            column = _SHORTEST_WRITE.get(line.provider, "r_cache_write_5m")
        value = None if rate is None else rate.rates.get(column)
        if rate is None or value is None:
            found.append(line)
        else:
            found.append(replace(line, value_pusd=_times(line.quantity, value), price_row=rate.price_row))
    return found


def _group(line: BillLine) -> tuple[Any, ...]:
    return line.at_us, line.source, line.report, line.account, line.model, line.service_tier, line.is_batch


def _times(quantity: Decimal, rate: Decimal) -> int:
    with localcontext() as context:
        context.prec = 60
        return int((quantity * rate).to_integral_value(rounding=ROUND_HALF_EVEN))


def _row(line: BillLine) -> tuple[Any, ...]:
    given = {name: getattr(line, "usage_class" if name == "class" else name) for name in _LINE_SCHEMA}
    return tuple(given.values())
