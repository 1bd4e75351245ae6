"""`halve export`: requests or FOCUS charges as a file, here or by the running service, which hands the file over."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from app.analysis import focus
from app.analysis.charges import Span, Wanted, charges, request_rows, spans
from app.core.errors import UnavailableError, UsageError
from app.main.repricing import span_of
from app.main.runtime import Runtime, demand_store, opened
from app.main.service_calls import refusal, service_client
from app.warehouse import ledger
from reports.exports import complete_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2
    import polars as pl

    from app.core.view import Period
    from app.settings import Settings
    from app.warehouse.store import Session

Kind = Literal["focus", "csv", "parquet"]
NAMES: Final[dict[str, str]] = {"focus": "halve-focus", "csv": "halve-requests", "parquet": "halve-requests"}
SAID: Final = "x-halve-export"
"""The header in which the service says what the file holds."""
_NOTHING: Final = Span(1, 1, dated=True, requests=0)
"""Stands for a time without requests, so that the file has its header."""


@dataclass(frozen=True, slots=True)
class ExportWish:
    """What a person asks for; days both included, '' for everything; `as_of` a version of the costs."""

    kind: Kind
    first_day: str = ""
    last_day: str = ""
    zone: str = "UTC"
    by: Literal["day", "hour"] = "day"
    parquet: bool = False
    strict: bool = False
    as_of: int | None = None

    @property
    def suffix(self) -> str:
        return ".parquet" if self.kind == "parquet" or self.parquet else ".csv"


@dataclass(slots=True)
class Written:
    """What went into a file: rows, their sums in USD, and how many lack a cost, a bill or a time or were left out.

    A sum is None where there are rows and none of them knows its part, `billed_usd` also where rows do not hold it.
    """

    rows: int = 0
    cost_usd: str | None = None
    billed_usd: str | None = None
    unpriced_rows: int = 0
    unbilled_rows: int = 0
    undated_rows: int = 0
    left_out_rows: int = 0

    def count(self, frame: pl.DataFrame, cost: str) -> None:
        """Add a frame to the sums."""
        self.rows += frame.height
        self.cost_usd = _plus(self.cost_usd, frame[cost])


def export(wish: ExportWish, settings: Settings, out: Path | None) -> tuple[Path, dict[str, Any]]:
    """Write the file and say where it is and what it holds.

    Raises:
        UsageError: the file's folder does not exist. NotFoundError: there is no such version of the costs.
    """
    demand_store(settings)
    path = out or Path(f"{NAMES[wish.kind]}{wish.suffix}")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent} to write {path.name} into. Make it, or name another file.")
    with service_client(settings) as client:
        if client is not None:
            return path, _fetched(client, wish, path)
    with opened(settings) as runtime:
        return path, asdict(write(runtime, wish, path))


def write(runtime: Runtime, wish: ExportWish, path: Path, period: Period | None = None) -> Written:
    """Write the file of a wish from open stores, day by day; `period` in place of its days."""
    from_us, to_us = span_of(wish.first_day, wish.last_day, wish.zone)
    if period is not None:
        from_us, to_us = period.from_us, period.to_us
    wanted = Wanted(from_us, to_us, wish.zone, wish.as_of)
    done = Written()
    with (
        runtime.warehouse.session() as session,
        complete_file(path, parquet=wish.suffix == ".parquet") as sink,
    ):
        newest = ledger.newest(session)
        if wish.as_of is not None and wish.as_of != 0:
            ledger.one(session, wish.as_of)
        version = newest if wish.as_of is None else wish.as_of
        frames = _focus(session, wish, wanted, version, done) if wish.kind == "focus" else _rows(session, wanted, done)
        for frame in frames:
            sink.take(frame)
    if not done.rows:
        done.cost_usd = done.billed_usd = "0"
    return done


def _rows(session: Session, wanted: Wanted, done: Written) -> Iterator[pl.DataFrame]:
    for span in spans(session, wanted, bills=False) or [_NOTHING]:
        for frame in request_rows(session, span, wanted):
            done.count(frame, "cost_usd")
            done.unpriced_rows += frame["cost_usd"].null_count()
            done.undated_rows += frame["start_time"].null_count()
            yield frame


def _focus(session: Session, wish: ExportWish, wanted: Wanted, version: int, done: Written) -> Iterator[pl.DataFrame]:
    hourly = wish.by == "hour"
    for span in spans(session, wanted, bills=True) or [_NOTHING]:
        made = charges(session, span, wanted, hourly=hourly)
        frame = focus.rows(made, span, wanted.zone, hourly=hourly, version=version)
        if wish.strict:
            kept = focus.allowed(frame)
            done.left_out_rows += frame.height - kept.height
            frame = kept
        done.count(frame, "ContractedCost")
        done.billed_usd = _plus(done.billed_usd, frame["BilledCost"])
        done.unpriced_rows += frame["ContractedCost"].null_count()
        done.unbilled_rows += frame.filter(frame["x_Billing"] == "unknown").height
        done.undated_rows += frame["ChargePeriodStart"].null_count()
        yield frame


def focus_file(runtime: Runtime, period: Period) -> Path:
    """The FOCUS rows of a period in a file of the data folder, for a reader of the dashboard."""
    return export_file(runtime, ExportWish("focus", zone=period.zone), period)[0]


def export_file(runtime: Runtime, wish: ExportWish, period: Period | None = None) -> tuple[Path, Written]:
    """The file of a wish in the data folder, for the service to hand over and remove."""
    folder = runtime.data_dir / "exports"
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=wish.suffix, delete=False) as made:
        path = Path(made.name)
    try:
        return path, write(runtime, wish, path, period)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _fetched(client: httpx2.Client, wish: ExportWish, path: Path) -> dict[str, Any]:
    """Have the service write the file, and take it over block by block."""
    draft = path.with_name(f".{path.name}.part")
    try:
        with client.stream("POST", "/export", json=asdict(wish), timeout=None) as answer:
            if answer.is_error:
                text = answer.read().decode("utf-8", "replace")
                raise refusal(answer.status_code, text, answer.headers.get("content-type", ""))
            with draft.open("wb") as file:
                for block in answer.iter_bytes():
                    file.write(block)
            said = answer.headers.get(SAID)
        if said is None:
            raise UnavailableError("The service did not say what the file holds. Update it, or stop it and repeat.")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    found: dict[str, Any] = json.loads(said)
    return found


def _plus(total: str | None, column: pl.Series) -> str | None:
    """The exact sum of a decimal column's known values on top of a total; None where neither knows any."""
    if column.null_count() == column.len():
        return total
    return format(Decimal(total or 0) + Decimal(column.sum()), "f")
