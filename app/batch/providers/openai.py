"""OpenAI's batches: a file is uploaded, a batch made of it, its output and error files read. Also compatible servers.

Limits as documented for `/v1/batches` (2026): 50,000 rows, 200 MB, one model and one endpoint a file, 24 h, files kept
30 days. We make batches of 20,000 rows at most: results come home in pieces, and settling a piece needs little memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from app.batch.dialects.openai import DIALECT
from app.batch.provider import DAY_US, Connection, Limits, Mark, Problem, Provider, Standing, byte_lines
from app.batch.providers.sdk import TIMEOUT, Api

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from openai import OpenAI
    from openai.types import Batch

    from app.batch.provider import Account, EndedReason

BASE_URL: Final = "https://api.openai.com/v1"
PAGE: Final = 100
CLOCKS_APART_S: Final = 3600

_ENDED: Final[dict[str, EndedReason]] = {
    "completed": "completed",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}


@contextmanager
def connect(account: Account) -> Iterator[Connection]:
    """An account's batches; the client is closed at the end. The SDK is loaded by the first call."""
    from openai import APIError, OpenAI

    with (
        account.http() as http,
        OpenAI(
            api_key=account.key,
            base_url=account.base_url or BASE_URL,
            http_client=http,
            max_retries=0,
            timeout=TIMEOUT,
        ) as client,
    ):
        api = Api(client, APIError)
        yield Connection(
            submit=partial(_submit, api),
            find=partial(_find, api),
            poll=partial(_poll, api),
            results=partial(_results, api),
            cancel=partial(_cancel, api),
        )


def _submit(api: Api[OpenAI], path: Path, mark: Mark) -> Standing:
    from openai.types import Batch, FileObject

    # An upload alone costs nothing: only making the batch must never happen twice.
    what = "Uploading the batch file"
    with api.words(what), path.open("rb") as stream:
        name = f"halve-{mark.fingerprint[:16]}.jsonl"
        sent = api.client.files.create(file=(name, stream, "application/jsonl"), purpose="batch")
    file = api.expect(sent, FileObject, what)
    with api.words("Creating the batch", creates=True):
        batch = api.client.batches.create(
            completion_window="24h",
            endpoint=mark.endpoint,  # type: ignore[arg-type]  # checked at intake; compatible servers know others
            input_file_id=file.id,
            metadata={"halve_job": mark.job, "halve_part": str(mark.part), "halve_mark": mark.fingerprint},
        )
    return _standing(api.expect(batch, Batch, "Creating the batch", creates=True))


def _find(api: Api[OpenAI], mark: Mark) -> list[Standing]:
    """The list comes newest first; what is older than the intent cannot be ours."""
    found = []
    what = "Listing the batches"
    with api.words(what):
        for batch in api.listed(lambda: api.client.batches.list(limit=PAGE), what):
            if batch.created_at < mark.since_us // 1_000_000 - CLOCKS_APART_S:
                break
            if (batch.metadata or {}).get("halve_mark") == mark.fingerprint:
                found.append(_standing(batch))
    return found[::-1]


def _poll(api: Api[OpenAI], batch_id: str) -> Standing:
    from openai.types import Batch

    what = f"Asking for batch {batch_id}"
    with api.words(what):
        return _standing(api.expect(api.client.batches.retrieve(batch_id), Batch, what))


def _results(api: Api[OpenAI], standing: Standing) -> Iterator[bytes]:
    for file in standing.files:
        with (
            api.words(f"Downloading results of batch {standing.batch_id}"),
            api.client.files.with_streaming_response.content(file) as response,
        ):
            yield from byte_lines(response.iter_bytes())


def _cancel(api: Api[OpenAI], batch_id: str) -> None:
    with api.words(f"Cancelling batch {batch_id}"):
        api.client.batches.cancel(batch_id)


def _standing(batch: Batch) -> Standing:
    counts = batch.request_counts
    ended_at = batch.completed_at or batch.failed_at or batch.expired_at or batch.cancelled_at
    problems = (batch.errors.data if batch.errors is not None else None) or []
    return Standing(
        batch_id=batch.id,
        ended=_ENDED.get(batch.status),
        done=None if counts is None else counts.completed + counts.failed,
        created_us=_us(batch.created_at),
        ended_us=_us(ended_at),
        expires_us=_us(batch.expires_at),
        problems=tuple(Problem(one.code or "unknown", one.message or "", one.line) for one in problems),
        # null and "" both mean that there is no such file
        files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
    )


def _us(seconds: Any) -> int | None:
    return int(seconds * 1_000_000) if seconds else None


PROVIDER: Final = Provider(
    name="openai",
    title="OpenAI and compatible",
    dialect=DIALECT,
    limits=Limits(rows=20_000, bytes=200_000_000, one_model=True),
    window_us=DAY_US,
    kept_us=30 * DAY_US,
    listing_us=120_000_000,
    marks=True,
    default_key="env:OPENAI_API_KEY",
    default_host="api.openai.com",
    connect=connect,
)
