"""The error tree. Messages say what happened, what it means and what to do.

HalveError
├── UsageError        the call is wrong (exit code 2, HTTP 400)
├── NotFoundError     the thing named does not exist (exit 1, HTTP 404)
├── ForbiddenError    not allowed (exit 1, HTTP 403)
├── ConflictError     the state forbids it now (exit 1, HTTP 409)
├── InputError        a file or record that cannot be read (exit 1, HTTP 422)
└── UnavailableError  disk full, store locked, peer unreachable (exit 1, HTTP 503)
"""

from __future__ import annotations


class HalveError(Exception):
    """Anything that Halve itself reports. `str(error)` is the whole message for the reader."""

    exit_code = 1


class UsageError(HalveError):
    """The call is wrong."""

    exit_code = 2


class NotFoundError(HalveError):
    """The thing named does not exist."""


class ForbiddenError(HalveError):
    """It is not allowed."""


class ConflictError(HalveError):
    """The state forbids it now."""


class InputError(HalveError):
    """A file or record cannot be read."""


class UnavailableError(HalveError):
    """A disk, store or peer cannot serve now; the same call may succeed later."""
