"""`/v1/files` and `/v1/batches` as OpenAI has them: an existing client needs a new base URL and a key, nothing else.

The work goes through the same jobs as those of the page and the command line. In the caller's metadata `feature` names
what the cost is booked on and `halve_start` when to send (`02:00`).
"""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import Depends, FastAPI, Query
from fastapi import Request as FastRequest
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response

from app.auth.access import opens_batches
from app.batch import Order, RefusedLinesError, moment_us
from app.batch.shelf import TooLargeError
from app.control import batch_files
from app.control.batch_files import ApiBatch
from app.core.errors import HalveError, NotFoundError, UnavailableError, UsageError
from app.web.names import plain_name
from app.web.openai_objects import WINDOW, batch_object, error_object, file_object, list_object
from app.web.problems import STATUS, UNEXPECTED

if TYPE_CHECKING:
    from app.batch.preview import Preview
    from app.control.batches import Job
    from app.web.batch_desk import BatchDesk
    from app.web.deps import Deps

MOUNT: Final = "/v1"
MAX_LIST: Final = 100
MAX_FILES_LIST: Final = 10_000
NO_KEY: Final = (
    "No key of this Halve came along that opens batches. Make one with `halve keys create NAME` on the machine of the "
    "service and give it to the client as its API key."
)
NO_SUCH_PATH: Final = (
    "Under /v1 Halve takes files and batches, and logs and traces by POST to /v1/traces, /v1/logs, /v1/metrics and "
    "/v1/ingest. Send calls that somebody waits for to the provider."
)
ONLY_BATCHES: Final = "Halve takes files for batches only: upload it with purpose=batch."


class CreateBatch(BaseModel):
    """What a client says when it makes a batch; what it says beyond that is not needed here."""

    input_file_id: str = Field(max_length=80)
    endpoint: str = Field(max_length=64)
    completion_window: Literal["24h"]
    metadata: dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]] | None = Field(
        None, max_length=16
    )


class NoKeyError(HalveError):
    """The request carries no key that opens this part of the API."""


def openai_api(deps: Deps, desk: BatchDesk) -> FastAPI:
    """The application to mount at `/v1`."""

    def guard(request: FastRequest) -> None:
        if not deps.no_access_control and not opens_batches(deps.control, request.headers.get("authorization")):
            raise NoKeyError(NO_KEY)

    api = FastAPI(title="Halve batches", docs_url=None, redoc_url=None, openapi_url=None, dependencies=[Depends(guard)])
    _add_files(api, deps, desk)
    _add_batches(api, deps, desk)
    _add_errors(api)
    return api


def _add_files(api: FastAPI, deps: Deps, desk: BatchDesk) -> None:
    @api.post("/files", response_model=None)
    async def upload(request: FastRequest) -> dict[str, Any]:
        async with request.form(max_files=1, max_fields=8) as form:
            given = form.get("file")
            if form.get("purpose") != "batch":
                raise UsageError(ONLY_BATCHES)
            if not isinstance(given, UploadFile):
                raise UsageError("The form holds no file. Send it as the field `file`.")
            name = plain_name(given.filename) or "batch.jsonl"
            return file_object(await run_in_threadpool(desk.keep, name, given.file))

    @api.get("/files", response_model=None)
    def list_files(
        after: str | None = None,
        limit: Annotated[int, Query(ge=1, le=MAX_FILES_LIST)] = MAX_FILES_LIST,
        order: Literal["asc", "desc"] = "desc",
        purpose: str | None = None,
    ) -> dict[str, Any]:
        found = batch_files.files(deps.control, purpose=purpose, after=after, limit=limit + 1, order=order)
        return list_object([file_object(one) for one in found[:limit]], has_more=len(found) > limit)

    @api.get("/files/{file_id}", response_model=None)
    def retrieve_file(file_id: str) -> dict[str, Any]:
        return file_object(batch_files.file(deps.control, file_id))

    @api.get("/files/{file_id}/content", response_model=None)
    def content(file_id: str) -> Response:
        return FileResponse(desk.path(file_id), media_type="application/octet-stream")

    @api.delete("/files/{file_id}", response_model=None)
    def delete(file_id: str) -> dict[str, Any]:
        desk.remove(file_id)
        return {"id": file_id, "object": "file", "deleted": True}


