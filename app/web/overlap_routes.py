"""The form of the Sources page that says which of two sources counts where both tell of the same calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form

from app.core.errors import UsageError
from app.web import render
from app.web.overlapping import BOTH

if TYPE_CHECKING:
    from starlette.responses import Response

    from app.web.deps import Deps

NAME_MAX = 500


def routes(deps: Deps) -> APIRouter:
    """The route; the caller puts the guard in front of it."""
    router = APIRouter()

    @router.post("/sources/overlap", response_model=None)
    def overlap(
        one: Annotated[str, Form(max_length=NAME_MAX)],
        other: Annotated[str, Form(max_length=NAME_MAX)],
        counted: Annotated[str, Form(max_length=NAME_MAX)] = "",
    ) -> Response:
        if not counted:
            raise UsageError("Choose which of the two sources counts. Go back and choose one.")
        deps.commands.decide_overlap(one, other, None if counted == BOTH else counted)
        return render.see_other("/sources?done=overlap")

    return router
