"""Write `app/pricing/history.yml`: dated first-party prices of models that the price list lacks.

Reads the snapshot of model-prices (MIT) as a file: `pip download --no-deps model-prices`, unpack, name snapshot.json.
Only models that neither the list nor `overlay.yml` knows are taken. Where they do know one, the snapshot's older
entries are mostly corrections of what it had recorded wrong, not prices that anybody paid.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.pricing import compile as compiling
from app.pricing import tables
from app.pricing.book import PriceBook
from app.pricing.difference import usd
from app.pricing.rates import FOREVER_US
from app.pricing.rules import Overlay

if TYPE_CHECKING:
    from app.pricing.tables.table import TableRow

TARGET = Path(__file__).resolve().parents[1] / "app/pricing/history.yml"
HEAD = """\
# Dated first-party prices of models that genai-prices lacks. Written by tools/seed_history.py from the snapshot of
# model-prices as of {as_of} (MIT, copyright 2026 wakamex, https://github.com/wakamex/model-prices), which gathers from
# models.dev (MIT, copyright 2025 models.dev). Each row names the page or change it rests on and is confirmed where
# that is a provider's page. USD per million tokens.
rates:
"""


def main() -> None:
    path = Path(sys.argv[1])
    table = tables.read(path, 0)
    fresh = compiling.fresh_sources(Overlay(), history=False)
    book = PriceBook.of(fresh)
    unknown = [row for row in table.rows if book.matcher.find(row.provider, row.model) is None]
    unknown = [row for row in unknown if any(rate for steps in row.prices.values() for _, rate in steps)]
    as_of = datetime.fromtimestamp(table.as_of_us / 1e6, UTC).strftime("%Y-%m-%d")
    lines = [
        _entry(row) for row in sorted(unknown, key=lambda row: (row.provider, row.model, row.ctx, row.from_us or 0))
    ]
    TARGET.write_text(HEAD.format(as_of=as_of) + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} rows of {len({(row.provider, row.model) for row in unknown})} models")


def _entry(row: TableRow) -> str:
    values: dict[str, object] = {"provider": row.provider, "model": row.model.lower()}
    if row.ctx:
        values["ctx"] = row.ctx
    if row.from_us:
        values["from"] = _time(row.from_us)
    if row.to_us < FOREVER_US:
        values["to"] = _time(row.to_us)
    for name, steps in row.prices.items():
        values[name] = usd(name, steps[0][1])
    edges = sorted({above for steps in row.prices.values() for above, _ in steps if above >= 0})
    text = ", ".join(f"{key}: {_scalar(value)}" for key, value in values.items())
    if edges:
        tiers = []
        for edge in edges:
            at = {name: usd(name, rate) for name, steps in row.prices.items() for above, rate in steps if above == edge}
            tiers.append(
                "{above: " + str(edge) + ", " + ", ".join(f"{name}: {rate}" for name, rate in at.items()) + "}"
            )
        text += f", tiers: [{', '.join(tiers)}]"
    status = "" if row.source and "sst/models.dev" not in row.source else ", status: estimated"
    return f"  - {{{text}{status}, source: {json.dumps(row.source or 'https://github.com/wakamex/model-prices')}}}"


def _scalar(value: object) -> str:
    text = str(value)
    return json.dumps(text) if any(mark in text for mark in ":/ *@") else text


def _time(at_us: int) -> str:
    moment = datetime.fromtimestamp(at_us / 1e6, UTC)
    return moment.strftime("%Y-%m-%d" if at_us % 86_400_000_000 == 0 else "%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
