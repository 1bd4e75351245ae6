"""Prices: what the book says of any model, what is unpriced in the logs, where lists disagree, which fees run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from app.analysis import coverage as covered
from app.analysis import missing_prices
from app.analysis.scope import spend_scope
from app.core import view as views
from app.pricing.rates import FEES, FOREVER_US
from app.pricing.show import PriceLine, current, lines_of, search
from app.web import cells
from app.web import format as show
from app.web.behind import unpriced_behind
from app.web.page import Content, Context, Empty, Link, Page
from app.web.price_fees import fee_table
from app.web.price_uses import use_table
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from zoneinfo import ZoneInfo

    from app.analysis.coverage import UnpricedModel
    from app.pricing.book import PriceBook
    from app.pricing.disagreement import Disagreement
    from app.web.cells import Tone
    from app.web.commands import PriceDesk

PATH: Final = "/prices"
MOST_MODELS: Final = 25
MOST_ROWS: Final = 200
SEEN: Final = 200
DAY_US: Final = 86_400_000_000
CLASSES: Final = (
    ("input", "Input"),
    ("cache_read", "Cached"),
    ("cache_write_5m", "Written"),
    ("cache_write_1h", "Written 1 h"),
    ("output", "Output"),
)
NOTHING_READ: Final = "No request was read yet."
MISSING: Final = frozenset({"partly", "unpriced"})


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    asked: str
    facts: tuple[Fact, ...]
    entries: str
    path: str = PATH


def build(context: Context) -> Content:
    """The Prices page: today's rates of the models in the logs, or every dated rate of what was searched."""
    desk = context.deps.commands.prices
    if desk is None:
        return Content(
            "Prices",
            empty=Empty(
                "No price book here",
                "This Halve was started without its price book.",
                (Link("Open Sources", "/sources"),),
            ),
        )
    book = desk.at_work()[0]
    asked = context.keys.get("q", "").strip()[:200]
    everything = views.View(period=views.period("all", context.view.period.zone, context.now_us))
    seen = _seen(context, everything)
    found = search(book, asked, most=MOST_MODELS) if asked else []
    lines = [line for key in found for line in lines_of(book, *key)] if asked else _now(book, seen, context.now_us)
    unpriced = [item for item in covered.coverage(context.session, everything).unpriced if item.cost_state in MISSING]
    why = missing_prices.reasons(context.session, everything) if unpriced else {}
    lacking = [(item, missing_prices.reasons_of(item, why)) for item in unpriced]
    helped = [item for item, given in lacking if missing_prices.rate_helps(given)]
    named = frozenset((line.provider, line.model) for line in lines)
    tables = [
        _rates_table(lines, asked=asked, full=len(found) == MOST_MODELS, any_seen=bool(seen)),
        use_table(lines),
        _unpriced_table(context, lacking, any_seen=bool(seen)),
    ]
    tables.append(_disagreement_table(desk.disagreements(named), any_named=bool(named)))
    if book.fees:
        tables.append(fee_table(context, book.fees))
    return Content("Prices", model=Model(asked, _facts(desk, context.zone), _entries(helped)), tables=tuple(tables))


def _seen(context: Context, everything: views.View) -> list[tuple[str | None, str]]:
    scope = spend_scope(context.session, everything, "model")
    rows = context.session.rows("pricing.seen", {"facts": scope.relation}, **scope.range, most=SEEN)
    return [(provider, str(model)) for provider, model, *_ in rows]


def _now(book: PriceBook, seen: Iterable[tuple[str | None, str]], now_us: int) -> list[PriceLine]:
    lines = [line for provider, model in seen for line in current(book, provider, model, now_us)]
    return list({line.price_row: line for line in lines}.values())


def _facts(desk: PriceDesk, zone: ZoneInfo) -> tuple[Fact, ...]:
    book, since_us, problem = desk.at_work()
    tables = desk.tables()
    confirmed = book.sources.overlay.confirmed_to_us
    taken = ", ".join(f"{kind} of {_day(at_us)}" for kind, at_us in tables)
    return (
        Fact(
            "Price book",
            book.version,
            f"at work since {show.moment(since_us, zone)}; `halve prices reprice` is for what came before",
        ),
        *([Fact("Not in use", "changed price files", problem)] if problem else []),
        Fact("List prices", book.list_source, f"{len(book.sources.price_list.models):,} models"),
        Fact(
            "Announced prices",
            "all are at work" if confirmed == FOREVER_US else f"confirmed to {_day(confirmed - DAY_US)}",
            "" if confirmed == FOREVER_US else "later ones wait until they are confirmed",
        ),
        Fact("Imported tables", taken or "none", "" if taken else "`halve prices import FILE`"),
        Fact(
            "Your own terms",
            desk.file.rpartition("/")[2] or "none",
            "" if desk.file else "`--prices` or `HALVE_PRICES`",
        ),
    )


