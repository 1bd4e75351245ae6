"""The document of `halve reconcile`: bill and requests side by side and the residuals, as JSON or as text.

Amounts are decimal USD text, rates USD per million tokens; null is unknown, never "0". Residuals add up to
`difference_usd` exactly. The shape is documented in docs/commands.md and its name is `SCHEMA`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.analysis.residual_groups import grouped
from app.core.money import usd_text
from app.web import format as show
from app.web.bill_words import ADVICE, KIND_LABELS, counted, day_text, state_of, why
from reports.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from app.analysis.bill_cells import Cell, CellKey
    from app.analysis.reconciliation import Provider, Reconciliation
    from app.analysis.residual_groups import ResidualGroup
    from app.analysis.residuals import Residual

SCHEMA: Final = "halve.reconcile/1"
SHOWN: Final = 25
LINES_SHOWN: Final = 3
VALUED: Final = "usage at the price book's rates"
PARTLY: Final = "charged, in part usage at the price book's rates"
_BASIS_WORDS: Final = {
    VALUED: "usage only, at the price book's rates",
    PARTLY: "in part usage without a cost yet, at the price book's rates",
}
_MILLIONTH: Final = Decimal("0.000001")


def document(result: Reconciliation | None) -> dict[str, Any]:
    """Plain values; without a bill every sum is null and the lists are empty."""
    if result is None:
        empty: dict[str, Any] = dict.fromkeys(("bill_usd", "logged_usd", "difference_usd", "reconciled_share"))
        lists: dict[str, Any] = {
            name: [] for name in ("providers", "residuals", "cells", "cost_not_on_bill", "not_compared")
        }
        return {"schema": SCHEMA, "currency": "USD", **empty, "by_kind": {}, **lists}
    return {
        "schema": SCHEMA,
        "currency": "USD",
        "bill_usd": usd_text(result.bill_pusd),
        "logged_usd": usd_text(result.logged_pusd),
        "difference_usd": usd_text(result.difference_pusd),
        "reconciled_share": _share(result.share),
        "by_kind": {kind: usd_text(amount) for kind, amount in result.by_kind().items()},
        "providers": [
            {
                "provider": item.provider,
                "first_day": day_text(item.first_us),
                "last_day": day_text(item.last_us),
                "bill_usd": usd_text(item.bill_pusd),
                "logged_usd": usd_text(item.logged_pusd),
                "reconciled_share": _share(item.share),
                "bill_is": _basis(item, result),
            }
            for item in result.providers
        ],
        "residuals": [_group(group, result) for group in grouped(result.residuals)],
        "cells": [_cell(cell) for cell in result.cells],
        "cost_not_on_bill": [
            {**_place(cell.key), "counted": counted(cell), "bill_usd": None} for cell in result.awaited
        ],
        "not_compared": [
            {"what": item.what, "name": item.name, "usd": usd_text(item.pusd), "native": item.native}
            for item in result.asides
        ],
    }


def _basis(provider: Provider, result: Reconciliation) -> str:
    if not provider.valued:
        return "charged"
    return PARTLY if result.table.charges_usage(provider.provider) else VALUED


def _share(share: float | None) -> float | None:
    """Six digits, rounded down: a share of 1 means that nothing at all is missing."""
    return None if share is None else float(Decimal(share).quantize(_MILLIONTH, rounding="ROUND_DOWN"))


def _place(key: CellKey) -> dict[str, Any]:
    return {
        "day": day_text(key.at_us),
        "provider": key.provider,
        "account": key.account or None,
        "model": key.model or None,
        "class": key.usage_class,
    }


def _group(group: ResidualGroup, result: Reconciliation) -> dict[str, Any]:
    place = (group.at_us, group.provider, group.model)
    return {
        "kind": group.kind,
        "day": day_text(group.at_us),
        "provider": group.provider,
        "account": group.account or None,
        "model": group.model or None,
        "amount_usd": usd_text(group.amount_pusd),
        "quantity": group.quantity,
        "classes": list(group.classes),
        "parts": [_part(item) for item in group.items],
        "price_row": result.price_rows.get(place) if group.kind == "price" else None,
        "why": why(group, result),
        "do": ADVICE[group.kind],
        "evidence": [
            {
                "source": line.source,
                "file": line.file,
                "line": line.line,
                "line_item": line.line_item,
                "quantity": line.quantity,
                "cost": line.cost,
                "currency": line.currency,
            }
            for line in result.evidence_of(group)
        ],
    }


def _part(item: Residual) -> dict[str, Any]:
    billed, ours = item.rates if item.rates is not None else (None, None)
    return {
        "class": item.key.usage_class,
        "amount_usd": usd_text(item.amount_pusd),
        "quantity": item.quantity,
        "bill_rate_usd": _rate(billed),
        "our_rate_usd": _rate(ours),
        "other_day": None if item.other_day_us is None else day_text(item.other_day_us),
    }


def _rate(pico_per_token: Fraction | None) -> str | None:
    """Pico-USD a token as USD per million tokens: the same number of millionths."""
    if pico_per_token is None:
        return None
    value = Decimal(pico_per_token.numerator) / Decimal(pico_per_token.denominator) / 1_000_000
    return f"{value.quantize(_MILLIONTH).normalize():f}"


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        **_place(cell.key),
        "last_day": day_text(cell.key.at_us if cell.last_us is None else cell.last_us),
        "bill_usd": usd_text(cell.bill_pusd),
        "logged_usd": usd_text(cell.known_logged_pusd),
        "difference_usd": usd_text(cell.difference),
        "bill_quantity": cell.bill_quantity,
        "logged_quantity": cell.logged_quantity,
        "state": state_of(cell),
    }


def text(made: Mapping[str, Any]) -> str:
    """The document for people: the sums, what the difference is made of, and the largest residuals with what to do."""
    if made["bill_usd"] is None:
        return NO_BILL
    share = made["reconciled_share"]
    lines = [
        f"Bill {show.money(made['bill_usd'])}  logged {show.money(made['logged_usd'])}  "
        f"difference {show.money(made['difference_usd'])}  reconciled {show.percent(share)}",
        "",
    ]
    lines += _providers(made["providers"])
    if made["by_kind"]:
        lines += ["", "The difference is made of"]
        kinds = [(f"  {KIND_LABELS[kind]}", show.money(amount)) for kind, amount in made["by_kind"].items()]
        lines += aligned(kinds, right={1})
    lines += _group_lines(made["residuals"])
    if made["cost_not_on_bill"]:
        lines += ["", "Cost not on the bill yet, and no price: in no sum"]
        for item in made["cost_not_on_bill"][:SHOWN]:
            what = " ".join(_clean(item[name]) for name in ("provider", "account", "model") if item[name])
            lines.append(f"  {item['day']}  {what}: {item['counted']}  n/a")
        if len(made["cost_not_on_bill"]) > SHOWN:
            lines.append(f"  and {len(made['cost_not_on_bill']) - SHOWN} more; `--json` has all of them")
    if made["not_compared"]:
        lines += ["", "Not compared"]
        lines += [
            f"  {_clean(item['what'])}: {_clean(item['name'])}  {item['native'] or show.money(item['usd'])}"
            for item in made["not_compared"]
        ]
    return "\n".join(lines)


def _providers(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line a provider: its days and both sums; below it what kind of bill it is, where that is not a charge."""
    found = [
        (
            _clean(item["provider"]),
            f"{item['first_day']} to {item['last_day']}",
            show.money(item["bill_usd"]),
            show.money(item["logged_usd"]),
            show.percent(item["reconciled_share"]),
        )
        for item in rows
    ]
    words = [_BASIS_WORDS.get(item["bill_is"], "") for item in rows]
    below = [(), *((f"    {said}",) if said else () for said in words)]
    return list(aligned([("provider", "days", "bill", "logged", "reconciled"), *found], right={2, 3, 4}, below=below))


