"""The analysis document as text for a terminal: spend by feature and model, the plan, what is missing and why.

Readable at 80 columns, with more columns where there is room; without colour unless the reader is a terminal. All
names come from logs, so nothing of them is taken as markup or as a control character.
"""

from __future__ import annotations

import re
from decimal import Decimal
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.analysis.missing_prices import ADVICE, in_words, rate_helps
from app.web.format import count, money, native_money, plural, unit_money

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reports.analysis import AnalysisDocument, Row

WIDE: Final = 100
_LONG_HASH: Final = re.compile(r"template=([0-9a-f]{8})[0-9a-f]{8}\b")
_MOST_ROWS: Final = 15
_GAP: Final = 2
_MOST_FINDINGS: Final = 20
_LEAST: Final = Decimal("0.0001")
_GRADES: Final = {
    "A": "mechanical fact",
    "B": "calibrated simulation",
    "C": "sampled quality evidence",
    "D": "prior, not in the total",
}


def render(made: AnalysisDocument, *, width: int = 80, colour: bool = False) -> str:
    """The whole text, at most `width` columns wide; ANSI colours only where asked."""
    console = _console(width, colour=colour)
    wide = width >= WIDE
    _head(console, made)
    if made.requests or made.coverage.from_bills_usd is not None:
        _spend(console, "Spend by feature", made.by_feature, made, wide=wide)
        _spend(console, "Spend by model", made.by_model, made, wide=wide)
        _unpriced(console, made)
    if made.plan is not None:
        _plan(console, made.plan, wide=wide)
    _lacks(console, made.levers_data)
    return _written(console)


def plan(document: Mapping[str, Any], *, width: int = 80, colour: bool = False) -> str:
    """The plan alone, as it stands in the whole text."""
    console = _console(width, colour=colour)
    _plan(console, document, wide=width >= WIDE)
    return _written(console).lstrip("\n")


