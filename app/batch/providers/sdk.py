"""What both official SDKs share: time-outs, no retries of their own, and their errors in our words.

Their own retries are off: a second create after a lost answer would pay twice. Whether to ask again is decided above.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import httpx2

from app.batch.provider import BusyError, RefusedError, UnclearError
from app.core.retry_after import retry_after_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

C = TypeVar("C")
T = TypeVar("T")

TIMEOUT: Final = httpx2.Timeout(connect=10.0, read=120.0, write=120.0, pool=10.0)
SPENT: Final = ("insufficient_quota", "billing_hard_limit_reached", "enforced_spend_limit_reached")
"""Codes of a 429 that no short pause mends: the account's limit is used up."""


@dataclass(frozen=True, slots=True)
class Api(Generic[C]):
    """An SDK's client, and the root of the errors it raises; both give status errors `status_code` and `body`."""

    client: C
    error: type[Exception]

    @contextmanager
    def words(self, what: str, *, creates: bool = False) -> Iterator[None]:
        """Turn the SDK's errors into RefusedError, BusyError or, where the call creates something, UnclearError."""
        try:
            yield
        except (self.error, httpx2.HTTPError) as error:
            raise _translated(error, what, creates=creates) from error

    def expect(self, answer: object, kind: type[T], what: str, *, creates: bool = False) -> T:
        """The answer as what it should be: the SDKs hand on the text of an answer that is no JSON as a plain str.

        Raises:
            UnclearError: it is something else, and the call creates something. BusyError: it is something else.
        """
        if isinstance(answer, kind):
            return answer
        told = f"{what}: the answer was no {kind.__name__} but {type(answer).__name__}"
        raise UnclearError(told) if creates else BusyError(told)

    def listed(self, ask: Callable[[], T], what: str) -> T:
        """The first page of a list. Over a text where a page should be, the SDKs fall with an AttributeError.

        Raises:
            BusyError: the answer was no page.
        """
        try:
            return ask()
        except AttributeError as error:
            raise BusyError(f"{what}: the answer was no list") from error


def _translated(error: Exception, what: str, *, creates: bool) -> Exception:
    status = getattr(error, "status_code", None)
    if status is None:
        told = f"{what}: no answer ({type(error).__name__})"
        # A connection that never stood carried nothing.
        never_sent = isinstance(error.__cause__ or error, (httpx2.ConnectError, httpx2.ConnectTimeout))
        return UnclearError(told) if creates and not never_sent else BusyError(told)
    code, message = _said(error)
    told = f"{what}: status {status}, {message}"
    if status == 429:
        headers = getattr(getattr(error, "response", None), "headers", {})
        return BusyError(told, "quota" if code in SPENT else "throttled", retry_after_s(headers.get("retry-after")))
    if status >= 500 or status in (408, 409):
        return UnclearError(told) if creates else BusyError(told)
    return RefusedError(told, code)


def _said(error: Exception) -> tuple[str | None, str]:
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if isinstance(body, dict):
        code = body.get("code") or body.get("type")
        return (str(code) if code else None), str(body.get("message") or code or "no reason given")[:300]
    return None, str(error)[:300]
