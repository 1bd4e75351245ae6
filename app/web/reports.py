"""What stands beside the Reports page: a week's mail for its frame, its pictures and text, the archive's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from app.core.errors import NotFoundError
from app.web import render
from app.web.security import FRAMED_POLICY

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.web.commands import ReportDesk
    from app.web.deps import Deps

ADDRESS_MAX = 320
WEEK_MAX = 8


def routes(deps: Deps) -> APIRouter:
    """The routes; the caller puts the guard in front of them."""
    router = APIRouter()

    def desk() -> ReportDesk:
        if deps.commands.reports is None:
            raise NotFoundError("This Halve was started without its weekly report.")
        return deps.commands.reports

    def text(week: str) -> Response:
        return PlainTextResponse(desk().text(week))

    def picture(week: str, chart: str) -> Response:
        return Response(desk().picture(week, chart), media_type="image/png")

    def preview(week: str) -> Response:
        return HTMLResponse(desk().preview(week), headers={"content-security-policy": FRAMED_POLICY})

    def file(number: int) -> Response:
        headers = {"content-disposition": f'attachment; filename="report-{number}.eml"'}
        return Response(desk().file(number), media_type="message/rfc822", headers=headers)

    def send(
        to: Annotated[str, Form(max_length=ADDRESS_MAX)], week: Annotated[str, Form(max_length=WEEK_MAX)]
    ) -> Response:
        queued = desk().send(week, to)
        return render.see_other(f"/reports?week={week}&done={'sent' if queued else 'waiting'}")

    reads: dict[str, Callable[..., Response]] = {
        "/reports/preview/{week}.txt": text,
        "/reports/preview/{week}/{chart}.png": picture,
        "/reports/preview/{week}": preview,
        "/reports/mail/{number}.eml": file,
    }
    for path, handle in reads.items():
        router.add_api_route(path, handle, methods=["GET", "HEAD"], response_model=None)
    router.add_api_route("/reports/send", send, methods=["POST"], response_model=None)
    return router