def _rates_table(lines: Sequence[PriceLine], *, asked: str, full: bool, any_seen: bool) -> Table:
    caption = f"Every rate of what matches “{asked}”" if asked else "Rates now of the models in your logs"
    notes = ["USD per million tokens."]
    if full:
        notes.append(f"The first {MOST_MODELS} models; search more narrowly for others.")
    if len(lines) > MOST_ROWS:
        notes.append(f"The first {MOST_ROWS} of {len(lines):,} rows.")
    return Table(
        "rates",
        caption,
        (
            Column("model", "Model", width="label"),
            Column("context", "Context"),
            Column("valid_from", "From", width="dates"),
            Column("valid_to", "To", twin_only=True),
            Column(
                "prompt_above", "Prompt above", "number", twin_only=all(line.prompt_above is None for line in lines)
            ),
            Column("hours_utc", "Hours, UTC", twin_only=not any(line.hours for line in lines)),
            *(_class_column(lines, name, label) for name, label in CLASSES),
            Column(
                "other_rates", "Other tokens", width="mid", twin_only=not any(_other_tokens(line) for line in lines)
            ),
            Column("status", "Status", width="tight", twin_only=True),
            Column("source", "Source", width="address"),
            Column("currency", "Currency", twin_only=True),
            Column("price_row", "Price row", twin_only=True),
        ),
        tuple(_rate_row(line) for line in lines[:MOST_ROWS]),
        frame_note=" ".join(notes),
        empty=f"Nothing in the book matches “{asked}”. A model of your own gets its price from your price file."
        if asked
        else f"{'No model in the logs has a price.' if any_seen else NOTHING_READ} Search for any model above.",
        stacked=True,
    )


def _class_column(lines: Sequence[PriceLine], name: str, label: str) -> Column:
    """A class as a column; that of the longer lifetime only where a model prices it otherwise than the shorter."""
    rates = [line.usd_per_mtok for line in lines]
    same = name == "cache_write_1h" and all(rate[name] == rate["cache_write_5m"] for rate in rates)
    return Column(f"{name}_usd_per_mtok", label, "number", twin_only=same)


def _others(line: PriceLine) -> str:
    """What a row prices beside the classes that have a column."""
    fees = [f"{name.replace('_', ' ')} {rate} each" for name, rate in line.fees_usd.items()]
    return "; ".join((*_other_tokens(line), *fees))


def _other_tokens(line: PriceLine) -> list[str]:
    """The token classes among them, whose rates are dollars per million too."""
    rates = line.usd_per_mtok
    others = {name: rate for name, rate in rates.items() if name not in dict(CLASSES) and rate}
    if rates["reasoning"] == rates["output"]:
        others.pop("reasoning", None)
    return [f"{name.replace('_', ' ')} {rate}" for name, rate in others.items()]


def _rate_row(line: PriceLine) -> tuple[Cell, ...]:
    tone: Tone = "muted" if line.valid_to is not None else ""  # a price of the past
    others, tokens_only = _others(line), "; ".join(_other_tokens(line))
    until = "" if line.valid_to is None else f"to {_date(line.valid_to, '')}"
    return (
        Cell(f"{line.provider}/{line.model}", line.model, note=line.provider, tone=tone),
        Cell(line.context, line.context.replace("=", " ")),
        Cell(line.valid_from, _date(line.valid_from, "always"), note=until),
        Cell(line.valid_to, _date(line.valid_to, "")),
        Cell(line.prompt_above, "" if line.prompt_above is None else show.count(line.prompt_above)),
        Cell(line.hours or None, line.hours),
        *(Cell(line.usd_per_mtok[name], line.usd_per_mtok[name] or show.UNKNOWN, tone=tone) for name, _ in CLASSES),
        Cell(others or None, tokens_only, tone="muted"),
        Cell(line.status, line.status, tone="muted" if line.status == "confirmed" else ""),
        Cell(
            line.source,
            _short(line.source, last_first="contract" in line.context),
            note="" if line.status == "confirmed" else line.status,
            tone="muted",
        ),
        Cell("USD", "USD"),
        Cell(line.price_row, line.price_row),
    )