def _add_batches(api: FastAPI, deps: Deps, desk: BatchDesk) -> None:
    def shown(batch: ApiBatch) -> dict[str, Any]:
        if batch.errors is not None:
            return batch_object(batch, None)
        view = desk.view(batch.id)
        return batch_object(desk.answers(batch) if view.job.state == "settled" else batch, view)

    @api.post("/batches", response_model=None)
    def create(asked: CreateBatch) -> dict[str, Any]:
        batch = _made(deps, desk, asked)
        batch_files.add_batch(deps.control, batch)
        return shown(batch)

    @api.get("/batches", response_model=None)
    def list_batches(after: str | None = None, limit: Annotated[int, Query(ge=1, le=MAX_LIST)] = 20) -> dict[str, Any]:
        found = batch_files.batches(deps.control, after=after, limit=limit + 1)
        return list_object([shown(one) for one in found[:limit]], has_more=len(found) > limit)

    @api.get("/batches/{batch_id}", response_model=None)
    def retrieve(batch_id: str) -> dict[str, Any]:
        return shown(batch_files.batch(deps.control, batch_id))

    @api.post("/batches/{batch_id}/cancel", response_model=None)
    def cancel(batch_id: str) -> dict[str, Any]:
        batch = batch_files.batch(deps.control, batch_id)
        if batch.errors is None:
            desk.cancel(batch.id)
        return shown(batch)


def _made(deps: Deps, desk: BatchDesk, asked: CreateBatch) -> ApiBatch:
    """A batch with its job, or with the reasons why its file cannot be sent: those belong to it, as at OpenAI."""
    file = batch_files.file(deps.control, asked.input_file_id)
    if file.purpose != "batch":
        raise UsageError(f"The file {file.id} holds answers. Name one that was uploaded with purpose=batch.")
    errors = _problems(desk.preview(file.id, desk.upstreams[0]), asked.endpoint)
    job_id = f"batch_{token_hex(12)}"
    if not errors:
        try:
            job_id = _submitted(deps, desk, asked, file.name).id
        except RefusedLinesError as error:
            errors = [{"code": "invalid_line", "message": one.reason, "line": one.line} for one in error.problems]
    return ApiBatch(
        id=job_id,
        input_file_id=file.id,
        endpoint=asked.endpoint,
        completion_window=WINDOW,
        created_us=deps.now(),
        notes=asked.metadata,
        errors=errors or None,
    )


def _problems(found: Preview, endpoint: str) -> list[dict[str, Any]]:
    if found.problems:
        return [{"code": "invalid_line", "message": one.reason, "line": one.line} for one in found.problems]
    if not found.items:
        return [{"code": "empty_file", "message": "The file holds no request. Write one JSON object a line."}]
    other = [one for one in found.endpoints if one != endpoint]
    if other:
        told = f"The batch is for {endpoint}, and lines of its file ask for {', '.join(other)}."
        return [{"code": "url_mismatch", "message": told, "param": "endpoint"}]
    return []


def _submitted(deps: Deps, desk: BatchDesk, asked: CreateBatch, name: str) -> Job:
    upstream, notes = desk.upstreams[0], asked.metadata or {}
    zone = notes.get("halve_zone", deps.zone)
    start = notes.get("halve_start")
    order = Order(
        provider=upstream.provider,
        label=notes.get("name") or name,
        feature=notes.get("feature"),
        tags=notes,
        zone=zone,
        start_us=None if start is None else moment_us(start, zone, deps.now()),
        base_url=upstream.base_url,
        key_ref=upstream.key_ref,
    )
    return desk.submit(asked.input_file_id, order)


def _add_errors(api: FastAPI) -> None:
    def ours(_request: FastRequest, error: Exception) -> Response:
        if isinstance(error, NoKeyError):
            headers = {"www-authenticate": "Bearer"}
            return JSONResponse(error_object(str(error), "invalid_api_key"), 401, headers)
        status = next((code for kind, code in STATUS if isinstance(error, kind)), 500)
        if isinstance(error, TooLargeError):
            return JSONResponse(error_object(str(error), "file_too_large", "file"), 413)
        if isinstance(error, UnavailableError):
            return JSONResponse(error_object(str(error), "unavailable", kind="server_error"), status)
        code = "not_found" if isinstance(error, NotFoundError) else "invalid_request"
        # What OpenAI calls a bad request is one status; its clients retry none of these.
        return JSONResponse(error_object(str(error), code), 400 if status in (409, 422) else status)

    def wrong_body(_request: FastRequest, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"][1:]) or None
        return JSONResponse(error_object(f"{where or 'body'}: {first['msg']}", "invalid_value", where), 400)

    def framework(_request: FastRequest, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        told = {404: NO_SUCH_PATH, 413: "That is larger than Halve takes."}.get(error.status_code, str(error.detail))
        return JSONResponse(error_object(told, None), error.status_code)

    def unexpected(_request: FastRequest, _error: Exception) -> Response:
        return JSONResponse(error_object(UNEXPECTED, "server_error", kind="server_error"), 500)

    api.add_exception_handler(HalveError, ours)
    api.add_exception_handler(RequestValidationError, wrong_body)
    api.add_exception_handler(HTTPException, framework)
    api.add_exception_handler(Exception, unexpected)
