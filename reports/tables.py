"""Small answers of the command line as text: an inspection, a replay, quotes, sources, a summary, checks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.web.format import plural
from reports.columns import aligned, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from app.warehouse.quoting import Quote


def inspection(lines: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One paragraph a record: what it is, its classes, its cost and where that comes from."""
    for line in lines:
        if line["kind"] == "request":
            yield from _request(line)
        elif line["kind"] == "billed":
            yield from _billed(line)
        elif line["kind"] == "rejected":
            yield f"{_place(line)}  REJECTED  {_clean(line['reason'])}"
        else:
            yield from _proposal(line)


def _request(line: Mapping[str, Any]) -> Iterator[str]:
    classes = ", ".join(f"{name} {count:,}" for name, count in line["tokens"].items() if count is not None)
    cost = "unknown" if line["cost_usd"] is None else f"${line['cost_usd']}"
    yield f"{_place(line)}  {_clean(line['model'] or 'no model')}  {line['status']}  {line['start'] or 'no time'}"
    yield f"    {classes or 'no usage'}"
    yield f"    {cost}  {line['cost_state']}  {_clean(line['price_row'] or 'no price row')}"
    if line["warnings"]:
        yield f"    warnings: {_clean(' '.join(line['warnings']))}"


def _billed(line: Mapping[str, Any]) -> Iterator[str]:
    cost = "no cost" if line["cost"] is None else f"{line['cost']} {line['currency']}"
    unit = (line["unit"] or "units") if line["class"] in ("web_search", "request", "other") else "tokens"
    quantity = "" if line["quantity"] is None else f"{line['quantity']} {_clean(unit)}, "
    named = _clean(line["model"] or line["line_item"] or "no model")
    yield f"{_place(line)}  BILL  {line['day']}  {_clean(line['provider'])}  {named}  {line['class']}"
    yield f"    {quantity}{cost}  {line['charge']}"
    if line["has_more"]:
        yield "    warning: its page says that another follows (has_more), which is not in this one"


def _proposal(line: Mapping[str, Any]) -> Iterator[str]:
    yield f"{_clean(line['origin']['file'])}  UNKNOWN LAYOUT, with columns {_clean(', '.join(line['columns']))}"
    if line["column_map"] is None:
        yield "    No column map can be proposed: none of the columns looks like a model or a token count."
        yield "    Write one (field = column, one a line) and pass it with --map FILE."
        return
    yield "    This column map would be used:"
    for pair in line["column_map"].split(", "):
        yield f"    {_clean(pair.replace('=', ' = ', 1))}"
    yield "    Save it (field = column, one a line), correct it, and pass it with --map FILE."


def _place(line: Mapping[str, Any]) -> str:
    return f"{_clean(line['origin']['file'])}:{line['origin']['line']}"


def replay(result: Mapping[str, Any]) -> str:
    """The totals of a replay, and one row a scope where asked."""
    rows = [("scope", "requests", "blocks", "hit", "tokens", "hit", "rate"), _replay_row("all", result)]
    rows += [_replay_row(_clean(str(row["name"])), row) for row in result["by_scope"]]
    return "\n".join(aligned(rows, right=range(1, 7)))


