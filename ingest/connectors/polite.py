"""HTTP with manners: explicit time-outs, a bounded answer, back-off with jitter, and a pause where the server asks."""

from __future__ import annotations

import logging
import random
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

import httpx2

from app.core.errors import ForbiddenError, HalveError, InputError, UnavailableError
from app.core.retry_after import retry_after_s
from ingest.connectors.pinned import PinnedTransport

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from ingest.connectors.outbound import Guard

T = TypeVar("T")
Params = Mapping[str, str | int | list[str]]
log = logging.getLogger(__name__)

_PAGE_LOOK: Final = 1024
RETRIED: Final = frozenset((408, 425, 429, 500, 502, 503, 504, 529))


class TooLargeError(HalveError):
    """An answer above the limit; the caller may ask for less."""


class RefusedError(InputError):
    """The server said no for good (a 4xx)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RefusedKeyError(ForbiddenError):
    """The server does not take the key: 401 for the key itself, 403 for what is asked with it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def fewer_may_do(error: TooLargeError | RefusedError, rows: int) -> bool:
    """Whether a page of fewer rows may be given: this one was too large, or the server says no to the question."""
    return rows > 1 and (isinstance(error, TooLargeError) or error.status in (400, 413, 422))


class UnreadableError(Exception):
    """Raised by a decoder for an answer that is cut off; it is asked for again."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try.

    Attributes:
        attempts: calls of one page before giving up.
        base_s: the first pause after a broken answer; it doubles. A 429 waits four times as long.
        longest_s: no pause is longer; a server that asks for more is left until the next pull.
        sleep: waits.
        jitter: a number from 0 to 1; the pause is drawn from its upper half.
    """

    attempts: int = 6
    base_s: float = 1.0
    longest_s: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def pause_s(self, attempt: int, status: int | None, asked_s: float | None) -> float:
        """Seconds before the next attempt (`attempt` counts from 0)."""
        scale = 4 if status == 429 else 1
        own = min(self.longest_s, self.base_s * scale * float(2**attempt)) * (0.5 + 0.5 * self.jitter())
        return own if asked_s is None else max(own, asked_s)


def address(text: str) -> httpx2.URL:
    """The address of a server.

    Raises:
        InputError: it is none, or it carries a user or a password.
    """
    try:
        url = httpx2.URL(text.rstrip("/"))
    except httpx2.InvalidURL as error:
        raise InputError(f"{text!r} is no address. Give it as https://host[:port].") from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise InputError(f"{url.host or text!r} is no address. Give it as https://host[:port].")
    return url


def host_of(text: str) -> tuple[str, int]:
    """(host, port) of an address. Raises as `address` does."""
    url = address(text)
    return url.host, url.port or (443 if url.scheme == "https" else 80)


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}


@dataclass(slots=True)
class PoliteClient:
    """One server, called for JSON documents. Follows no redirect; the secrets in `headers` go to this host only.

    The host's addresses are checked by `guard`, and the connection is made to the address that was checked.
    """

    base_url: str
    headers: Mapping[str, str] = field(repr=False)
    guard: Guard
    patience: Patience = field(default_factory=Patience)
    max_bytes: int = 64 * 1024 * 1024
    _client: httpx2.Client = field(init=False, repr=False)
    _url: httpx2.URL = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._url = address(self.base_url)
        self._client = httpx2.Client(
            transport=PinnedTransport(self.guard),
            timeout=httpx2.Timeout(connect=10.0, read=60.0, write=10.0, pool=10.0),
            follow_redirects=False,
            trust_env=False,
        )

    def __enter__(self) -> PoliteClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str, params: Params, decode: Callable[[bytes], T]) -> T:
        """The decoded document of a GET. Raises as `ask` does."""
        return self.ask("GET", path, params, None, decode)

    def ask(self, method: str, path: str, params: Params, body: bytes | None, decode: Callable[[bytes], T]) -> T:
        """The decoded document; what is asked must do no harm when it is asked twice.

        Raises:
            UnavailableError: no whole answer came within the attempts.
            ForbiddenError: the host is refused; a RefusedKeyError: the token is.
            RefusedError: another 4xx, a redirect, or a web page.
            TooLargeError: the answer is above `max_bytes`.
        """
        last = "no answer"
        for attempt in range(self.patience.attempts):
            status, asked_s = None, None
            try:
                status, headers, answer = self._once(method, path, params, body)
                if status == 200:
                    self._refuse_page(path, answer)
                    return decode(answer)
                self._final(path, status, headers)
                asked_s = retry_after_s(headers.get("retry-after"))
                last = f"status {status}"
            except UnreadableError as error:
                last = f"an answer that is cut off ({error})"
            except httpx2.RequestError as error:  # of the connection, or packed data that is damaged
                last = type(error).__name__
                self._refuse_certificate(error)
            if asked_s is not None and asked_s > self.patience.longest_s:
                raise UnavailableError(f"{self._url.host} asks for a pause of {asked_s:.0f} s. Pull again after that.")
            if attempt + 1 < self.patience.attempts:
                pause = self.patience.pause_s(attempt, status, asked_s)
                log.info("%s%s: %s, next attempt in %.1f s", self._url.host, path, last, pause)
                self.patience.sleep(pause)
        raise UnavailableError(
            f"{self._url.host}{path} gave {last}, {self.patience.attempts} times in a row. Nothing is lost: the next "
            "pull begins at the same place."
        )

    def _once(self, method: str, path: str, params: Params, sent: bytes | None) -> tuple[int, httpx2.Headers, bytes]:
        url = self._url.copy_with(path=self._url.path.rstrip("/") + path)
        headers = {"Accept": "application/json", **self.headers}
        if sent is not None:
            headers["Content-Type"] = "application/json"
        with self._client.stream(method, url, params=dict(params), content=sent, headers=headers) as response:
            body = bytearray()
            for piece in response.iter_bytes():
                body += piece
                if len(body) > self.max_bytes:
                    raise TooLargeError(f"An answer of {self._url.host} is above {self.max_bytes >> 20} MiB.")
            return response.status_code, response.headers, bytes(body)

    def _refuse_certificate(self, error: Exception) -> None:
        """Raise where a certificate is not trusted, which asking again does not change."""
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
            cause = cause.__cause__ or cause.__context__
        if cause is not None:
            raise UnavailableError(
                f"{self._url.host} shows a certificate that is not trusted here ({cause.verify_message}). Nothing was "
                "sent to it. If it is yours, name a file with its authority in SSL_CERT_FILE; the next pull "
                "begins at the same place."
            ) from error

    def _refuse_page(self, path: str, answer: bytes) -> None:
        """Raise for a web page in the place of data: the place is another one, and asking again changes nothing."""
        if answer[:_PAGE_LOOK].lstrip().startswith(b"<"):
            raise RefusedError(
                f"{self._url.host}{path} answers with a web page instead of data, as a login or a proxy in front of it "
                "does. Check the address, and that this machine is let through without a login.",
                200,
            )

    def _final(self, path: str, status: int, headers: httpx2.Headers) -> None:
        """Raise for answers that no second attempt changes."""
        host = self._url.host
        if status in RETRIED:
            return
        if status in (401, 403):
            raise RefusedKeyError(
                f"{host} refuses the token with status {status}. It needs a key that may read {path}.", status
            )
        if 300 <= status < 400:
            target = httpx2.URL(headers.get("location", "")).host or "another place"
            raise RefusedError(
                f"{host}{path} points to {target}. Name the final address; redirects lose tokens.", status
            )
        raise RefusedError(f"{host}{path} answers with status {status}. Check the address and the version.", status)
