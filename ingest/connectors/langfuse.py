"""Pulls Langfuse's observations, `GET /api/public/v2/observations`, slice of time by slice, page by page.

The server pages by a cursor of its own, newest first, so that rows which arrive do not shift the pages; the cursor is
part of the stored position, and a pull that was killed goes on inside its slice. Observations of one trace that stand
on one page go into one record, so that the format sees which generation repeats the usage of those under it. Windows
go by start time: late rows and late updates are found by reading again what began within the overlap.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.errors import InputError, UsageError
from ingest.connectors.answers import decoder, line_of, rfc3339
from ingest.connectors.connector import DAY_US, MINUTE_US, Batch, Connector, Errand, Option, whole_number
from ingest.connectors.polite import PoliteClient, RefusedError, TooLargeError, fewer_may_do, host_of
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATH: Final = "/api/public/v2/observations"
FORMAT: Final = "langfuse"
FIELDS: Final = "core,basic,time,metadata,model,usage,prompt,metrics,trace_context"
MAX_LIMIT: Final = 1000
OVERLAP_US: Final = 60 * MINUTE_US  # older SDKs deliver up to 15 minutes late, updates with costs later
SLICE_ROWS: Final = 20_000
MIN_SLICE_US: Final = MINUTE_US
MAX_PAGES: Final = 100_000
FORGOTTEN: Final = (400, 404, 410, 422)  # what servers say to a cursor that they do not know any more


@dataclass(frozen=True, slots=True)
class Options:
    """A Langfuse project: its server and its pair of keys as references."""

    url: str
    key: str
    secret: str
    limit: int = 500
    text: bool = True
    overlap_us: int = OVERLAP_US

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """The options as they are stored.

        Raises:
            UsageError, InputError: one of them cannot be used.
        """
        host_of(str(given["url"]))
        text = str(given.get("text", "yes"))
        if text not in ("yes", "no"):
            raise UsageError(f"The option text is yes or no, not {text!r}.")
        overlap = whole_number(given, "overlap_minutes", OVERLAP_US // MINUTE_US, 15, 7 * 24 * 60)
        limit = whole_number(given, "limit", 500, 1, MAX_LIMIT)
        return cls(
            str(given["url"]), str(given["key"]), str(given["secret"]), limit, text == "yes", overlap * MINUTE_US
        )


class Inside(msgspec.Struct, frozen=True):
    """The slice that was begun, and the server's cursor in it."""

    from_us: int
    to_us: int
    page: str


class Position(msgspec.Struct, frozen=True):
    """What began before `through_us` has been read; `inside` is where a pull stopped after that."""

    through_us: int
    inside: Inside | None = None


class _Meta(msgspec.Struct):
    cursor: str | None = None


class _Page(msgspec.Struct):
    data: list[msgspec.Raw]
    meta: _Meta


class _Of(msgspec.Struct):
    traceId: str | None = None  # noqa: N815 - the server's own name


