"""Questions to the running service over its socket, whose answers and refusals are those of the same work done here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.errors import ConflictError, HalveError, InputError, NotFoundError, UnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

STATUS_OF: Final[dict[type[HalveError], int]] = {
    UsageError: 400,
    NotFoundError: 404,
    ConflictError: 409,
    InputError: 422,
    UnavailableError: 503,
}
"""The HTTP status by which a refusal travels."""


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
