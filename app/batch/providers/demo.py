"""The demo provider: batches in a folder, answered on this machine a few seconds later, without a network.

It speaks OpenAI's dialect and makes up answers whose token counts follow the bytes of the prompt.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.batch.dialect import OBJECT, RAW_OBJECT, Request, encode
from app.batch.dialects.openai import CANCELLED, DIALECT
from app.batch.provider import DAY_US, Connection, Limits, Mark, Provider, RefusedError, Standing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.batch.provider import Account

WORKS_US: Final = 8_000_000
"""How long a batch takes, on the account's clock."""
BYTES_A_TOKEN: Final = 4


class _Batch(msgspec.Struct):
    id: str
    mark: str
    items: int
    created_us: int
    cancelled_us: int | None = None


@contextmanager
def connect(account: Account) -> Iterator[Connection]:
    """The batches in the account's folder."""
    account.folder.mkdir(parents=True, exist_ok=True)
    yield Connection(
        submit=partial(_submit, account),
        find=partial(_find, account),
        poll=partial(_poll, account),
        results=partial(_results, account),
        cancel=partial(_cancel, account),
    )


def _submit(account: Account, path: Path, mark: Mark) -> Standing:
    batch = _Batch(f"demo_{mark.fingerprint[:24]}", mark.fingerprint, mark.items, account.now_us())
    copy = account.folder / f"{batch.id}.jsonl"
    with path.open("rb") as source, copy.open("wb") as target:
        for line in source:
            target.write(line)
    _keep(account, batch)
    return _standing(account, batch)


def _find(account: Account, mark: Mark) -> list[Standing]:
    kept = [_read(path) for path in sorted(account.folder.glob("demo_*.json"))]
    return [_standing(account, batch) for batch in kept if batch.mark == mark.fingerprint]


def _poll(account: Account, batch_id: str) -> Standing:
    return _standing(account, _batch(account, batch_id))


def _cancel(account: Account, batch_id: str) -> None:
    batch = _batch(account, batch_id)
    if account.now_us() < batch.created_us + WORKS_US:
        _keep(account, msgspec.structs.replace(batch, cancelled_us=account.now_us()))


def _results(account: Account, standing: Standing) -> Iterator[bytes]:
    batch = _batch(account, standing.batch_id)
    with (account.folder / f"{batch.id}.jsonl").open("rb") as lines:
        for line in lines:
            fields = RAW_OBJECT.decode(line)
            request = DIALECT.read(fields)
            if batch.cancelled_us is not None:
                yield encode(DIALECT.absent(request.custom_id, "cancelled", CANCELLED, "the batch was cancelled"))
                continue
            name = sha256(batch.id.encode() + request.custom_id.encode()).hexdigest()
            response = {"status_code": 200, "request_id": name[:16], "body": _answer(request, name, batch)}
            yield encode(
                {"id": f"batch_req_{name[:24]}", "custom_id": request.custom_id, "response": response, "error": None}
            )


def _answer(request: Request, name: str, batch: _Batch) -> dict[str, Any]:
    prompt = max(1, len(request.prompt) // BYTES_A_TOKEN)
    wanted = 40 + int(name[:4], 16) % 160
    output = wanted if request.max_output is None else min(wanted, request.max_output)
    said = f"Demo answer {name[:8]}."
    created = (batch.created_us + WORKS_US) // 1_000_000
    if request.endpoint == "/v1/responses":
        content = [{"type": "output_text", "text": said, "annotations": []}]
        return {
            "id": f"resp_{name[:32]}",
            "object": "response",
            "created_at": created,
            "model": request.model,
            "status": "completed",
            "output": [{"type": "message", "role": "assistant", "content": content}],
            "usage": {"input_tokens": prompt, "output_tokens": output, "total_tokens": prompt + output},
        }
    usage = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    if request.endpoint == "/v1/embeddings":
        data = [{"object": "embedding", "index": 0, "embedding": [0.0, 1.0]}]
        usage = {"prompt_tokens": prompt, "total_tokens": prompt}
        return {"object": "list", "data": data, "model": request.model, "usage": usage}
    if request.endpoint == "/v1/moderations":
        return {"id": f"modr-{name[:24]}", "model": request.model, "results": [{"flagged": False}]}
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    if request.endpoint == "/v1/completions":
        choice["text"] = said
    else:
        choice["message"] = {"role": "assistant", "content": said}
    return {
        "id": f"{'cmpl' if request.endpoint == '/v1/completions' else 'chatcmpl'}-{name[:29]}",
        "object": "text_completion" if request.endpoint == "/v1/completions" else "chat.completion",
        "created": created,
        "model": request.model,
        "choices": [choice],
        "usage": usage,
    }


def _standing(account: Account, batch: _Batch) -> Standing:
    over = account.now_us() >= batch.created_us + WORKS_US
    ended_us = batch.cancelled_us or (batch.created_us + WORKS_US if over else None)
    return Standing(
        batch_id=batch.id,
        ended="cancelled" if batch.cancelled_us is not None else "completed" if over else None,
        done=batch.items if ended_us is not None else 0,
        created_us=batch.created_us,
        ended_us=ended_us,
        expires_us=batch.created_us + DAY_US,
        files=(batch.id,),
    )


def _batch(account: Account, batch_id: str) -> _Batch:
    path = account.folder / f"{batch_id}.json"
    if "/" in batch_id or not path.is_file():
        raise RefusedError(f"The demo provider has no batch {batch_id}.", "not_found")
    return _read(path)


def _read(path: Path) -> _Batch:
    return msgspec.convert(OBJECT.decode(path.read_bytes()), _Batch)


def _keep(account: Account, batch: _Batch) -> None:
    """The description is written last and whole: where it is, the batch is."""
    made = account.folder / f"{batch.id}.new"
    made.write_bytes(encode(batch))
    os.replace(made, account.folder / f"{batch.id}.json")  # noqa: PTH105  one call that replaces what is there


PROVIDER: Final = Provider(
    name="demo",
    title="Demo provider (made answers, no network)",
    dialect=DIALECT,
    limits=Limits(rows=50_000, bytes=200_000_000, one_model=True),
    window_us=DAY_US,
    kept_us=30 * DAY_US,
    listing_us=1_000_000,
    marks=True,
    default_key=None,
    default_host=None,
    connect=connect,
    billing="free",  # nobody is paid for made answers
)