def pull(errand: Errand) -> Iterator[Batch]:
    """Observations as JSON lines, at most a page at a time.

    Raises:
        UsageError: a secret cannot be read. ForbiddenError: the host is not allowed or the keys are refused.
        InputError: another layout or no such path. UnavailableError: the server cannot be reached or stays busy.
    """
    options = Options.of(errand.options)
    held = None if errand.held is None else msgspec.convert(errand.held, Position)
    pair = f"{read_secret(options.key)}:{read_secret(options.secret)}"
    headers = {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    with PoliteClient(options.url, headers, errand.guard, errand.patience) as client:
        reader = _Reader(client, options)
        through = errand.since_us if held is None else held.through_us
        inside = None if held is None else held.inside
        start = through if held is None else through - options.overlap_us
        width = DAY_US
        while start < errand.now_us or inside is not None:
            if inside is not None:
                start, end, page = inside.from_us, inside.to_us, inside.page
            else:
                end, page = min(start + width, errand.now_us), ""
            rows = 0
            for lines, cursor in reader.slice(start, end, page):
                rows += len(lines)
                if cursor is not None:
                    yield _batch(lines, Position(through, Inside(start, end, cursor)), errand, options)
                    continue
                through = max(through, end)
                yield _batch(lines, Position(through), errand, options)
            start, inside = end, None
            width = _next_width(width, rows)


def _next_width(width: int, rows: int) -> int:
    if rows > SLICE_ROWS:
        return max(MIN_SLICE_US, width // 2)
    return min(DAY_US, 2 * width) if 4 * rows < SLICE_ROWS else width


def _batch(lines: list[bytes], position: Position, errand: Errand, options: Options) -> Batch:
    complete = min(position.through_us, errand.now_us - options.overlap_us)
    return Batch(msgspec.to_builtins(position), lines, fresh_us=position.through_us, complete_us=complete)


@dataclass(slots=True)
class _Reader:
    """Reads slices; remembers how many rows the server can give at once."""

    client: PoliteClient
    options: Options
    limit: int = field(init=False)

    def __post_init__(self) -> None:
        self.limit = self.options.limit

    def slice(self, start_us: int, end_us: int, page: str) -> Iterator[tuple[list[bytes], str | None]]:
        """(records, cursor of the next page) of each page from `page` on; the last one has no cursor."""
        resumed = bool(page)
        given: set[str] = set()
        for _ in range(MAX_PAGES):
            try:
                answer = self._page(start_us, end_us, page, resumed=resumed)
            except _ForgottenCursorError:
                page, resumed = "", False  # as after an update of the server: the slice anew
                continue
            resumed = False
            following = answer.meta.cursor
            if following is not None and following in given:
                break
            yield _by_trace(answer.data), following
            if following is None:
                return
            given.add(following)
            page = following
        raise InputError(f"The pages of {PATH} do not end ({rfc3339(start_us)} to {rfc3339(end_us)}).")

    def _page(self, start_us: int, end_us: int, page: str, *, resumed: bool) -> _Page:
        """A page. Raises _ForgottenCursorError where a cursor of an earlier pull is not taken any more."""
        while True:
            params: dict[str, str | int | list[str]] = {
                "fromStartTime": rfc3339(start_us),
                "toStartTime": rfc3339(end_us + 999),
                "limit": self.limit,
                "fields": f"{FIELDS},io" if self.options.text else FIELDS,
            }
            if page:
                params["cursor"] = page
            try:
                return self.client.get(PATH, params, _DECODE)
            except (TooLargeError, RefusedError) as error:
                if resumed and isinstance(error, RefusedError) and error.status in FORGOTTEN:
                    raise _ForgottenCursorError from error
                if not fewer_may_do(error, self.limit):
                    raise
                self.limit = max(1, self.limit // 2)


class _ForgottenCursorError(Exception):
    """The server does not know a cursor any more; the limit of a page is not what it minds."""


_DECODE: Final = decoder(_Page, PATH)


def _by_trace(rows: list[msgspec.Raw]) -> list[bytes]:
    """The observations of each trace on one line: a single one as it is, several as a list under `data`."""
    traces: dict[str | int, list[bytes]] = {}
    for number, raw in enumerate(rows):
        row = line_of(bytes(raw))
        try:
            trace = msgspec.json.decode(row, type=_Of).traceId
        except msgspec.DecodeError:
            trace = None
        traces.setdefault(number if trace is None else trace, []).append(row)
    return [one[0] if len(one) == 1 else b'{"data":[' + b",".join(one) + b"]}" for one in traces.values()]


CONNECTOR: Final = Connector(
    name="langfuse",
    reads="The observations of a Langfuse project (API v2: Cloud, or self-hosted from version 4).",
    options=(
        Option("url", "address of the server, as https://cloud.langfuse.com", required=True),
        Option("key", "the public key", required=True, secret=True),
        Option("secret", "the secret key", required=True, secret=True),
        Option("text", "yes (default) or no: whether prompts and answers are fetched too"),
        Option("limit", f"observations asked for at once, 500, at most {MAX_LIMIT}"),
        Option("overlap_minutes", "how far back each pull looks for late rows and late costs, 60"),
    ),
    pull=pull,
    check=Options.of,
    hosts=lambda options: [host_of(str(options["url"]))],
    format=FORMAT,
)