def _group_lines(groups: list[Mapping[str, Any]]) -> list[str]:
    named = [item for item in groups if item["kind"] != "rounding"]
    lines = [""] if named else []
    for item in named[:SHOWN]:
        what = " ".join(_clean(item[name]) for name in ("provider", "account", "model") if item[name])
        amount = f"{KIND_LABELS[item['kind']]:<16}{show.money(item['amount_usd']):>12}"
        lines.append(f"{amount}  {item['day']}  {what}: {', '.join(item['classes'])}")
        lines.append(f"    {_clean(item['why'])}")
        lines.append(f"    {item['do']}")
        places = dict.fromkeys(
            f"    {_clean(line['file'])}:{line['line']}  {_clean(line['line_item'] or '')}".rstrip()
            for line in item["evidence"]
        )
        lines += list(places)[:LINES_SHOWN]
        if len(places) > LINES_SHOWN:
            lines.append(f"    and {len(places) - LINES_SHOWN} more; `--json` has all of them")
    if len(named) > SHOWN:
        lines.append(f"and {len(named) - SHOWN} more; `--json` has all of them")
    return lines


NO_BILL: Final = (
    "No bill was read yet. Export the provider's usage and costs (OpenAI: Usage, Export; Anthropic: Console, Cost; "
    "AWS: Data Exports; Google Cloud: billing export; Azure: Cost details; or FOCUS) and read the file with "
    "`halve ingest FILE`, or let the service pull it: `halve sources kinds`."
)


def _clean(said: str) -> str:
    """Text of logs and bills without control characters."""
    return "".join(character if character.isprintable() else "?" for character in said)
