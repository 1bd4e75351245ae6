"""Costs to take along: the FOCUS rows of a period as one file, made for this reader and removed when it was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from app.core.errors import NotFoundError
from app.core.view import DEFAULT_PERIOD
from app.core.view import period as named_period

if TYPE_CHECKING:
    from app.web.deps import Deps

PATH: Final = "/export/focus.csv"


def routes(deps: Deps) -> APIRouter:
    """The download; filters do not narrow it."""
    router = APIRouter()

    @router.get(PATH)
    def focus(period: str = DEFAULT_PERIOD) -> FileResponse:
        make = deps.commands.export_focus
        if make is None:
            raise NotFoundError("This service makes no exports.")
        asked = named_period(period, deps.zone, deps.now())
        path = make(asked)
        return FileResponse(
            path,
            media_type="text/csv; charset=utf-8",
            filename=f"halve-focus-{asked.name.replace('..', '-to-')}.csv",
            background=BackgroundTask(path.unlink, missing_ok=True),
        )

    return router
