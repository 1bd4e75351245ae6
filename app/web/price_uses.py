"""What a model is charged for beside tokens: searches, pages, seconds, a call, a cache that is kept."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.pricing.rates import PUSD_PER_USD_PER_MTOK
from app.web import cells
from app.web import format as show
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.pricing.show import PriceLine

# The fee of a price list -> what is counted, and one of what its amount is for.
USES: Final = {
    "web_search": ("Web search", "search"),
    "storage_search": ("Search of stored files", "search"),
    "code_execution": ("Code execution", "run"),
    "rerank": ("Rerank", "search"),
    "second": ("Audio or video", "second"),
    "page": ("Document page", "page"),
    "character": ("Text", "character"),
    "image": ("Image", "image"),
    "cache_storage": ("Cache that is kept", "million tokens and hour"),
    "request": ("Call", "call"),
}


def use_table(lines: Sequence[PriceLine]) -> Table:
    """One row for each fee and amount of a provider, with the models that have it."""
    models: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        if line.valid_to is None:
            for name, amount in line.fees_usd.items():
                models.setdefault((name, line.provider, amount), []).append(line.model)
    order = list(USES)
    rows = sorted(models.items(), key=lambda item: (order.index(item[0][0]), item[0][1], item[1][0]))
    return Table(
        "uses",
        "Charged by use, beside tokens",
        (
            Column("fee", "What", width="mid"),
            Column("provider", "Provider", width="tight"),
            Column("amount_usd", "Amount", "number"),
            Column("per", "For each", width="mid"),
            Column("models", "Models", width="wide"),
        ),
        tuple(
            (
                Cell(name, USES[name][0]),
                cells.text(provider),
                Cell(amount, show.rate(Decimal(amount) * PUSD_PER_USD_PER_MTOK)),
                cells.text(USES[name][1]),
                cells.text(", ".join(dict.fromkeys(of))),
            )
            for (name, provider, amount), of in rows
        ),
        frame_note="Of the models above, now.",
        stacked=True,
    )
