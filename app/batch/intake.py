"""Taking a job in: every line is checked on this machine, with its number, before anything leaves it."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from app.batch.dialect import RAW_OBJECT, LineError
from app.batch.estimate import Volume, estimate
from app.batch.folder import whole_file
from app.batch.order import check_order
from app.batch.providers import provider_named
from app.batch.split import ID_BYTES, Line, Share, in_order, prefix_key, shares, tokens_of
from app.control import batches
from app.control.batches import Item, Job, Part
from app.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from app.batch.desk import Desk
    from app.batch.dialect import Request
    from app.batch.estimate import Prices
    from app.batch.folder import JobFolder
    from app.batch.order import Order
    from app.batch.provider import Provider
    from app.control.batches import State

MAX_PROBLEMS: Final = 50
MAX_ITEMS: Final = 2_000_000
BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class LineProblem:
    """Why a line (1-based) cannot be part of a batch."""

    line: int
    reason: str


class RefusedLinesError(InputError):
    """A file with lines that no provider would take. `problems` holds the first of them."""

    def __init__(self, problems: Sequence[LineProblem], total: int) -> None:
        named = "; ".join(f"line {one.line}: {one.reason}" for one in problems[:10])
        more = f" (and {total - 10} more)" if total > 10 else ""
        super().__init__(f"Nothing was sent: {total} lines cannot be part of a batch. {named}{more}.")
        self.problems = tuple(problems)


@dataclass(slots=True)
class Reading:
    """What is gathered while a file is read."""

    lines: list[Line]
    volumes: dict[tuple[str, str], Volume]
    problems: list[LineProblem]
    wrong: int = 0


def submit(desk: Desk, lines: Iterable[bytes], order: Order, prices: Prices | None = None) -> Job:
    """Take a job in: its lines are kept on disk, its parts planned; `advance` sends them when their time has come.

    `lines` are those of the caller's JSONL file, in the dialect of the provider. `prices` adds an estimate.

    Raises:
        RefusedLinesError: lines are wrong; nothing is kept. UsageError: the order is wrong.
    """
    provider = provider_named(order.provider)
    now_us = desk.now_us()
    start_us = check_order(order, provider, now_us)
    job_id = f"batch_{secrets.token_hex(12)}"
    files = desk.files(job_id)
    files.path.mkdir(parents=True)
    try:
        reading = _read(lines, files, provider)
        ordered = in_order(reading.lines, provider.limits)
        planned = list(shares(ordered, provider.limits, order.queued_tokens))
        volumes = list(reading.volumes.values())
        expected = estimate(provider, order.base_url, volumes, prices, start_us)
        job = Job(
            id=job_id,
            provider=provider.name,
            base_url=order.base_url,
            key_ref=order.key_ref or provider.default_key,
            label=order.label or order.feature or job_id,
            feature=order.feature,
            tags=dict(order.tags),
            zone=order.zone,
            created_us=now_us,
            start_us=start_us,
            needed_by_us=order.needed_by_us,
            state="scheduled" if start_us > now_us else "queued",
            items=len(ordered),
            bytes=sum(line.byte_size for line in ordered),
            tokens_est=sum(line.tokens for line in ordered),
            estimate=expected.document(),
            max_attempts=order.max_attempts,
            queued_tokens=order.queued_tokens,
            webhook_url=order.webhook_url,
            webhook_key_ref=order.webhook_key_ref,
            next_us=start_us,
        )
        parts = [
            new_part(job.id, number, share, state=job.state, next_us=start_us) for number, share in enumerate(planned)
        ]
        batches.add(desk.control, job, parts, _items(planned))
    except BaseException:
        shutil.rmtree(files.path, ignore_errors=True)
        raise
    return job


def check(lines: Iterable[bytes], provider_name: str) -> list[LineProblem]:
    """The problems of a file, the first MAX_PROBLEMS of them, without keeping anything."""
    provider = provider_named(provider_name)
    reading = Reading([], {}, [])
    for _ in checked(lines, provider, reading):
        pass
    return reading.problems


def new_part(
    job_id: str, number: int, share: Share, *, attempt: int = 1, state: State = "queued", next_us: int
) -> Part:
    """A part that waits to be sent, with the mark by which it is known again."""
    return Part(
        job_id=job_id,
        number=number,
        model=share.model,
        endpoint=share.endpoint,
        attempt=attempt,
        state=state,
        items=len(share.lines),
        bytes=share.bytes,
        tokens_est=share.tokens,
        mark=sha256(f"{job_id}/{number}".encode()).hexdigest()[:32],
        next_us=next_us,
    )


def safe_id(part: Part, seq: int) -> str:
    """The id under which an item travels: it proves whose it is, and fits `^[A-Za-z0-9_-]{1,64}$`."""
    return f"{part.mark[:20]}-{seq}"


def seq_of(part: Part, sent_id: object) -> int | None:
    """The item that a safe id stands for; None where the id is not of this part."""
    mark, dash, seq = str(sent_id).partition("-")
    return int(seq) if dash and mark == part.mark[:20] and seq.isascii() and seq.isdigit() else None


def _read(lines: Iterable[bytes], files: JobFolder, provider: Provider) -> Reading:
    reading = Reading([], {}, [])
    at = 0
    with whole_file(files.items) as stream:
        for line, request in checked(lines, provider, reading):
            stream.write(line + b"\n")
            tokens = tokens_of(request.prompt)
            seq = len(reading.lines)
            reading.lines.append(
                Line(
                    seq,
                    request.model,
                    request.endpoint,
                    prefix_key(request.prompt),
                    at,
                    len(line),
                    tokens,
                    request.custom_id,
                )
            )
            volume = reading.volumes.setdefault(
                (request.model, request.endpoint), Volume(request.model, request.endpoint)
            )
            volume.add(len(request.prompt), request.max_output)
            at += len(line) + 1
    if reading.problems:
        raise RefusedLinesError(reading.problems, reading.wrong)
    if not reading.lines:
        raise InputError("The file holds no request. Write one JSON object a line.")
    return reading


def checked(lines: Iterable[bytes], provider: Provider, reading: Reading) -> Iterator[tuple[bytes, Request]]:
    """The good lines with what they ask; what is wrong is noted."""
    seen: set[str] = set()
    for number, given in enumerate(lines, 1):
        line = (given.removeprefix(BOM) if number == 1 else given).strip()
        if not line:
            continue
        try:
            request = _request(line, provider)
            _check_place(request, seen)
        except LineError as error:
            reading.wrong += 1
            if len(reading.problems) < MAX_PROBLEMS:
                reading.problems.append(LineProblem(number, str(error)))
            continue
        seen.add(request.custom_id)
        yield line, request


def _check_place(request: Request, seen: set[str]) -> None:
    if request.custom_id in seen:
        raise LineError(f"custom_id {request.custom_id[:80]!r} was used before")
    if len(seen) == MAX_ITEMS:
        raise LineError(f"a job holds {MAX_ITEMS:,} requests at most")


def _request(line: bytes, provider: Provider) -> Request:
    if len(line) + ID_BYTES > provider.limits.bytes:
        raise LineError(f"{len(line):,} bytes, above the {provider.limits.bytes:,} of a whole batch")
    try:
        fields = RAW_OBJECT.decode(line)
        return provider.dialect.read(fields)
    except msgspec.ValidationError as error:
        raise LineError("not a JSON object") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LineError("invalid JSON") from error


def _items(planned: Sequence[Share]) -> Iterator[Item]:
    position = 0
    for number, share in enumerate(planned):
        for line in share.lines:
            yield Item(
                seq=line.seq,
                caller_id=line.caller_id,
                part=number,
                position=position,
                state="queued",
                attempts=0,
                byte_from=line.byte_from,
                byte_size=line.byte_size,
                tokens_est=line.tokens,
            )
            position += 1


def split_again(
    job: Job, waiting: Sequence[Item], held: Sequence[Part], *, state: State, next_us: int
) -> list[tuple[Part, list[int]]]:
    """Parts for items that ask for another attempt, numbered after those that were; the order of sending stays."""
    by_number = {part.number: part for part in held}
    lines = [
        Line(
            item.seq,
            by_number[item.part].model or "",
            by_number[item.part].endpoint,
            b"",
            item.byte_from,
            item.byte_size,
            item.tokens_est,
            item.caller_id,
        )
        for item in waiting
    ]
    attempt = 1 + max(item.attempts for item in waiting)
    limits = provider_named(job.provider).limits
    first = 1 + max(by_number)
    return [
        (
            new_part(job.id, number, share, attempt=attempt, state=state, next_us=next_us),
            [line.seq for line in share.lines],
        )
        for number, share in enumerate(shares(lines, limits, job.queued_tokens), first)
    ]


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file."""
    with path.open("rb") as stream:
        yield from stream
