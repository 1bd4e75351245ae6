"""Reads LiteLLM's table LiteLLM_SpendLogs in PostgreSQL, page by page along (startTime, request_id), never writing.

Each page is a read-only transaction of its own with a time limit, so that nothing is held open against the proxy's own
work. A key-set page begins after the last row of the one before, and is neither slower nor shifted where rows come.
Rows are written after a call's end, in batches: each pull begins an overlap before the last one ended.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qsl, urlsplit

from app.core.errors import ForbiddenError, InputError, UnavailableError, UsageError
from ingest.connectors.connector import DAY_US, MINUTE_US, Batch, Connector, Errand, Option, whole_number
from ingest.connectors.outbound import checked_address
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import psycopg

T = TypeVar("T")
log = logging.getLogger(__name__)

FORMAT: Final = "litellm_spend_logs"
TABLE: Final = "LiteLLM_SpendLogs"
OVERLAP_MINUTES: Final = 30
MAX_ROWS: Final = 5_000
PAGE_BYTES: Final = 32 * 1024 * 1024
FETCHED_AT_ONCE: Final = 50
STATEMENT_S: Final = 60
_QUERY: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
_SSL: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Options:
    """A PostgreSQL database of a LiteLLM proxy; `key` is the reference to its user's password."""

    host: str
    port: int
    database: str
    user: str
    key: str | None
    ssl: str
    schema: str
    rows: int
    overlap_us: int

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """The options as they are stored.

        Raises:
            UsageError: one of them cannot be used; the message never holds a password.
        """
        try:
            url = urlsplit(str(given["url"]))
            port = url.port or 5432
        except ValueError as error:
            raise UsageError(_ADDRESS) from error
        if url.scheme not in ("postgresql", "postgres") or not url.hostname or not url.username:
            raise UsageError(_ADDRESS)
        if url.password is not None:
            raise UsageError("The address holds a password. Leave it out, and give --key env:NAME or file:PATH.")
        query = dict(parse_qsl(url.query))
        ssl = query.pop("sslmode", "prefer")
        schema = query.pop("schema", "public")
        if ssl not in _SSL or query:
            raise UsageError(f"The address takes sslmode ({', '.join(_SSL)}) and schema after the '?', nothing else.")
        overlap = whole_number(given, "overlap_minutes", OVERLAP_MINUTES, 10, 7 * 24 * 60) * MINUTE_US
        rows = whole_number(given, "limit", 1_000, 1, MAX_ROWS)
        key = given.get("key")
        name = url.path.strip("/") or url.username
        return cls(
            url.hostname, port, name, url.username, None if key is None else str(key), ssl, schema, rows, overlap
        )


_ADDRESS: Final = "A database is given as postgresql://user@host[:port]/name[?sslmode=verify-full&schema=public]."


def pull(errand: Errand) -> Iterator[Batch]:
    """Rows as JSON lines, a page at a time.

    Raises:
        UsageError: the extra `postgres` is not installed, or the password cannot be read.
        ForbiddenError: the host is not allowed, or the user may not read the table.
        InputError: there is no such table, or it has other columns. UnavailableError: the server cannot be reached.
    """
    options = Options.of(errand.options)
    through = errand.since_us if errand.held is None else int(errand.held["through_us"])
    start = through if errand.held is None else through - options.overlap_us
    reader = _Reader(options, errand)
    try:
        for lines, reached_us in reader.pages(start):
            through = max(through, min(reached_us, errand.now_us))
            complete = min(through, errand.now_us - options.overlap_us)
            yield Batch({"through_us": through}, lines, fresh_us=through, complete_us=complete)
    finally:
        reader.close()


