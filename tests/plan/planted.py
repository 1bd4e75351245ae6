"""Planted streams: requests, prices and attribution written straight into the fact tables of a warehouse in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from app.core.usage import COST_PARTS, TOKEN_CLASSES
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse

if TYPE_CHECKING:
    from app.pricing.book import PriceBook

MINUTE, HOUR, DAY = 60_000_000, 3_600_000_000, 86_400_000_000
START = 1_793_491_200_000_000  # 2026-11-01T00:00:00Z, a Sunday
PART_OF = {
    "tok_input": "input_pusd",
    "tok_input_audio": "input_pusd",
    "tok_input_image": "input_pusd",
    "tok_cache_read": "cache_read_pusd",
    "tok_cache_read_audio": "cache_read_pusd",
    "tok_cache_write_5m": "cache_write_pusd",
    "tok_cache_write_30m": "cache_write_pusd",
    "tok_cache_write_1h": "cache_write_pusd",
    "tok_cache_write_12h": "cache_write_pusd",
    "tok_output": "output_pusd",
    "tok_output_audio": "output_pusd",
    "tok_output_image": "output_pusd",
    "tok_reasoning": "reasoning_pusd",
}
_DEFAULTS: dict[str, Any] = {
    "source": "planted",
    "operation": "chat",
    "is_batch": False,
    "status": "ok",
    "cost_state": "priced",
    "price_book": "test",
    "fullness": 1,
    "provider": "openai",
}


@dataclass
class Stream:
    """Collects requests; `store` prices them with the book and writes them."""

    book: PriceBook
    rows: list[dict[str, Any]] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    templates: list[int | None] = field(default_factory=list)

    def add(self, start_us: int, *, feature: str = "f", template: int | None = 1, **fields: Any) -> int:
        """One request; returns its key. Money is worked out from the tokens."""
        key = len(self.rows) + 1
        row = {**_DEFAULTS, "request_key": key, "start_us": start_us, "end_us": start_us + 2_000_000, **fields}
        row.setdefault("model_id", row["model"])
        row |= self._money(row)
        self.rows.append(row)
        self.features.append(feature)
        self.templates.append(template)
        return key

    def _money(self, row: dict[str, Any]) -> dict[str, Any]:
        prompt = sum(row.get(name) or 0 for name in TOKEN_CLASSES if name not in ("tok_output", "tok_reasoning"))
        rate = self.book.rate(
            row["provider"],
            row["model"],
            at_us=row["start_us"],
            ctx="batch" if row["is_batch"] else "",
            prompt_tokens=prompt,
        )
        if rate is None:
            return {"cost_state": "unpriced"}
        parts = dict.fromkeys(COST_PARTS, 0)
        for name, part in PART_OF.items():
            tokens = row.get(name) or 0
            if tokens:
                parts[part] += round(tokens * rate.rates[f"r_{name.removeprefix('tok_')}"])
        total = sum(parts.values())
        return {**parts, "cost_pusd": total, "cost_list_pusd": total, "price_row": rate.price_row}

    def store(self, billing: str = "api") -> Warehouse:
        warehouse = Warehouse(None)
        migrate(warehouse)
        with warehouse.writing() as session:
            connection = session.connection
            names = sorted({name for row in self.rows for name in row})
            frame = pl.DataFrame(
                [{name: row.get(name) for name in names} for row in self.rows], infer_schema_length=None
            )
            session.register("planted_rows", frame)
            connection.execute(f"INSERT INTO requests ({', '.join(names)}) SELECT {', '.join(names)} FROM planted_rows")
            connection.execute("INSERT INTO sources VALUES ('planted', 'test', ?, 'user')", [billing])
            attribution = pl.DataFrame(
                {
                    "request_key": [row["request_key"] for row in self.rows],
                    "feature": self.features,
                    "template": pl.Series(self.templates, dtype=pl.Int64),
                }
            )
            session.register("planted_attribution", attribution)
            connection.execute(
                "INSERT INTO attribution SELECT request_key, feature, 'team', 'production', template, 'tag', 1 "
                "FROM planted_attribution"
            )
        return warehouse
