"""What the reconciliation says in words: the state of a cell, why a residual is there, what to do about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from app.analysis.bill_cells import ALL_TOKENS, CHARGES, OTHER
from app.analysis.residuals import is_rounding
from app.web import format as show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.analysis.bill_cells import Cell
    from app.analysis.reconciliation import Reconciliation
    from app.analysis.residual_groups import ResidualGroup
    from app.analysis.residuals import Kind

State = Literal[
    "agrees", "bill higher", "bill lower", "only on the bill", "only logged", "tokens unknown", "no price", "no usage"
]
CLASS_LABELS: Final[Mapping[str, str]] = {
    "input": "Input",
    "cache_read": "Cached",
    "cache_write": "Written",
    "output": "Output",
    ALL_TOKENS: "All tokens",
    OTHER: "Searches, fees",
    "credit": "Credit",
    "refund": "Refund",
    "fee": "Fixed fee",
    "tax": "Tax",
}
KIND_LABELS: Final[Mapping[Kind, str]] = {
    "not logged": "Not logged",
    "mis-dated": "Mis-dated",
    "price": "Price",
    "tier mix": "Tier mix",
    "unpriced class": "Unpriced class",
    "double": "Logged twice",
    "class split": "Class split",
    "credit or fee": "Credit or fee",
    "not on the bill": "Not on the bill",
    "rounding": "Rounding",
    "unknown": "Unknown",
}
ADVICE: Final[Mapping[Kind, str]] = {
    "not logged": "Find the application or key that calls this model and does not log, and read its logs too.",
    "mis-dated": "Nothing is missing: one side cuts days elsewhere. Compare a longer period, or log times in UTC.",
    "price": "Enter the rate of your contract in the price file (HALVE_PRICES), or ask the provider about its rate.",
    "tier mix": "Log the service tier of each call (batch, flex, priority) as the provider says it; no rate is wrong.",
    "unpriced class": "Give this model or class a rate in the price file (HALVE_PRICES), then price requests again.",
    "double": "Read these calls from one of the two sources only, or give both the provider's response id.",
    "class split": "The log counts tokens in another class than the bill: log the provider's own usage object.",
    "credit or fee": "Nothing to do: a credit, refund, fee or tax belongs to no request.",
    "not on the bill": "Wait until the bill is settled and read it again; else ask who is billed for these calls.",
    "rounding": "Nothing to do: a bill rounds its lines.",
    "unknown": "Read the provider's usage report too: it has the quantities that tell volume and price apart; and log "
    "the usage of every call (of OpenAI's streams: stream_options.include_usage).",
}


NO_COST_YET: Final = "what has no cost on the bill yet stands at the price book's rates"
_UNITS: Final[Mapping[str, str]] = {"web_search": "web search", "request": "request"}


def counted(cell: Cell) -> str:
    """What the bill counts in a cell, in its own units: `12 web searches`, `5,000 tokens`."""
    found = [show.plural(cell.bill_quantity, "token")] if cell.bill_quantity else []
    for name, quantity in sorted(cell.units.items()):
        unit = _UNITS.get(name, "unit")
        found.append(f"{show.count(quantity)} {unit}{'' if quantity == 1 else 'es' if unit.endswith('ch') else 's'}")
    return " and ".join(found) or "Usage"


@lru_cache(maxsize=4_096)
def day_text(at_us: int) -> str:
    """The UTC day of a cell, ISO."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)).date().isoformat()


def state_of(cell: Cell) -> State:
    """How the two sides of a cell stand to each other."""
    difference = cell.difference
    if cell.key.usage_class in CHARGES:
        return "no usage"
    if difference is None or cell.known_logged_pusd is None:
        return "no price"
    is_billed, is_logged = cell.bill_pusd or cell.bill_quantity, cell.logged_pusd or cell.logged_quantity
    if is_logged and not is_billed:
        return "only logged"  # however little it is: what stands on one side alone agrees with nothing
    if is_billed and not is_logged and not cell.unknown_calls:
        return "only on the bill"
    if is_rounding(cell, difference):
        return "agrees"
    if cell.unknown_calls:
        return "tokens unknown"
    return "bill higher" if difference > 0 else "bill lower"


def classes_text(group: ResidualGroup) -> str:
    """The classes of a group: `input, cached, output`."""
    return ", ".join(CLASS_LABELS.get(name, name).lower() for name in group.classes)


def why(group: ResidualGroup, result: Reconciliation) -> str:
    """One sentence about residuals of one reason, day and model, with the figures that show it."""
    item = group.items[0]
    tokens = f"{show.count(group.moved)} tokens" if group.moved else ""
    if group.kind == "price" and item.rates is not None:
        billed, ours = (show.rate(round(rate)) for rate in item.rates)
        row = result.price_rows.get((group.at_us, group.provider, group.model))
        named = f" by price row {row}" if row else ""
        several = f" of {CLASS_LABELS[item.key.usage_class].lower()}" if len(group.items) > 1 else ""
        return f"{tokens} are billed at {billed} a million{several}, and priced at {ours}{named}."
    if group.kind == "tier mix" and item.rates is not None:
        billed, ours = (show.rate(round(rate)) for rate in item.rates)
        return (
            f"{tokens} are of several tiers: the bill comes to {billed} a million, the requests to {ours}, and only "
            "the mix of tiers differs."
        )
    if group.kind == "mis-dated" and item.other_day_us is not None:
        more = (item.quantity or item.amount_pusd) > 0
        where = "more on the bill than logged" if more else "more logged than on the bill"
        return f"{tokens or 'An amount'} {where}, which {day_text(item.other_day_us)} makes up for."
    if group.kind == "double" and (twice := result.doubles.get(item.key)) is not None:
        one, other = twice.sources
        return f"{show.plural(twice.calls, 'call')} came from both {one} and {other}: {tokens or 'they'} count twice."
    if group.kind == "class split":
        gained = [CLASS_LABELS[one.key.usage_class].lower() for one in group.items if (one.quantity or 0) > 0]
        lost = [CLASS_LABELS[one.key.usage_class].lower() for one in group.items if (one.quantity or 0) < 0]
        return f"{tokens} are {' and '.join(gained)} on the bill and {' and '.join(lost)} in the log."
    if group.kind == "unpriced class":
        return f"{tokens or 'Tokens'} are logged and have no price."
    if group.kind == "not logged":
        cells = [cell for one in group.items if (cell := result.cell(one.key)) is not None]
        units = counted(cells[0]) if cells and cells[0].units else "A charge"
        valued = f"; {NO_COST_YET}" if any(cell.valued for cell in cells) else ""
        return f"{tokens or units} on the bill, for which no request was logged{valued}."
    if group.kind == "not on the bill":
        return f"{tokens or 'A charge'} logged that the bill does not have."
    if group.kind == "credit or fee":
        return f"{CLASS_LABELS.get(item.key.usage_class, item.key.usage_class)} on the bill, of no request."
    if group.kind == "unknown" and (calls := _silent_calls(group, result)):
        silent = f"{show.plural(calls, 'call')} {'was' if calls == 1 else 'were'} logged without these tokens"
        return f"{silent}: {tokens or 'the amount'} may be theirs, or of calls that nobody logged."
    if group.kind == "unknown":
        return "The bill says no quantity here, so missing calls and another price cannot be told apart."
    return "What the rounding of the bill's lines leaves."


def _silent_calls(group: ResidualGroup, result: Reconciliation) -> int:
    """How many calls were logged in the cells of a group that do not say these tokens."""
    cells = (result.differing.get(one.key) for one in group.items)
    return max((cell.unknown_calls for cell in cells if cell is not None), default=0)
