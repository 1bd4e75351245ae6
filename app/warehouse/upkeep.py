"""Care of the store: what a user says about sources, the checks of `halve doctor`, files ready to be copied."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from app.core.errors import NotFoundError

if TYPE_CHECKING:
    from app.warehouse.store import Session, Warehouse


def set_billing(warehouse: Warehouse, source: str, billing: str) -> None:
    """Note how a source is billed. Roll-ups join it when they are read, so nothing is filled again.

    Raises:
        NotFoundError: no logs came from a source of that name.
    """
    with warehouse.writing() as session:
        if session.rows("upkeep.source_known", source=source)[0][0] == 0:
            raise NotFoundError(f"No logs came from a source named {source!r}. `halve sources list` names them all.")
        session.execute("upkeep.set_billing", source=source, billing=billing)


def checks(session: Session, latest_us: int) -> list[tuple[str, bool, str]]:
    """Checks on the facts, each (name, whether it holds, what was found); no call can start after `latest_us`."""
    requests, wrong_cost, wrong_tokens = (value or 0 for value in session.rows("upkeep.sums")[0])
    doubled = session.rows("upkeep.keys")[0][0]
    quarantined = session.rows("upkeep.quarantined")[0][0]
    unpriced, unknown = (value or 0 for value in session.rows("upkeep.unpriced")[0])
    ((future, last_us),) = session.rows("upkeep.future", before_us=latest_us)
    return [
        ("times", not future, "no call lies in the future" if not future else _wrong_times(future, last_us)),
        ("one call, one row", doubled == 0, f"{requests:,} requests, {doubled} doubled keys"),
        ("parts add up to the cost", wrong_cost == 0, f"{wrong_cost} requests whose parts do not"),
        ("classes add up to the provider's total", True, f"{wrong_tokens:,} requests flagged sum_mismatch"),
        ("priced", True, f"unpriced or partly priced: {unpriced:,}; without usage: {unknown:,}"),
        ("quarantine", True, f"{quarantined:,} records wait in quarantine"),
    ]


def _wrong_times(requests: int, last_us: int) -> str:
    last = datetime.fromtimestamp(last_us / 1_000_000, UTC)
    return (
        f"{requests:,} in the future, up to {last:%Y-%m-%d %H:%M}Z: their times are wrong, and they are in no period "
        "of the past and no plan; mend them where they are logged, or read them with a column map"
    )


def checkpoint(warehouse: Warehouse) -> None:
    """Bring everything committed into the files, so that a copy of them is whole."""
    with warehouse.write_lock, warehouse.session() as session:
        session.execute("upkeep.checkpoint")
