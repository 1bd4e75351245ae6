"""Write `app/pricing/history.yml`: dated first-party prices of models that the price list lacks.

Reads the snapshot of model-prices (MIT) as a file: `pip download --no-deps model-prices`, unpack, name snapshot.json.
Only models that neither the list nor `overlay.yml` knows are taken. Where they do know one, the snapshot's older
entries are mostly corrections of what it had recorded wrong, not prices that anybody paid.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.pricing import compile as compiling
from app.pricing import rule_text, tables
from app.pricing.book import PriceBook
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
    known = row.source and "sst/models.dev" not in row.source
    return rule_text.line(
        row.provider,
        row.model.lower(),
        row.prices,
        ctx=row.ctx,
        from_us=row.from_us,
        to_us=row.to_us,
        status="" if known else "estimated",
        source=row.source or "https://github.com/wakamex/model-prices",
    )


if __name__ == "__main__":
    main()
