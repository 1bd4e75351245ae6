"""What stands beside the Batch pages: handing in a file, scheduling it, cancelling, results, and live progress."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Form
from fastapi import Request as FastRequest
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, Response, StreamingResponse

from app.batch import Order, moment_us
from app.control import batch_files
from app.core.errors import HalveError, NotFoundError, UsageError
from app.web import render
from app.web.batch_words import standing
from app.web.names import plain_name
from app.web.security import BATCH_UPLOAD_PATH
from app.web.table import json_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from app.web.batch_desk import BatchDesk
    from app.web.batch_words import Standing
    from app.web.deps import Deps

LOOK_EVERY_S: Final = 1.0
LOOKS: Final = 600
"""After so many looks the stream ends and the browser asks anew, with its session checked again."""
BEATS: Final = 15
TEXT_MAX: Final = 200
WEBHOOK_MAX: Final = 2_000
SECRET_NAME: Final = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,99}")
NO_FILE: Final = "No file was chosen. Go back and choose a file of request lines."


def routes(deps: Deps) -> APIRouter:
    """The routes; the caller puts the guard in front of them."""
    router = APIRouter()

    def desk() -> BatchDesk:
        if deps.commands.batch is None:
            raise NotFoundError("This Halve was started without batches.")
        return deps.commands.batch

    async def upload(request: FastRequest) -> Response:
        # The form is read here and not by a parameter: parameters are read before the guard has spoken.
        async with request.form(max_files=1, max_fields=4) as form:
            given = form.get("file")
            name = plain_name(given.filename) if isinstance(given, UploadFile) else ""
            if not isinstance(given, UploadFile) or not name:
                raise UsageError(NO_FILE)
            feature = str(form.get("feature") or "").strip()[:TEXT_MAX]
            kept = await run_in_threadpool(desk().keep, name, given.file)
        asked = f"?{urlencode({'feature': feature})}" if feature else ""
        return render.see_other(f"/batch/files/{kept.id}{asked}")

    def schedule(
        file_id: str,
        provider: Annotated[str, Form(max_length=32)],
        when: Annotated[str, Form(max_length=8)],
        name: Annotated[str, Form(max_length=TEXT_MAX)] = "",
        feature: Annotated[str, Form(max_length=TEXT_MAX)] = "",
        at: Annotated[str, Form(max_length=32)] = "",
        needed_by: Annotated[str, Form(max_length=32)] = "",
        webhook: Annotated[str, Form(max_length=WEBHOOK_MAX)] = "",
        webhook_key: Annotated[str, Form(max_length=TEXT_MAX)] = "",
    ) -> Response:
        file = batch_files.file(deps.control, file_id)
        upstream = next((one for one in desk().upstreams if one.provider == provider), None)
        if upstream is None:
            raise UsageError(f"{provider!r} is no provider that jobs can go to from here. Go back and choose one.")
        later = when == "at"
        order = Order(
            provider=upstream.provider,
            label=name.strip() or file.name,
            feature=feature.strip() or None,
            zone=deps.zone,
            start_us=moment_us(at, deps.zone, deps.now()) if later else None,
            needed_by_us=moment_us(needed_by, deps.zone, deps.now()) if needed_by.strip() else None,
            base_url=upstream.base_url,
            key_ref=upstream.key_ref,
            webhook_url=webhook.strip() or None,
            webhook_key_ref=_named_secret(webhook_key.strip()),
        )
        job = desk().submit(file_id, order)
        # The job holds its own copy; with the file gone, the form cannot be sent twice.
        desk().remove(file_id)
        return render.see_other(f"/batch/jobs/{job.id}?done={'scheduled' if later else 'sent'}")

    def discard(file_id: str) -> Response:
        desk().remove(file_id)
        return render.see_other("/batch?done=discarded")

    def cancel(job_id: str) -> Response:
        desk().cancel(job_id)
        return render.see_other(f"/batch/jobs/{job_id}?done=cancelled")

    def results(job_id: str) -> Response:
        return FileResponse(desk().results(job_id), media_type="application/jsonl", filename=f"{job_id}.jsonl")

    def events(job_id: str) -> Response:
        def look() -> Standing:
            return standing(desk().view(job_id))

        look()  # a job that is not there is told as a page, not inside a stream
        headers = {"x-accel-buffering": "no", "cache-control": "no-store"}
        return StreamingResponse(stream(look, deps.stopping), media_type="text/event-stream", headers=headers)

    router.add_api_route(BATCH_UPLOAD_PATH, upload, methods=["POST"], response_model=None)
    router.add_api_route("/batch/files/{file_id}/schedule", schedule, methods=["POST"], response_model=None)
    router.add_api_route("/batch/files/{file_id}/discard", discard, methods=["POST"], response_model=None)
    router.add_api_route("/batch/jobs/{job_id}/cancel", cancel, methods=["POST"], response_model=None)
    router.add_api_route("/batch/jobs/{job_id}/results", results, methods=["GET", "HEAD"], response_model=None)
    router.add_api_route("/batch/jobs/{job_id}/events", events, methods=["GET"], response_model=None)
    return router


def _named_secret(reference: str) -> str | None:
    """A secret that a browser may name: by a variable of the service, never by a path of its machine."""
    if reference and not SECRET_NAME.fullmatch(reference):
        raise UsageError(
            f"{reference[:60]!r} names no secret. Write env: and the name of a variable of the service, such as "
            "env:BATCH_WEBHOOK_KEY."
        )
    return reference or None


async def stream(
    look: Callable[[], Standing], stopping: Callable[[], bool], every_s: float = LOOK_EVERY_S
) -> AsyncIterator[str]:
    """Events `progress` whenever something changed, then `end`; an error of ours is the event `fault`, in band.

    The server stops it when the reader leaves, and it ends with the service; in between comments keep it open.
    """
    yield "retry: 3000\n\n"
    last = None
    for beat in range(LOOKS):
        try:
            now = await run_in_threadpool(look)
        except HalveError as error:
            yield _event("fault", {"text": str(error)})
            return
        if now != last:
            last = now
            yield _event("progress", now.document())
        elif beat % BEATS == 0:
            yield ": still here\n\n"
        if now.ended:
            yield _event("end", {})
            return
        if stopping():
            return
        await asyncio.sleep(every_s)


def _event(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json_text(data)}\n\n"
