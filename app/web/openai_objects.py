"""Files, batches and errors as OpenAI's API writes them, so that its own clients read ours.

Shapes as documented for `/v1/files` and `/v1/batches` (2026); times are whole seconds UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.batch import JobView
    from app.control.batch_files import ApiBatch, BatchFile
    from app.control.batches import Part

Object = dict[str, Any]

SECOND_US: Final = 1_000_000
WINDOW: Final = "24h"
WINDOW_US: Final = 24 * 3_600 * SECOND_US


def file_object(file: BatchFile) -> Object:
    """A file."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": _s(file.created_us),
        "expires_at": _s(file.expires_us),
        "filename": file.name,
        "purpose": file.purpose,
        "status": "processed",
        "status_details": None,
    }


def list_object(objects: Sequence[Object], *, has_more: bool) -> Object:
    """A page of a list."""
    return {
        "object": "list",
        "data": list(objects),
        "first_id": objects[0]["id"] if objects else None,
        "last_id": objects[-1]["id"] if objects else None,
        "has_more": has_more,
    }


def error_object(message: str, code: str | None, param: str | None = None, kind: str = "") -> Object:
    """An error's body."""
    return {"error": {"message": message, "type": kind or "invalid_request_error", "param": param, "code": code}}


def batch_object(batch: ApiBatch, view: JobView | None) -> Object:
    """A batch: as it was asked for, and how its job stands; without a job its file was refused."""
    made = {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "input_file_id": batch.input_file_id,
        "completion_window": batch.completion_window,
        "created_at": _s(batch.created_us),
        "metadata": None if batch.notes is None else dict(batch.notes),
        "errors": None,
        "output_file_id": batch.output_file_id,
        "error_file_id": batch.error_file_id,
    }
    if view is None:
        return made | _times() | _refused(batch)
    counts = view.counts
    return made | {
        "status": status_of(view),
        "errors": _whole_errors(view),
        "request_counts": {
            "total": counts.total,
            "completed": counts.succeeded,
            "failed": counts.failed + counts.expired + counts.cancelled,
        },
        **_times_of(view),
    }


def status_of(view: JobView) -> str:
    """The job's state in OpenAI's words. Where single requests failed it is `completed`: they are in the error file."""
    job = view.job
    if job.state != "settled":
        if job.cancel_us is not None:
            return "cancelling"
        return "finalizing" if job.state == "settling" else "in_progress"
    if job.outcome in ("cancelled", "expired"):
        return job.outcome
    if job.outcome == "partly" and view.counts.expired:
        return "expired"
    return "failed" if _failed_as_a_whole(view) else "completed"


def _failed_as_a_whole(view: JobView) -> bool:
    """Whether the provider took nothing of the job: no request has an answer with a status of its own."""
    return view.job.outcome == "failed" and all(part.ended_reason != "completed" for part in view.parts)


def _whole_errors(view: JobView) -> Object | None:
    if view.job.state != "settled" or not _failed_as_a_whole(view):
        return None
    return _errors({"code": code, "message": message or code} for code, _, message in view.top_errors)


def _refused(batch: ApiBatch) -> Object:
    """What a batch says of itself whose file cannot be sent."""
    return {
        "status": "failed",
        "failed_at": _s(batch.created_us),
        "errors": _errors(batch.errors or ()),
        "request_counts": {"total": 0, "completed": 0, "failed": 0},
    }


def _errors(given: Iterable[Any]) -> Object:
    blank = {"code": None, "message": None, "param": None, "line": None}
    return {"object": "list", "data": [{**blank, **one} for one in given]}


def _times(**known: int | None) -> Object:
    names = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled", "expires")
    return {f"{name}_at": _s(known.get(name)) for name in names}


def _times_of(view: JobView) -> Object:
    job, parts = view.job, view.parts
    status = status_of(view)
    ended = {status: job.settled_us} if job.state == "settled" else {}
    return _times(
        in_progress=_earliest(parts),
        finalizing=max((part.ended_us for part in parts if part.ended_us), default=None)
        if all(part.ended_us for part in parts)
        else None,
        cancelling=job.cancel_us,
        expires=max([job.start_us + WINDOW_US, *(part.expires_us or 0 for part in parts)]),
        **ended,
    )


def _earliest(parts: Sequence[Part]) -> int | None:
    return min((part.submitted_us for part in parts if part.submitted_us), default=None)


def _s(at_us: int | None) -> int | None:
    return None if at_us is None else at_us // SECOND_US