def _unpriced_table(
    context: Context, lacking: Sequence[tuple[UnpricedModel, Mapping[str, int]]], *, any_seen: bool
) -> Table:
    return Table(
        "unpriced",
        "Unpriced in your logs",
        (
            Column("model", "Model", width="mid"),
            Column("provider", "Provider", width="tight"),
            Column("state", "State", twin_only=True),
            Column("reason", "What is missing", width="tight"),
            Column("requests", "Requests", "number"),
            Column("tokens", "Tokens", "number"),
            Column("price_file_entry", "Entry for your price file", twin_only=True),
        ),
        tuple(
            (
                cells.text(item.model),
                cells.text(None if item.provider == "None" else item.provider),
                Cell(item.cost_state, item.cost_state),
                cells.text(missing_prices.in_words(given)),
                cells.count(item.requests, href=unpriced_behind(context, item)),
                cells.count(item.tokens),
                _entry_cell(item) if missing_prices.rate_helps(given) else cells.text(None),
            )
            for item, given in lacking
        ),
        empty="Every model in the logs has a price." if any_seen else NOTHING_READ,
        stacked=True,
    )


def _entry_cell(item: UnpricedModel) -> Cell:
    return Cell(_entry(item), _entry(item), tone="muted")


def _entry(item: UnpricedModel) -> str:
    """A line for `rates:` with the prices left to fill in; as it stands a run says which line lacks them."""
    provider = item.provider if item.provider not in ("", "None", views.UNASSIGNED) else "own"
    return f"- {{provider: {_quoted(provider)}, model: {_quoted(item.model)}, input: FILL_IN, output: FILL_IN}}"


def _quoted(text: str) -> str:
    plain = "".join(char for char in text if char.isprintable())
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _entries(unpriced: Sequence[UnpricedModel]) -> str:
    """A price file for everything that lacks a price."""
    if not unpriced:
        return ""
    lines = [f"  {_entry(item)}" for item in unpriced]
    return "rates:  # USD per million tokens\n" + "\n".join(lines)


def _disagreement_table(found: Sequence[Disagreement], *, any_named: bool) -> Table:
    agree = "The lists agree on the models above." if any_named else "No model stands above."
    return Table(
        "disagreements",
        "Where lists disagree by more than 1 %",
        (
            Column("model", "Model", width="label"),
            Column("context", "Context"),
            Column("class", "Class"),
            Column("prompt_above", "Prompt above", "number"),
            Column("book_usd", "Book", "number"),
            Column("since", "Since", width="tight"),
            Column("other_usd", "Other list", "number"),
            Column("as_of", "As of", width="tight"),
            Column("other", "List", width="mid"),
            Column("source", "The book's source", width="address"),
        ),
        tuple(
            (
                Cell(f"{one.provider}/{one.model}", one.model, note=one.provider),
                Cell(one.ctx or "standard", (one.ctx or "standard").replace("=", " ")),
                Cell(one.name, one.name.replace("_", " "), note="each" if one.name in FEES else ""),
                Cell(one.prompt_above, "" if one.prompt_above is None else show.count(one.prompt_above)),
                Cell(one.book_usd, one.book_usd),
                Cell(*_both(None if one.since_us is None else _day(one.since_us), "always")),
                Cell(one.other_usd, one.other_usd),
                Cell(_day(one.as_of_us), _day(one.as_of_us)),
                Cell(one.other, one.other),
                Cell(one.source, _short(one.source), tone="muted"),
            )
            for one in found
        ),
        frame_note="Of the models above. The check of all models: `halve prices check`." if found else "",
        empty=f"{agree} The check of all models: `halve prices check`.",
        stacked=True,
    )


def _short(source: str, *, last_first: bool = False) -> str:
    """A source as a reader needs it: the list, or for own terms the entry of the file; then how many more had a say."""
    parts = [part.replace("https://", "").partition(" (")[0] for part in source.split("; ")]
    ordered = parts[::-1] if last_first else parts
    return ordered[0] + (f" and {len(parts) - 1} more" if len(parts) > 1 else "")


def _both(value: str | None, otherwise: str) -> tuple[str | None, str]:
    return value, value or otherwise


def _date(text: str | None, otherwise: str) -> str:
    if text is None:
        return otherwise
    return text[:10] if text.endswith("T00:00:00Z") else f"{text[:10]} {text[11:16]}"


def _day(at_us: int) -> str:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime("%Y-%m-%d")


PAGE = Page(
    name="prices",
    path=PATH,
    twin=PATH,
    nav="Prices",
    build=build,
    keys=frozenset({"q"}),
    uses_view=False,
    section="prices",
)
