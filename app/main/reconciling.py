"""`halve reconcile`: the bills of the data folder, or of files, beside the logged requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.analysis.reconciliation import reconcile
from app.analysis.spend import whole_period
from app.core.errors import InputError, UnavailableError
from app.core.view import period as named_period
from app.main.offline import nothing_read
from app.main.refresh import attribute_and_sum, now_us
from app.main.runtime import demand_store, opened, scratch
from app.main.service_calls import service_client
from ingest.pipeline import ingest_paths
from reports import reconciliation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.main.runtime import Runtime
    from app.settings import Settings

EVERYTHING = "all"


def shown(runtime: Runtime, zone: str, period: str) -> dict[str, Any]:
    """The document of a period; see `reports.reconciliation`.

    Raises:
        UsageError: the period means nothing.
    """
    with runtime.warehouse.session() as session:
        whole = period == EVERYTHING
        chosen = whole_period(session, zone) if whole else named_period(period, zone, now_us())
        return reconciliation.document(reconcile(session, chosen))


def command(paths: Sequence[str], settings: Settings, *, period: str, exclude: Sequence[str] = ()) -> dict[str, Any]:
    """The document of files that leave nothing behind, or of the data folder, also while the service runs.

    That of files has `problems` too: what of them could not be read, and which of them no longer counts.
    """
    if paths:
        with scratch(settings) as runtime:
            summary = ingest_paths(
                paths,
                warehouse=runtime.warehouse,
                pricer=runtime.pricer,
                data_dir=runtime.data_dir,
                exclude=exclude,
                text="none",
            )
            if summary.stored == 0:
                raise InputError(nothing_read(paths, summary.problems))
            attribute_and_sum(runtime, settings.zone)
            return {**shown(runtime, settings.zone, period), "problems": summary.problems}
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.get("/reconciliation", params={"period": period})
            if answer.is_error:
                raise UnavailableError(f"The service refused: {answer.text.strip()[:300]}")
            document: dict[str, Any] = answer.json()
            return document
    with opened(settings) as runtime:
        attribute_and_sum(runtime, settings.zone)
        return shown(runtime, settings.zone, period)