def _console(width: int, *, colour: bool) -> Console:
    return Console(
        file=StringIO(),
        width=max(width, 60),
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def _written(console: Console) -> str:
    file = console.file
    assert isinstance(file, StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _from_bills(made: AnalysisDocument) -> list[str]:
    """What stands on bills alone, and what of it no bill charges yet."""
    said = (
        (made.coverage.from_bills_usd, "from bills alone"),
        (made.coverage.from_bills_valued_usd, "of that not on the bill yet, at the price book's rates"),
    )
    return [f"{money(amount)} {words}" for amount, words in said if amount is not None]


def _head(console: Console, made: AnalysisDocument) -> None:
    window = made.window
    if window.from_ is None or window.to is None:
        when = "no request carries a time" if made.requests else "no requests"
    else:
        days = "1 day" if window.days == 1 else f"{window.days} days"
        when = f"{window.from_[:10]} to {window.to[:10]}, {days} in {window.zone}"
    console.print(Text(f"Halve  {when}", style="bold"))
    meaning = {"paid": "paid", "mixed": f"of it {money(made.paid_usd)} paid, the rest list-price value"}
    comma = "," if made.basis == "mixed" else ""
    known = f"{money(made.cost_usd)}{comma} {meaning.get(made.basis, made.basis)}" if made.basis else ""
    parts = [known or "no costs of models", plural(made.requests, "request")]
    if made.coverage.priced_share is not None:
        parts.append(f"{_share(made.coverage.priced_share)} of tokens priced")
    if made.coverage.untagged_share:
        parts.append(f"{_share(made.coverage.untagged_share)} untagged")
    parts += _from_bills(made)
    if made.coverage.reconciled_share is not None:
        parts.append(f"{_share(made.coverage.reconciled_share)} of the bill reconciled")
    if made.rejected:
        parts.append(f"{plural(made.rejected, 'record')} rejected")
    if made.window.undated:
        parts.append(f"{count(made.window.undated)} without a time")
    console.print(_plain(" · ".join(parts)))
    if made.requests and made.basis != "paid":
        _say(console, "List-price value: Halve was not told how these tokens are billed. Keep the logs with")
        _say(console, "`halve ingest`, then `halve sources billing NAME api|subscription|provisioned|free`.")
    _say_left_out(console, made)
    if made.rejected_examples:
        for example in made.rejected_examples:
            _say(console, f"rejected: {example}")
        _say(console, "`halve inspect` on the same logs shows every rejected record.")


def _say_left_out(console: Console, made: AnalysisDocument) -> None:
    """What is in no sum, and what may be in them twice."""
    for one in made.held_out:
        amount = f"{plural(one.requests, 'request')} of {one.source} ({money(one.cost_usd)})"
        _say(console, f"In no sum: {amount}, because {one.counted_source} tells of the same calls.")
    for alike in made.alike_logs:
        _say(console, alike)
    if made.without_rate:
        amounts = " and ".join(native_money(Decimal(one.amount), _clean(one.currency)) for one in made.without_rate)
        _say(
            console,
            f"In no sum: bills charge {amounts}, for which there is no exchange rate. Name it under currencies in your "
            "price file (--prices FILE).",
        )
    if made.other_services:
        named = ", ".join(f"{one.provider} {money(one.cost_usd)}" for one in made.other_services)
        whole = money(_added(*(one.cost_usd for one in made.other_services)))
        _say(console, f"Kept apart: a bill of {whole} for services that are no models ({named}).")


def _spend(console: Console, title: str, rows: Sequence[Row], made: AnalysisDocument, *, wide: bool) -> None:
    shown, rest = rows[:_MOST_ROWS], rows[_MOST_ROWS:]
    names = [*(_clean(row.name) for row in shown), *([f"other ({len(rest)})"] if rest else [])]
    longest = min(max(map(len, names), default=0), console.width * 2 // 5)
    columns = _fitting(shown, rest, made, room=console.width - max(longest, 10), wide=wide)
    table = _table(title)
    table.add_column(title.rsplit(" ", 1)[1], overflow="ellipsis", no_wrap=True, ratio=1, min_width=longest)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for place, name in enumerate(names):
        table.add_row(Text(name), *(cells[place] for cells in columns.values()))
    console.print(table)
    if any(row.unpriced_requests and row.cost_usd is not None for row in shown):
        _say(console, "+ has requests without a price, which are not in its cost")


def _fitting(
    shown: Sequence[Row], rest: Sequence[Row], made: AnalysisDocument, *, room: int, wide: bool
) -> dict[str, list[str]]:
    """The columns beside the names: those of a wide text, else of a narrow one, else without the parts that matter
    least, until names have their room.
    """
    first = {"cost": [_cost(row) for row in shown], "share": [_of(row.cost_usd, made.cost_usd) for row in shown]}
    last = {"requests": [count(row.requests) for row in shown]}
    each = {"per call": [unit_money(row.cost_per_request_usd) for row in shown]}
    narrow = _parts(shown, wide=False)
    ways = [{**first, **_parts(shown, wide=True), **last, **each}, {**first, **narrow, **last, **each}] if wide else []
    ways.append({**first, **narrow, **last})
    for name in ("written", "cached", "input", "output", "other", "share"):
        ways.append({kept: cells for kept, cells in ways[-1].items() if not kept.endswith(name)})
    found = [{name: cells for name, cells in way.items() if any(cells)} for way in ways]
    if rest:
        cost = _added(*(row.cost_usd for row in rest))
        known = {"cost": money(cost), "share": _of(cost, made.cost_usd)}
        known["requests"] = count(sum(row.requests for row in rest))
        found = [{name: [*cells, known.get(name, "")] for name, cells in way.items()} for way in found]
    return next((way for way in found if _width(way) <= room), found[-1])


def _width(columns: Mapping[str, Sequence[str]]) -> int:
    """What columns take of a line, with the gap before each."""
    return sum(max(map(len, [name, *cells])) + _GAP for name, cells in columns.items())


def _parts(rows: Sequence[Row], *, wide: bool) -> dict[str, list[str]]:
    """The cost parts as columns; a narrow text has reasoning and the visible output in one, which says so."""
    all_output = "all output" if any(_amount(row.reasoning_usd) for row in rows) else "output"
    if wide:
        amounts = {
            "input": [row.input_usd for row in rows],
            "cached": [row.cache_read_usd for row in rows],
            "written": [row.cache_write_usd for row in rows],
            "output": [row.output_usd for row in rows],
            "reasoning": [row.reasoning_usd for row in rows],
            "other": [row.other_usd for row in rows],
        }
    else:
        amounts = {
            "input": [row.input_usd for row in rows],
            "cached": [row.cache_read_usd for row in rows],
            "written": [row.cache_write_usd for row in rows],
            all_output: [_added(row.output_usd, row.reasoning_usd) for row in rows],
            "other": [row.other_usd for row in rows],
        }
    return {name: [_amount(amount) for amount in column] for name, column in amounts.items()}


def _unpriced(console: Console, made: AnalysisDocument) -> None:
    if not made.unpriced.details:
        return
    table = _table("What has no price")
    table.add_column("model", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("why")
    table.add_column("requests", justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    for item in made.unpriced.details[:_MOST_ROWS]:
        table.add_row(
            _plain(f"{item['provider']}/{item['model']}"),
            _plain(in_words(item["reasons"])),
            count(item["requests"]),
            count(item["tokens"]),
        )
    console.print(table)
    if any(rate_helps(item["reasons"]) for item in made.unpriced.details):
        _say(console, "Give a rate with --prices FILE; until then these tokens are no dollars at all.")
    for reason, advice in ADVICE.items():
        if any(reason in item["reasons"] for item in made.unpriced.details):
            _say(console, advice)


def _plan(console: Console, plan: Mapping[str, Any], *, wide: bool) -> None:
    console.print()
    console.print(Text("Savings plan", style="bold"))
    if plan["levers"]:
        _worth(console, plan, wide=wide)
    elif plan["before_usd"] is None:
        _say(console, "No request has a price, so nothing can be said of savings.")
    else:
        _say(console, "Nothing found that is worth doing.")
    for note in plan.get("notes", ()):
        _say(console, str(note))


def _worth(console: Console, plan: Mapping[str, Any], *, wide: bool) -> None:
    levers: list[Mapping[str, Any]] = list(plan["levers"])
    joint = plan["joint_usd"]
    of = f" of {money(plan['before_usd'])}" if plan.get("before_usd") else ""
    if all(item["grade"] == "D" for item in levers):
        _say(console, f"Nothing has evidence yet: $0.00{of} in this window.")
    else:
        spread = "" if joint["p10"] is None else f" ({money(joint['p10'])} to {money(joint['p90'])})"
        _say(console, f"All together {money(joint['p50'])}{spread}{of} in this window; no dollar counted twice.")
    if Decimal(plan["potential_usd"]) > 0:
        _say(console, f"Beside it {money(plan['potential_usd'])} of potential that lacks evidence (grade D).")
    if plan.get("per_30_days") and Decimal(plan["per_30_days"]) != 1:
        _say(console, f"30 days hold {Decimal(plan['per_30_days']):.2f} times as much as this window.")
    console.print(_findings(levers[:_MOST_FINDINGS], wide=wide))
    if len(levers) > _MOST_FINDINGS:
        console.print(_plain(f"  and {len(levers) - _MOST_FINDINGS} more in --json"))
    grades = sorted({str(item["grade"]) for item in levers})
    _say(console, "; ".join(f"{grade}: {_GRADES.get(grade, '')}" for grade in grades))


def _findings(levers: Sequence[Mapping[str, Any]], *, wide: bool) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim", expand=True)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("lever, where and what to do", ratio=1)
    table.add_column("", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("alone", justify="right", no_wrap=True)
    if wide:
        table.add_column("last", justify="right", no_wrap=True)
        table.add_column("p10 to p90", justify="right", no_wrap=True)
        table.add_column("requests", justify="right", no_wrap=True)
    for place, item in enumerate(levers, 1):
        what = Text()
        what.append(_clean(f"{item['lever']}  "), style="bold")
        what.append(_LONG_HASH.sub(r"template=\1", _clean(str(item["scope"]))))
        if item.get("headline"):
            what.append("\n" + _clean(str(item["headline"])))
        share = "-" if item["grade"] == "D" else money(item["allocated_usd"])
        cells: list[Any] = [str(place), what, str(item["grade"]), share, money(item["standalone_usd"])]
        if wide:
            spread = "n/a" if item["p10"] is None else f"{money(item['p10'])} to {money(item['p90'])}"
            cells += [money(item["last_in_usd"]), spread, count(item["requests"])]
        table.add_row(*cells)
    return table


def _lacks(console: Console, levers_data: Mapping[str, Any]) -> None:
    lacking = {name: said for name, said in levers_data.items() if said.get("state") not in (None, "ok")}
    if not lacking:
        return
    console.print()
    console.print(Text("What levers could not say", style="bold"))
    for name, said in lacking.items():
        text = " ".join(str(said[key]) for key in ("why", "do") if said.get(key)) or str(said["state"])
        _say(console, f"{name}: {text}")


def _say(console: Console, sentence: str) -> None:
    """A sentence under a heading, wrapped under its own indent."""
    console.print(Padding(_plain(sentence), (0, 0, 0, 2)))


def _table(title: str) -> Table:
    return Table(
        title=f"\n{title}",
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 1),
        pad_edge=False,
        header_style="dim",
        expand=True,
    )


def _cost(row: Row) -> str:
    """The cost, with a + where some requests lack a price."""
    return money(row.cost_usd) + (" +" if row.unpriced_requests and row.cost_usd is not None else "")


def _amount(part: str | None) -> str:
    """A cost part; one that nobody billed is left blank."""
    if part is None or Decimal(part) == 0:
        return ""
    return f"<${_LEAST}" if abs(Decimal(part)) < _LEAST else money(part)


def _added(*amounts: str | None) -> str | None:
    known = [Decimal(amount) for amount in amounts if amount is not None]
    return str(sum(known)) if known else None


def _of(part: str | None, whole: str | None) -> str:
    if part is None or whole is None or Decimal(whole) == 0:
        return ""
    return _share(float(Decimal(part) / Decimal(whole)))


def _share(share: float) -> str:
    """Per cent; never 100 % where something is missing, never 0 % where something is there."""
    if 0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1:
        return ">99.9 %"
    return f"{share * 100:.1f} %" if share not in (0, 1) else f"{share * 100:.0f} %"


def _clean(text: str) -> str:
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _plain(text: str) -> Text:
    return Text(_clean(text))
