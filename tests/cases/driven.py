"""One reported case driven through the whole pipeline: its bytes as log files, its rates as the user's price file."""

from __future__ import annotations

import base64
import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import yaml

from app.analysis import spend
from app.analysis.attribution import attribute
from app.analysis.days import bucket_for, local_days
from app.analysis.rules import load as attribution_rules
from app.core.usage import INPUT_CLASSES
from app.core.view import Period, View
from app.pricing import pricefile
from app.warehouse import rollup
from app.warehouse.migrate import migrate
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest.events import events
from ingest.inspection import inspect_paths
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from app.core.usage import UsageEvent
    from app.pricing.book import PriceBook

BUCKETS = {
    "input_uncached": ("input",),
    "cache_read": ("cache_read",),
    "cache_write_5m": ("cache_write_5m",),
    "cache_write_1h": ("cache_write_1h",),
    "audio_in": ("input_audio",),
    "audio_out": ("output_audio",),
    "output": ("output", "reasoning"),
}
UNITS = {"search_units_each": "rerank"}
RATES = {**UNITS, "input_uncached": "input", "audio_in": "input_audio", "audio_out": "output_audio"}


def write_logs(given: dict[str, Any], folder: Path) -> Path:
    """The bytes of a case as files."""
    folder.mkdir(parents=True)
    for name, lines in given.get("files", {}).items():
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for name, text in given.get("raw_files", {}).items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    for name, coded in given.get("raw_base64", {}).items():
        (folder / name).write_bytes(base64.b64decode(coded))
    if "raw_text" in given:
        (folder / "log.jsonl").write_text(given["raw_text"], encoding="utf-8", newline="")
    if "record" in given or "records" in given:
        lines = "".join(json.dumps(record) + "\n" for record in _records(given))
        (folder / "log.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _records(given: dict[str, Any]) -> list[Any]:
    records = given["records"] if "records" in given else [given["record"]]
    if "request" in given:
        records = [{"request": given["request"], "response": record} for record in records]
    if "repeat" in given:
        text = json.dumps(records[0])
        records = [json.loads(text.replace("{i}", str(index))) for index in range(given["repeat"])]
    return records


def priced_as_logged(expected: dict[str, Any], calls: Iterable[UsageEvent]) -> list[dict[str, Any]]:
    """The rates of a case as entries of a price file, for each model in the context in which it was served."""
    per_record = expected.get("per_record", ())
    entries: dict[str, dict[str, Any]] = {}
    for number, call in enumerate(calls):
        own = per_record[number] if number < len(per_record) else expected
        rates = own.get("rates_usd_per_1m")
        if rates is None or call.model is None:
            continue
        entry = {"provider": call.provider, "model": call.model, "ctx": _served(call), **named_rates(rates)}
        entries[json.dumps(entry)] = entry
    return list(entries.values())


def named_rates(rates: dict[str, str]) -> dict[str, str]:
    """Rates of a case under the names of a price file."""
    return {RATES.get(name, name): rate for name, rate in rates.items()}


def _served(call: UsageEvent) -> str:
    if call.is_batch:
        return "batch"
    tier = call.service_tier if call.service_tier in ("flex", "priority") else ""
    return tier or {"fast": "fast"}.get((call.price_context or {}).get("speed", ""), "")


@dataclass(frozen=True)
class Outcome:
    """What became of a case: stored requests and rejected records as inspection shows them, and the store itself."""

    warehouse: Warehouse
    requests: list[dict[str, Any]]
    rejected: list[dict[str, Any]]

    def tokens(self, row: dict[str, Any] | None = None) -> dict[str, int]:
        """Tokens by class, those of one request or of all; classes without any are left out."""
        counts: Counter[str] = Counter()
        for one in self.requests if row is None else [row]:
            counts.update({name: count for name, count in one["tokens"].items() if count})
        return dict(counts)

    @property
    def cost(self) -> Decimal | None:
        """The known cost of all requests; None where none is known."""
        known = [Decimal(row["cost_usd"]) for row in self.requests if row["cost_usd"] is not None]
        return sum(known, Decimal()) if known else None

    @property
    def shown_cost(self) -> str | None:
        """The total that the Spend page and `halve analyze` show."""
        with self.warehouse.session() as session:
            total = spend.totals(session, View(spend.whole_period(session, "UTC")))
        return None if total.cost_pusd is None else format(Decimal(total.cost_pusd).scaleb(-12).normalize(), "f")


def input_between(outcome: Outcome, from_us: int, to_us: int, zone: str) -> int:
    """Input tokens of a range of time, cached ones included, as the pages answer it in that zone."""
    with outcome.warehouse.session() as session:
        counted = spend.totals(session, View(Period("days", from_us, to_us, zone))).tokens
    return sum(counted.get(name) or 0 for name in INPUT_CLASSES)


def input_by_day(outcome: Outcome, zone: str) -> dict[str, int]:
    """Input tokens a local day, days without any left out."""
    with outcome.warehouse.session() as session:
        first, last = spend.extent(session) or (0, 0)
    days = {
        day.date.isoformat(): input_between(outcome, day.from_us, day.to_us, zone)
        for day in local_days(first, last + 1, zone)
    }
    return {day: count for day, count in days.items() if count}


@contextmanager
def driven(
    paths: Iterable[Path],
    data_dir: Path,
    entries: Iterable[dict[str, Any]] = (),
    book: PriceBook | None = None,
    zone: str = "UTC",
    aliases: Iterable[dict[str, Any]] = (),
) -> Iterator[Outcome]:
    """Read logs with these entries as the user's price file; everything is stored, attributed and summed."""
    prices = data_dir.with_suffix(".prices.yml")
    prices.write_text(
        yaml.safe_dump({"rates": [dict(entry) for entry in entries], "aliases": [dict(alias) for alias in aliases]}),
        encoding="utf-8",
    )
    pricer = Pricer(book or book_with(pricefile.parse(prices.name, prices.read_bytes(), "contract")))
    warehouse = Warehouse(data_dir, memory_limit="256MB")
    try:
        migrate(warehouse)
        lines = list(inspect_paths(list(paths), warehouse=warehouse, pricer=pricer, data_dir=data_dir))
        with warehouse.writing() as session:
            attribute(session, attribution_rules(), now_us=1)
            rollup.rebuild(session, bucket_us=bucket_for(zone))
        requests = [line for line in lines if line["kind"] == "request"]
        yield Outcome(warehouse, requests, [line for line in lines if line["kind"] != "request"])
    finally:
        warehouse.close()


def calls_in(folder: Path) -> list[UsageEvent]:
    """The calls as the formats read them, snapshots of one call not yet merged."""
    return [event for event, _ in events([folder])]
