"""Failed and aborted calls without usage, as the Sources page shows them: unknown, between nothing and a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.analysis.lost_usage import FEW, lost_usage
from app.core.money import usd_text
from app.web import cells
from app.web import format as show
from app.web.behind import requests_behind
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.core.view import Period
    from app.web.page import Context

ENDINGS: Final = {"error": "failed", "aborted": "cut off", "timeout": "timed out"}


def table(context: Context, period: Period) -> Table:
    """By model and ending, the most calls first; empty where every call says what it used."""
    return Table(
        "lost",
        "Calls that ended without usage",
        (
            Column("model", "Model"),
            Column("provider", "Provider"),
            Column("ending", "How they ended"),
            Column("calls", "Calls", "number"),
            Column("at_least_usd", "Cost at least", "number", "Where the provider billed nothing of them"),
            Column(
                "at_most_usd", "At most", "number", "Each like the dearest tenth of the answered calls of its model"
            ),
        ),
        tuple(
            (
                cells.text(one.model),
                cells.text(one.provider),
                Cell(one.status, ENDINGS[one.status]),
                cells.count(
                    one.calls,
                    href=requests_behind(
                        context, provider=one.provider, model=one.model, status=one.status, cost_state="unknown"
                    ),
                ),
                Cell("0", "$0.00", tone="muted"),
                Cell(
                    usd_text(one.high_pusd),
                    show.money(one.high_pusd),
                    note="" if one.high_pusd is not None else f"fewer than {FEW} answered calls have a price",
                ),
            )
            for one in lost_usage(context.session, period)
        ),
        frame_note="Their cost is unknown and in no sum. Refused calls that a provider never bills are not among them.",
        stacked=True,
    )
