"""Forms that change something: they call a command and send the reader back to the page that shows the result."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form
from fastapi import Request as FastRequest
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from app.core.errors import UsageError
from app.core.view import midnight_us, zone_info
from app.web import render
from app.web.names import plain_name
from app.web.security import UPLOAD_PATH

if TYPE_CHECKING:
    from starlette.responses import Response

    from app.web.deps import Deps

Fingerprint = str
REASON_MAX = 500
OWNER_MAX = 200
NO_FILE = "No file was chosen. Go back and choose a log file."
BILLINGS = ("api", "subscription", "provisioned", "free", "unknown")


def actions(deps: Deps) -> APIRouter:
    """POST routes; the caller puts the guard in front of them."""
    router = APIRouter()
    commands = deps.commands

    _add_findings(router, deps)

    @router.post("/analyse", response_model=None)
    def analyse() -> Response:
        commands.run_analysis()
        return render.see_other("/savings")

    @router.post(UPLOAD_PATH, response_model=None)
    async def upload(request: FastRequest) -> Response:
        # The form is read here and not by a parameter: parameters are read before the guard has spoken.
        async with request.form(max_files=1, max_fields=4) as form:
            log = form.get("log")
            if not isinstance(log, UploadFile):
                raise UsageError(NO_FILE)
            name = plain_name(log.filename)
            if not name:
                raise UsageError(NO_FILE)
            await run_in_threadpool(commands.upload_log, name, log.file)
        return render.see_other("/sources?done=upload")

    @router.post("/sources/billing", response_model=None)
    def billing(source: Annotated[str, Form(max_length=500)], billing: Annotated[str, Form()]) -> Response:
        if billing not in BILLINGS:
            raise UsageError(f"{billing!r} is no way of billing. Use one of {', '.join(BILLINGS)}.")
        commands.set_billing(source, billing)
        return render.see_other("/sources?done=billing")

    return router


def _add_findings(router: APIRouter, deps: Deps) -> None:
    """What people decide about findings."""
    commands = deps.commands

    @router.post("/savings/{fingerprint}/dismiss", response_model=None)
    def dismiss(
        fingerprint: Fingerprint,
        reason: Annotated[str, Form(max_length=REASON_MAX)] = "",
        until: Annotated[str, Form(max_length=10)] = "",
    ) -> Response:
        if not reason.strip():
            raise UsageError("Say why the finding is dismissed: the reason stays with it. Go back and fill it in.")
        commands.dismiss_finding(fingerprint, reason.strip(), _until_us(until, deps.zone))
        return render.see_other(f"/savings/{fingerprint}")

    @router.post("/savings/{fingerprint}/restore", response_model=None)
    def restore(fingerprint: Fingerprint) -> Response:
        commands.restore_finding(fingerprint)
        return render.see_other(f"/savings/{fingerprint}")

    @router.post("/savings/{fingerprint}/start", response_model=None)
    def start(fingerprint: Fingerprint) -> Response:
        commands.start_finding(fingerprint)
        return render.see_other(f"/savings/{fingerprint}")

    @router.post("/savings/{fingerprint}/finish", response_model=None)
    def finish(fingerprint: Fingerprint) -> Response:
        commands.finish_finding(fingerprint)
        return render.see_other(f"/savings/{fingerprint}")

    @router.post("/savings/{fingerprint}/owner", response_model=None)
    def assign(fingerprint: Fingerprint, owner: Annotated[str, Form(max_length=OWNER_MAX)] = "") -> Response:
        commands.assign_finding(fingerprint, " ".join(owner.split()) or None)
        return render.see_other(f"/savings/{fingerprint}")


def _until_us(text: str, zone: str) -> int | None:
    """The end of a local day, or None for good."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
        return midnight_us(day + timedelta(days=1), zone_info(zone))
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{text!r} is no day. Write it as 2026-12-31, or leave it empty to dismiss for good."
        ) from error