def _replay_row(name: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (row[key] for key in ("requests", "blocks", "hit_blocks", "tokens", "hit_tokens"))
    rate = "n/a" if row["hit_rate"] is None else f"{row['hit_rate']:.2%}"
    return (name, *("n/a" if value is None else f"{value:,}" for value in counts), rate)


def quotes(lines: Sequence[Quote]) -> Iterator[str]:
    """A table of quotes: id, dollars, state, price rows."""
    return aligned([("id", "cost", "state", "price rows"), *map(_quote, lines)], right={1})


def _quote(quote: Quote) -> tuple[str, ...]:
    least = "" if quote.at_least_usd is None else f"${quote.at_least_usd} + "
    usd = f"{least}unpriced" if quote.usd is None else f"${quote.usd}"
    return _clean(quote.id), usd, quote.state, f"{_clean(', '.join(quote.price_rows))}{_said(quote)}"


def _said(quote: Quote) -> str:
    if quote.warning is None:
        return ""
    lacks = "" if quote.missing is None else f": the line has no field {quote.missing!r}"
    return f"  ({_clean(quote.warning)}{lacks})"


def summary(counts: Mapping[str, Any]) -> str:
    """What an ingest did, in numbers that add up."""
    if counts["handed_to_service"]:
        handed = plural(counts["shards"], "shard")
        return f"{handed} handed to the running service; it takes them in within seconds."
    text = (
        f"{counts['read']:,} read = {counts['stored']:,} stored + {counts['updated']:,} updated + "
        f"{counts['merged']:,} there already + {counts['benign']:,} no requests + {counts['rejected']:,} rejected "
        f"({plural(counts['files'], 'file')}, {counts['skipped']:,} unchanged)"
    )
    problems = [f"  {_clean(problem)}" for problem in counts["problems"]]
    return "\n".join([text, *problems])


def sources(rows: Sequence[Mapping[str, Any]]) -> str:
    """Configured sources with their state, then those that were pushed or read (without a state)."""
    pulled = [row for row in rows if row["state"] is not None]
    came = [row for row in rows if row["state"] is None]
    if not pulled:
        none = "No source is configured. `halve sources kinds` lists what there is, `halve sources add KIND` adds one."
        return "\n".join([none, *_came(came)])
    head = ("name", "kind", "state", "records", "last run")
    grid = aligned([head, *(_pulled(row) for row in pulled)], right={3}, below=[(), *(_reach(row) for row in pulled)])
    return "\n".join([*grid, *_came(came)])


def _pulled(row: Mapping[str, Any]) -> tuple[str, ...]:
    return _clean(row["name"]), row["kind"], row["state"], f"{row['records']:,}", _moment(row["last_run_us"])


def _reach(row: Mapping[str, Any]) -> tuple[str, ...]:
    """How far a pulled source goes, below its row, and what went wrong."""
    reach = f"    fresh until {_moment(row['fresh_us'])}, complete until {_moment(row['complete_us'])}"
    return (reach, f"    {_clean(row['error'])}") if row["error"] else (reach,)


def _came(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = [(_clean(row["name"]), row["kind"], f"{row['records']:,}", _moment(row["last_run_us"])) for row in rows]
    grid = aligned([("name", "kind", "requests", "last seen"), *lines], right={2})
    return ["", "Pushed or read; nothing is pulled for these:", *grid]


def source_kinds(kinds: Sequence[Mapping[str, Any]]) -> str:
    """The kinds of sources with their options."""
    lines: list[str] = []
    for kind in kinds:
        lines += wrapped(f"{kind['kind']}: {kind['reads']}", indent="  ")
        for option in kind["options"]:
            must = " (needed)" if option["required"] else ""
            how = "env:NAME or file:PATH of " if option["secret"] else ""
            lines += wrapped(f"    {option['name']:<18}{how}{option['about']}{must}", indent=" " * 22)
    return "\n".join(lines)


def keys(rows: Sequence[Mapping[str, Any]]) -> str:
    """Keys of the API: what each opens, since when, and whether it still does."""
    if not rows:
        return "No key was made. `halve keys create NAME` makes one."
    return "\n".join(aligned([("name", "scope", "source", "made", "revoked"), *(_key(row) for row in rows)]))


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    source = "-" if row["source"] is None else _clean(row["source"])
    revoked = "-" if row["revoked_us"] is None else _moment(row["revoked_us"])
    return _clean(row["name"]), row["scope"], source, _moment(row["created_us"]), revoked


def _moment(us: int | None) -> str:
    return "never" if us is None else datetime.fromtimestamp(us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def checks(rows: Sequence[Mapping[str, Any]]) -> str:
    """The checks of the data folder, one a line or, on a terminal, folded below it."""
    said = (f"{'ok  ' if row['ok'] else 'FAIL'}  {row['name']}: {_clean(row['message'])}" for row in rows)
    return "\n".join(line for text in said for line in wrapped(text, indent=" " * 6))


def _clean(text: str) -> str:
    """Names come from logs: nothing of them may move the cursor of a terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)


def exported(path: str, written: Mapping[str, Any]) -> str:
    """What an export wrote, and what in it is unknown."""
    cost = "of unknown cost" if written["cost_usd"] is None else f"${written['cost_usd']}"
    lines = [f"{plural(written['rows'], 'row')}, {cost}, in {_clean(path)}."]
    if written["unpriced_rows"]:
        lines.append(f"{_have(written['unpriced_rows'])} no cost: no price or no usage is known, and 0 would be wrong.")
    if written["unbilled_rows"]:
        lines.append(
            f"{_have(written['unbilled_rows'])} no BilledCost: nobody said how their source is billed "
            "(`halve sources billing NAME api`)."
        )
    if written["undated_rows"]:
        lines.append(f"{_have(written['undated_rows'])} no time.")
    if written["left_out_rows"]:
        left = written["left_out_rows"]
        lines.append(
            f"{plural(left, 'row')} {'was' if left == 1 else 'were'} left out, as FOCUS forbids what is unknown there."
        )
    return "\n".join(lines)


def _have(rows: int) -> str:
    return f"{plural(rows, 'row')} {'has' if rows == 1 else 'have'}"
