"""The fixed fees of a price file on the Prices page, beside what they pay for and what bills charge as fees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.analysis import coverage as covered
from app.analysis import spend
from app.analysis.bill_share import billed_fees
from app.core import view as views
from app.pricing.fees import charged_pusd
from app.web import cells
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from app.pricing.fees import Fee
    from app.web.page import Context

DAY_US: Final = 86_400_000_000
FEE_DAYS: Final = 30


def fee_table(context: Context, fees: Iterable[Fee]) -> Table:
    """Every fee with what it comes to, what bills charge beside it, and the list-price value of what it pays for."""
    billed = {item.source: item.billing for item in covered.freshness(context.session)}
    end = context.now_us // DAY_US * DAY_US
    start = end - FEE_DAYS * DAY_US
    on_bills = billed_fees(context.session, start, end)
    return Table(
        "fees",
        "Fixed fees of your price file",
        (
            Column("fee", "Fee", width="mid"),
            Column("billing", "Billing", width="tight"),
            Column("amount", "Amount", "number", width="label"),
            Column("currency", "Currency", width="tight"),
            Column("per", "Per", width="tight"),
            Column("usd", f"Last {FEE_DAYS} days", "number", "What it costs in the 30 whole UTC days before today"),
            Column("on_bills_usd", "Fees on bills", "number", "On bills of this provider and account, same days"),
            Column("list_value_usd", "List-price value", "number", "Of the requests of the logs that it pays for"),
            Column("logs", "Logs", width="mid"),
            Column("source", "Source", width="tight"),
        ),
        tuple(
            (
                cells.text(fee.name),
                cells.text(fee.billing),
                _amount(fee),
                cells.text(fee.currency),
                cells.text(fee.per),
                cells.money(charged_pusd(fee, start, end)),
                cells.money(_on_bills(fee, on_bills)),
                _list_value(context, fee, start, end),
                _logs(fee, billed),
                cells.text(fee.source),
            )
            for fee in fees
        ),
        frame_note="Fees on bills are what the bills of a fee's provider and account charge as fixed fees in the same "
        f"{FEE_DAYS} days. Neither is in any sum, and the two are not added.",
        stacked=True,
    )


def _on_bills(fee: Fee, on_bills: Mapping[tuple[str, str], int | None]) -> int | None:
    """What bills charge as fixed fees to the same provider and account; None where they charge none."""
    own = [
        cost
        for (provider, account), cost in on_bills.items()
        if provider == fee.provider and fee.account in ("", account) and cost is not None
    ]
    return sum(own) if own else None


def _logs(fee: Fee, billed: Mapping[str, str]) -> Cell:
    """The source that a fee pays for; where that is counted otherwise, how, and where to say so."""
    if not fee.logs:
        return Cell(None, "")
    if fee.logs not in billed:
        return Cell(fee.logs, fee.logs, note="no logs of that name", tone="worse")
    counted = billed[fee.logs]
    if counted == fee.billing:
        return Cell(fee.logs, fee.logs)
    return Cell(fee.logs, fee.logs, href="/sources", note=f"counted as {counted}: tell us on Sources", tone="worse")


def _amount(fee: Fee) -> Cell:
    """What a period costs, without the zeros that multiplying leaves behind, and of how many seats."""
    amount = fee.period_amount.normalize()
    seats = "" if fee.seats == 1 else f"{fee.seats:f} × {fee.amount:f}"
    return Cell(f"{amount:f}", f"{amount:,f}", note=seats)


def _list_value(context: Context, fee: Fee, start: int, end: int) -> Cell:
    if not fee.logs:
        return cells.money(None)
    days = views.Period("fee", start, end, context.view.period.zone)
    view = views.View(days, filters=(views.Filter("is", "source", (fee.logs,)),))
    total = spend.totals(context.session, view).cost_pusd
    return cells.money(total)
