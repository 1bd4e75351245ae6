"""Errors become a status and a page that says what happened, what it means and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.core.errors import (
    ConflictError,
    ForbiddenError,
    HalveError,
    InputError,
    NotFoundError,
    UnavailableError,
    UsageError,
)

STATUS: Final[tuple[tuple[type[HalveError], int], ...]] = (
    (UsageError, 400),
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (ConflictError, 409),
    (InputError, 422),
    (UnavailableError, 503),
)
TITLES: Final = {
    400: "This address does not make sense",
    401: "Sign in",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Not possible now",
    413: "Too large",
    422: "That could not be read",
    500: "Something went wrong",
    503: "Not available right now",
}
NOT_FOUND: Final = "There is no page at this address. It may have been mistyped, or what it showed is gone."
TOO_LARGE: Final = (
    "That is more than this page takes. Give large logs to `halve ingest PATH` on the machine of the service: "
    "it reads files of any size."
)
UNEXPECTED: Final = (
    "Halve could not answer this page because of a fault of its own. Nothing was changed by it. "
    "The log of the service holds the details; trying again may help."
)


class NotSignedIn(Exception):  # noqa: N818  not a fault: the reader has to come in first
    """No access token and no session."""


@dataclass(frozen=True, slots=True)
class Problem:
    status: int
    title: str
    text: str


def problem(error: HalveError) -> Problem:
    """Status and words of one of our own errors."""
    status = next((code for kind, code in STATUS if isinstance(error, kind)), 500)
    return Problem(status, TITLES[status], str(error))


def http_problem(status: int) -> Problem:
    """Status and words where the framework itself refused."""
    text = {404: NOT_FOUND, 413: TOO_LARGE}.get(status, "The request cannot be answered at this address.")
    return Problem(status, TITLES.get(status, "That did not work"), text)
