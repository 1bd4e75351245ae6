"""Commands that read logs, answer and leave nothing behind: analyze, inspect, replay, prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from app.analysis import spend
from app.core.errors import InputError
from app.core.usage import tokens_in
from app.core.view import View
from app.main.refresh import analyse_window, attribute_and_sum
from app.main.runtime import demand_store, load_book, opened, scratch
from app.main.service_calls import alone
from app.pricing.show import show
from app.replay.trace import TraceCall, replay_trace
from app.warehouse.quoting import quote as quote_lines
from app.warehouse.quoting import read_lines
from ingest.events import events
from ingest.inspection import inspect_paths
from ingest.pipeline import ingest_paths
from reports import analysis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from app.core.usage import UsageEvent
    from app.main.runtime import Runtime
    from app.pricing.show import PriceLine
    from app.settings import Settings
    from app.warehouse.quoting import Quote
    from ingest.formats.column_map import ColumnMap
    from ingest.formats.format import Origin
    from ingest.pipeline import Progress
    from reports.analysis import AnalysisDocument


def analyze(
    paths: Sequence[str],
    settings: Settings,
    *,
    exclude: Sequence[str] = (),
    format_name: str | None = None,
    column_map: ColumnMap | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> AnalysisDocument:
    """Spend and plan of logs, or of the data folder where no path is given."""
    if not paths:
        demand_store(settings)
        alone(settings, "Its pages show the same, and `halve plan` prints its plan; or stop it and repeat the command.")
        with opened(settings) as runtime:
            attribute_and_sum(runtime, settings.zone)
            return _document(runtime, settings, rejected=0)
    with scratch(settings) as runtime:
        summary = ingest_paths(
            paths,
            warehouse=runtime.warehouse,
            pricer=runtime.pricer,
            data_dir=runtime.data_dir,
            exclude=exclude,
            format_name=format_name,
            column_map=column_map,
            text=settings.text,
            progress=progress,
        )
        if summary.stored == 0:
            raise InputError(nothing_read(paths, summary.problems))
        attribute_and_sum(runtime, settings.zone)
        return _document(runtime, settings, rejected=summary.rejected, examples=summary.problems)


def nothing_read(paths: Sequence[str], problems: Sequence[str]) -> str:
    """Why logs gave no request, and what to do."""
    reasons = f" First problem: {problems[0].rstrip('.')}." if problems else ""
    return (
        f"No request could be read from {', '.join(paths)}.{reasons} "
        "Run `halve inspect` on it: it shows each rejected record with its reason and proposes a column map."
    )


def _document(runtime: Runtime, settings: Settings, *, rejected: int, examples: Sequence[str] = ()) -> AnalysisDocument:
    plan = analyse_window(runtime, settings.zone)
    with runtime.warehouse.session() as session:
        view = View(spend.whole_period(session, settings.zone))
        return analysis.build(session, view, plan=plan, rejected=rejected, rejected_examples=examples)


def inspect(
    paths: Sequence[str],
    settings: Settings,
    *,
    exclude: Sequence[str] = (),
    format_name: str | None = None,
    column_map: ColumnMap | None = None,
) -> Iterator[dict[str, Any]]:
    """One line a request as it would be stored, then the rejected records; see `ingest.inspection`."""
    with scratch(settings) as runtime:
        yield from inspect_paths(
            paths,
            warehouse=runtime.warehouse,
            pricer=runtime.pricer,
            data_dir=runtime.data_dir,
            exclude=exclude,
            format_name=format_name,
            column_map=column_map,
        )


def replay(
    paths: Sequence[str],
    settings: Settings,
    *,
    ttl_us: int | None,
    scope: Literal["session"] | None,
    exclude: Sequence[str] = (),
) -> dict[str, object]:
    """What a prefix cache with that lifetime would have held of a trace; see `app.replay.trace`."""
    calls = [_call(event, place) for event, place in events(paths, exclude=exclude)]
    if not calls:
        raise InputError(nothing_read(paths, ()))
    with scratch(settings) as runtime, runtime.warehouse.session() as session:
        return replay_trace(session, calls, ttl_us=ttl_us, scope=scope).as_dict()


def _call(event: UsageEvent, place: Origin) -> TraceCall:
    text = None
    if event.prefix_hashes is None:
        parts = event.prompt or ()
        # a trace's prompt is one part; its share of bytes must not count a role that the trace does not have
        whole = parts[0].text if len(parts) == 1 else "\x00".join(f"{part.role}\x00{part.text}" for part in parts)
        text = whole.encode("utf-8", "surrogatepass")
    return TraceCall(
        start_us=event.start_us,
        session=event.session_id or place.file,
        cache="\x00".join((event.provider or "", event.model or "", event.account or "")),
        tokens=tokens_in(event),
        blocks=event.prefix_hashes,
        block_tokens=event.prefix_block_tokens,
        text=text,
    )


def quote(file: Path, settings: Settings) -> list[Quote]:
    """Prices of the lines of a JSONL file, from the price book alone."""
    return quote_lines(load_book(settings), read_lines(file))


def price_lines(model: str, settings: Settings) -> list[PriceLine]:
    """Every dated rate of a model with its source."""
    return show(load_book(settings), model)
