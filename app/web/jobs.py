"""The forms of the Jobs page: run a job now, set when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form

from app.core.errors import NotFoundError, UsageError
from app.web import render

if TYPE_CHECKING:
    from starlette.responses import Response

    from app.web.commands import JobDesk
    from app.web.deps import Deps

TEXT_MAX = 64


def routes(deps: Deps) -> APIRouter:
    """The routes; the caller puts the guard in front of them."""
    router = APIRouter()

    def desk() -> JobDesk:
        if deps.commands.jobs is None:
            raise NotFoundError("This Halve was started without its jobs.")
        return deps.commands.jobs

    @router.post("/jobs/{job}/run", response_model=None)
    def run(job: str) -> Response:
        desk().run(job)
        return render.see_other("/jobs?done=asked")

    @router.post("/jobs/{job}/schedule", response_model=None)
    def schedule(
        job: str,
        rule: Annotated[str, Form(max_length=TEXT_MAX)],
        zone: Annotated[str, Form(max_length=TEXT_MAX)],
        state: Annotated[str, Form(max_length=TEXT_MAX)],
    ) -> Response:
        if state not in ("on", "off"):
            raise UsageError(f"{state!r} is neither on nor off.")
        desk().change(job, rule, zone, state == "on")
        return render.see_other("/jobs?done=changed")

    return router
