"""Telling the caller that a job is settled: signed, tried again with growing pauses, at most once a day's worth.

The signature is that of the Standard Webhooks specification: base64 of HMAC-SHA256 over `id.timestamp.body`.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from app.batch.pauses import pause_us
from app.control import batches
from app.core.errors import HalveError

if TYPE_CHECKING:
    from app.batch.desk import Desk
    from app.control.batches import Webhook

MAX_ATTEMPTS: Final = 12
RETRIED: Final = frozenset({408, 409, 425, 429})


def send_due(desk: Desk) -> int:
    """Send every message whose time has come; returns how many arrived."""
    return sum(_send(desk, one) for one in batches.due_webhooks(desk.control, desk.now_us()))


def signature(secret: str, message_id: str, timestamp: int, body: str) -> str:
    """The value of the header `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.{body}".encode()
    return "v1," + b64encode(hmac.new(secret.encode(), signed, sha256).digest()).decode()


def _send(desk: Desk, message: Webhook) -> bool:
    job = batches.job(desk.control, message.job_id)
    attempts = message.attempts + 1
    final = attempts >= MAX_ATTEMPTS
    try:
        secret = desk.secret(job.webhook_key_ref or "")
        timestamp = desk.now_us() // 1_000_000
        headers = {
            "content-type": "application/json",
            "webhook-id": job.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(secret, job.id, timestamp, message.body),
        }
        status = desk.post(job.webhook_url or "", message.body.encode(), headers)
    except HalveError as error:
        told = str(error)
    else:
        if 200 <= status < 300:
            batches.update_webhook(
                desk.control, job.id, state="sent", attempts=attempts, sent_us=desk.now_us(), error=None
            )
            return True
        told = f"status {status}"
        final = final or (300 <= status < 500 and status not in RETRIED)
    pause = pause_us(attempts, "throttled" if told == "status 429" else "server", desk.jitter)
    batches.update_webhook(
        desk.control,
        job.id,
        state="failed" if final else "waiting",
        attempts=attempts,
        error=told,
        next_us=desk.now_us() + pause,
    )
    return False
