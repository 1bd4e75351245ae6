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
    exit_code = 2


class NotFoundError(HalveError):
    pass


class ForbiddenError(HalveError):
    pass


class ConflictError(HalveError):
    pass


class InputError(HalveError):
    pass


class UnavailableError(HalveError):
    pass
