"""Anthropic's message batches: one call with all requests, one stream of results.

Limits as documented for message batches (2026): 100,000 rows, 256 MB, 24 h, results kept 29 days from creation. We
keep a batch far smaller: its rows travel in one JSON document that the SDK holds in memory. A batch carries no
metadata, so one whose answer got lost is known by its time and size, and proved by the ids of its results.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from app.batch.dialect import OBJECT
from app.batch.dialects.anthropic import DIALECT
from app.batch.provider import DAY_US, Connection, Limits, Mark, Provider, Standing, byte_lines
from app.batch.providers.sdk import TIMEOUT, Api

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from anthropic import Anthropic
    from anthropic.types.messages import MessageBatch

    from app.batch.provider import Account

BASE_URL: Final = "https://api.anthropic.com"
PAGE: Final = 100
CLOCKS_APART_US: Final = 300_000_000
RESULTS: Final = "results"


@contextmanager
def connect(account: Account) -> Iterator[Connection]:
    """An account's message batches; the client is closed at the end. The SDK is loaded by the first call."""
    from anthropic import Anthropic, APIError

    with (
        account.http() as http,
        Anthropic(
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


def _submit(api: Api[Anthropic], path: Path, _mark: Mark) -> Standing:
    with path.open("rb") as stream:
        requests = [OBJECT.decode(line) for line in stream]
    from anthropic.types.messages import MessageBatch

    what = "Creating the batch"
    with api.words(what, creates=True):
        made = api.client.messages.batches.create(requests=requests)  # type: ignore[arg-type]  # as given
    return _standing(api.expect(made, MessageBatch, what, creates=True))


def _find(api: Api[Anthropic], mark: Mark) -> list[Standing]:
    """Batches of the right size and age, oldest first. The list comes newest first."""
    found = []
    what = "Listing the batches"
    with api.words(what):
        for batch in api.listed(lambda: api.client.messages.batches.list(limit=PAGE), what):
            if _us(batch.created_at) < mark.since_us - CLOCKS_APART_US:
                break
            if _size(batch) == mark.items:
                found.append(_standing(batch))
    return found[::-1]


def _poll(api: Api[Anthropic], batch_id: str) -> Standing:
    from anthropic.types.messages import MessageBatch

    what = f"Asking for batch {batch_id}"
    with api.words(what):
        return _standing(api.expect(api.client.messages.batches.retrieve(batch_id), MessageBatch, what))


def _results(api: Api[Anthropic], standing: Standing) -> Iterator[bytes]:
    with (
        api.words(f"Downloading results of batch {standing.batch_id}"),
        api.client.messages.batches.with_streaming_response.results(standing.batch_id) as response,
    ):
        yield from byte_lines(response.iter_bytes())


def _cancel(api: Api[Anthropic], batch_id: str) -> None:
    with api.words(f"Cancelling batch {batch_id}"):
        api.client.messages.batches.cancel(batch_id)


def _standing(batch: MessageBatch) -> Standing:
    counts = batch.request_counts
    ended = batch.processing_status == "ended"
    return Standing(
        batch_id=batch.id,
        # How it ended is said by the results, line by line.
        ended="completed" if ended else None,
        done=counts.succeeded + counts.errored + counts.canceled + counts.expired,
        created_us=_us(batch.created_at),
        ended_us=None if batch.ended_at is None else _us(batch.ended_at),
        expires_us=_us(batch.expires_at),
        files=(RESULTS,) if batch.results_url else (),
    )


def _size(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def _us(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)


PROVIDER: Final = Provider(
    name="anthropic",
    title="Anthropic message batches",
    dialect=DIALECT,
    limits=Limits(rows=100_000, bytes=24_000_000, one_model=False),
    window_us=DAY_US,
    kept_us=28 * DAY_US,
    listing_us=120_000_000,
    marks=False,
    default_key="env:ANTHROPIC_API_KEY",
    default_host="api.anthropic.com",
    connect=connect,
)
