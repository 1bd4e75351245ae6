"""What the web layer is given by the composition root, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from app.warehouse.store import Warehouse
    from app.web.commands import Commands


@dataclass(frozen=True, slots=True)
class Deps:
    """Stores, deeds and plain values.

    Attributes:
        zone: IANA name of the zone in which days are cut.
        now: the present in microseconds UTC.
        allowed_hosts: host names (no port) under which the dashboard answers.
        public_origin: `https://halve.example` where a proxy stands in front.
        no_access_control: serves without the access token; only made data on loopback may ask for it.
        max_upload_bytes: largest log that the Sources page takes; larger ones go through `halve ingest`.
        demo: pages say that the data is made.
        address: `https://halve.example` or `http://127.0.0.1:8080`: where clients of the API reach this Halve.
        stopping: whether the service is about to end; streams of events then end too.
    """

    warehouse: Warehouse
    control: Engine
    commands: Commands
    zone: str
    now: Callable[[], int]
    allowed_hosts: frozenset[str] = field(default_factory=lambda: frozenset({"127.0.0.1", "localhost"}))
    public_origin: str | None = None
    no_access_control: bool = False
    max_upload_bytes: int = 1 << 30
    demo: bool = False
    address: str = "http://127.0.0.1:8080"
    stopping: Callable[[], bool] = lambda: False