@dataclass(slots=True)
class _Reader:
    options: Options
    errand: Errand
    _connection: psycopg.Connection[Any] | None = field(default=None, init=False)

    def pages(self, start_us: int) -> Iterator[tuple[list[bytes], int]]:
        """(rows, time up to which everything is read) of each page."""
        at, name = _moment(start_us), ""
        while True:
            lines, last = self._patiently(lambda at=at, name=name: self._page(at, name))  # type: ignore[misc]
            if last is None:
                yield lines, self.errand.now_us
                return
            at, name = last
            yield lines, _us(at)

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _page(self, at: datetime, name: str) -> tuple[list[bytes], tuple[datetime, str] | None]:
        """(rows, place of the last one) after a place; no place where nothing more follows."""
        from psycopg import sql

        connection = self._connected()
        query = sql.SQL(_QUERY).format(table=sql.Identifier(self.options.schema, TABLE))
        place = {"at": at, "id": name, "until": _moment(self.errand.now_us), "rows": self.options.rows}
        lines: list[bytes] = []
        size = 0
        last: tuple[datetime, str] | None = None
        with connection.transaction():
            connection.execute(f"SET LOCAL statement_timeout = '{STATEMENT_S}s'")
            connection.execute("SET LOCAL TimeZone = 'UTC'")
            with connection.cursor("halve_page") as rows:
                rows.itersize = FETCHED_AT_ONCE
                rows.execute(query, place)
                for start, request_id, text in rows:
                    line = text.encode()
                    lines.append(line)
                    last = start.replace(tzinfo=None), request_id
                    size += len(line)
                    if size >= PAGE_BYTES:
                        return lines, last
        return lines, last if len(lines) >= self.options.rows else None

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is not None and not self._connection.closed:
            return self._connection
        import psycopg

        options = self.options
        address = checked_address(options.host, options.port, self.errand.guard)
        connection: psycopg.Connection[Any] = psycopg.connect(
            host=options.host,
            hostaddr=address,
            port=options.port,
            dbname=options.database,
            user=options.user,
            password=None if options.key is None else read_secret(options.key),
            passfile="/dev/null",
            sslmode=options.ssl,
            connect_timeout=10,
            application_name="halve",
            prepare_threshold=None,  # a pooler may give each transaction another connection
        )
        connection.read_only = True
        self._connection = connection
        return connection

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do it, and again where the server is away or busy."""
        CONNECTOR.installed()
        import psycopg

        patience = self.errand.patience
        last = ""
        for attempt in range(patience.attempts):
            try:
                return work()
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                self.close()
                _final(error, self.options)
                last = _said(error)
            except psycopg.Error as error:
                _final(error, self.options)
                raise InputError(f"{self.options.host} refuses the question: {_said(error)}.") from error
            if attempt + 1 < patience.attempts:
                pause = patience.pause_s(attempt, None, None)
                log.info("%s: %s, next attempt in %.1f s", self.options.host, last, pause)
                patience.sleep(pause)
        raise UnavailableError(
            f"{self.options.host} gave no answer, {patience.attempts} times in a row: {last}. Nothing is lost: the "
            "next pull begins at the same place."
        )


def _final(error: psycopg.Error, options: Options) -> None:
    """Raise for what no second attempt changes."""
    code = error.sqlstate or ""
    said = _said(error)
    if code.startswith("28") or "authentication failed" in said or "no password supplied" in said:
        raise ForbiddenError(f"{options.host} refuses the user {options.user} or the password.") from error
    if code == "42501":
        raise ForbiddenError(
            f"The user {options.user} may not read {options.schema}.{TABLE}. GRANT SELECT on it is all that is needed."
        ) from error
    if code in ("42P01", "3F000", "3D000"):
        raise InputError(
            f"{options.host}/{options.database} has no table {options.schema}.{TABLE}. Name the proxy's own database, "
            "and its schema with ?schema=."
        ) from error
    if code == "42703":
        raise InputError(
            f"{TABLE} has another layout ({said}). Halve pages by startTime and request_id. What came before is stored."
        ) from error


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _moment(us: int) -> datetime:
    """As the table keeps it: UTC, without saying so."""
    return (_EPOCH + timedelta(microseconds=us)).replace(tzinfo=None)


def _us(moment: datetime) -> int:
    passed = moment.replace(tzinfo=UTC) - _EPOCH
    return passed.days * DAY_US + passed.seconds * 1_000_000 + passed.microseconds


CONNECTOR: Final = Connector(
    name="litellm-postgres",
    reads="The same spend log from the proxy's PostgreSQL (extra `postgres`), in read-only transactions.",
    options=(
        Option("url", "postgresql://user@host[:port]/name[?sslmode=verify-full&schema=public]", required=True),
        Option("key", "the user's password; SELECT on the table is enough", secret=True),
        Option("limit", f"rows asked for at once, 1000, at most {MAX_ROWS}"),
        Option("overlap_minutes", f"how far back each pull looks for late rows, {OVERLAP_MINUTES}"),
    ),
    pull=pull,
    extra=("postgres", "psycopg"),
    check=Options.of,
    hosts=lambda options: [(Options.of(options).host, Options.of(options).port)],
    format=FORMAT,
)
