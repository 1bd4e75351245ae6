"""The running service: whether there is one, and questions over its socket, answered as the same work done here."""

from __future__ import annotations

import fcntl
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx2

from app.core.errors import ConflictError, HalveError, InputError, NotFoundError, UnavailableError, UsageError
from app.main.runtime import WAREHOUSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from app.settings import Settings

SOCKET: Final = "halve.sock"
_PATIENCE_S: Final = 10
STATUS_OF: Final[dict[type[HalveError], int]] = {
    UsageError: 400,
    NotFoundError: 404,
    ConflictError: 409,
    InputError: 422,
    UnavailableError: 503,
}
"""The HTTP status by which a refusal travels."""


@contextmanager
def service_client(settings: Settings) -> Iterator[httpx2.Client | None]:
    """A client of the running service over its socket; None where no service answers.

    A service that starts holds the warehouse before it answers, and one that stops after it did: where the warehouse is
    held and nobody answers, this waits for one or the other.

    Raises:
        UnavailableError: the service answered and then failed.
    """
    path = settings.data_dir / SOCKET
    door = httpx2.HTTPTransport(uds=str(path))
    with httpx2.Client(transport=door, base_url="http://localhost", timeout=30) as client:
        deadline = time.monotonic() + _PATIENCE_S
        while (
            not (answered := path.exists() and _answers(client))
            and _held(settings.data_dir)
            and time.monotonic() < deadline
        ):
            time.sleep(0.1)
        if not answered:
            yield None
            return
        try:
            yield client
        except httpx2.HTTPError as error:
            raise UnavailableError(
                f"The running service did not do it: {error}. See what it printed, or stop it and repeat the command."
            ) from error


def alone(settings: Settings, afterwards: str) -> None:
    """Refuse what needs the warehouse for itself while the service runs.

    Raises:
        UnavailableError: it runs.
    """
    with service_client(settings) as client:
        if client is not None:
            raise UnavailableError(f"The service is running and holds the warehouse. {afterwards}")


def _held(data_dir: Path) -> bool:
    """Whether another process has the warehouse open."""
    try:
        with (data_dir / WAREHOUSE).open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/healthz").is_success
    except (httpx2.HTTPError, OSError):
        return False


def asked(client: httpx2.Client, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """The answer to a question, decoded; however long the work behind it takes.

    Raises:
        HalveError: of the kind that the service met, with its message.
    """
    answer = client.request(method, path, json=None if body is None else dict(body), timeout=None)
    if answer.is_error:
        raise refusal(answer.status_code, answer.text, answer.headers.get("content-type", ""))
    return answer.json()


def refusal(status: int, text: str, kind: str) -> HalveError:
    """The error that a refusal of the service stands for."""
    import json

    message = text.strip()[:300]
    if kind.startswith("application/json"):
        said = json.loads(text)
        message = str(said.get("error", said)) if isinstance(said, dict) else message
    for error, code in STATUS_OF.items():
        if code == status:
            return error(message)
    return UnavailableError(f"The service refused: {message}")
