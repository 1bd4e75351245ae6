"""LiteLLM's spend log read from a real PostgreSQL."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.control import sources
from app.core.errors import ForbiddenError, InputError, UnavailableError, UsageError
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source, remove_source
from app.settings import Settings
from ingest.connectors import litellm_postgres
from ingest.connectors.connector import Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.killing import KILLS, puller
from tests.connectors.postgres_server import SUPERUSER, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")

OWNER = "owner-0123456789"
READER = "reader-9876543210"
NOW = datetime.now(UTC).replace(microsecond=0)
TABLE = """
CREATE TABLE "LiteLLM_SpendLogs" (
    request_id text PRIMARY KEY, call_type text NOT NULL, api_key text NOT NULL DEFAULT '',
    spend double precision NOT NULL DEFAULT 0, total_tokens integer NOT NULL DEFAULT 0,
    prompt_tokens integer NOT NULL DEFAULT 0, completion_tokens integer NOT NULL DEFAULT 0,
    "startTime" timestamp(3) NOT NULL, "endTime" timestamp(3) NOT NULL, "completionStartTime" timestamp(3),
    model text NOT NULL DEFAULT '', metadata jsonb DEFAULT '{}', request_tags jsonb DEFAULT '[]',
    messages jsonb DEFAULT '{}', response jsonb DEFAULT '{}', status text
);
CREATE INDEX ON "LiteLLM_SpendLogs" ("startTime");
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with running(OWNER) as found:
        yield found


@pytest.fixture
def owner(port: int) -> Iterator[Any]:
    """A connection to a fresh table of 300 calls of two days, some at the very same time."""
    with psycopg.connect(
        host="127.0.0.1", port=port, user=SUPERUSER, password=OWNER, dbname="postgres", autocommit=True
    ) as connection:
        connection.execute('DROP TABLE IF EXISTS "LiteLLM_SpendLogs"')
        connection.execute(
            "DROP OWNED BY reader" if _has_reader(connection) else f"CREATE ROLE reader LOGIN PASSWORD '{READER}'"
        )
        connection.execute(TABLE)
        connection.execute('GRANT SELECT ON "LiteLLM_SpendLogs" TO reader')
        _insert(connection, [(_name(n), NOW - timedelta(minutes=3 + 9 * (n // 3 * 3))) for n in range(300)])
        yield connection


def _has_reader(connection: Any) -> bool:
    return bool(connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone())


def _name(number: int) -> str:
    return f"chatcmpl-{number:032x}"


def _insert(connection: Any, rows: list[tuple[str, datetime]]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            'INSERT INTO "LiteLLM_SpendLogs" (request_id, call_type, spend, total_tokens, prompt_tokens, '
            'completion_tokens, "startTime", "endTime", model, status) '
            "VALUES (%s, 'acompletion', 0.00028, 110, 100, 10, %s, %s, 'gpt-4.1', 'success')",
            [(name, start.replace(tzinfo=None), start.replace(tzinfo=None)) for name, start in rows],
        )


def _names(connection: Any) -> set[str]:
    return {name for (name,) in connection.execute('SELECT request_id FROM "LiteLLM_SpendLogs"').fetchall()}


@pytest.fixture
def errand(port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Errand]:
    monkeypatch.setenv("PG_PASSWORD", READER)

    def make(held: Any = None, now: datetime = NOW, **options: str) -> Errand:
        return Errand(
            options={
                "url": f"postgresql://reader@127.0.0.1:{port}/postgres",
                "key": "env:PG_PASSWORD",
                "limit": "40",
                **options,
            },
            held=held,
            now_us=int(now.timestamp()) * 1_000_000,
            since_us=int((NOW - timedelta(days=5)).timestamp()) * 1_000_000,
            guard=guard(frozenset({"127.0.0.1"})),
            roots=(),
            scratch=tmp_path,
            patience=Patience(attempts=3, sleep=lambda _: None),
        )

    return make


def _pull(errand: Errand) -> tuple[list[str], Any]:
    names, position = [], None
    for batch in litellm_postgres.pull(errand):
        names += [json.loads(line)["request_id"] for line in batch.lines]
        position = batch.position
    return names, position


def test_every_row_comes_once_in_order(owner: Any, errand: Callable[..., Errand]) -> None:
    for limit in ("1", "7", "40", "5000"):
        names, position = _pull(errand(limit=limit))
        assert len(names) == 300
        assert set(names) == _names(owner)
        assert position == {"through_us": int(NOW.timestamp()) * 1_000_000}


def test_late_and_new_rows_come_with_the_next_pull(owner: Any, errand: Callable[..., Errand]) -> None:
    _, position = _pull(errand())
    _insert(owner, [("late", NOW - timedelta(minutes=25)), ("new", NOW + timedelta(minutes=5))])
    names, _ = _pull(errand(position, NOW + timedelta(minutes=10)))
    assert {"late", "new"} <= set(names)
    assert len(names) < 20


def test_rows_that_come_and_go_while_pages_are_read_move_no_other(owner: Any, errand: Callable[..., Errand]) -> None:
    there = _names(owner)
    names: list[str] = []
    for number, batch in enumerate(litellm_postgres.pull(errand())):
        names += [json.loads(line)["request_id"] for line in batch.lines]
        _insert(owner, [(f"new-{number}", NOW - timedelta(hours=number))])
        if number == 2:
            owner.execute('DELETE FROM "LiteLLM_SpendLogs" WHERE request_id = %s', [_name(299)])
    assert there <= set(names)
    assert len(names) == len(set(names))


def test_a_pull_resumed_from_any_position_misses_nothing(owner: Any, errand: Callable[..., Errand]) -> None:
    batches = list(litellm_postgres.pull(errand()))
    for stop, batch in enumerate(batches):
        before = {json.loads(line)["request_id"] for one in batches[: stop + 1] for line in one.lines}
        assert before | set(_pull(errand(batch.position))[0]) == _names(owner)


def test_large_rows_are_handed_over_a_bounded_page_at_a_time(
    owner: Any, errand: Callable[..., Errand], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(litellm_postgres, "PAGE_BYTES", 20_000)
    owner.execute("""UPDATE "LiteLLM_SpendLogs" SET messages = to_jsonb(repeat('word ', 1000))""")
    batches = list(litellm_postgres.pull(errand(limit="5000")))
    assert max(sum(map(len, batch.lines)) for batch in batches) < 30_000
    assert sum(len(batch.lines) for batch in batches) == 300


def test_the_server_itself_is_told_to_refuse_any_write(
    owner: Any, errand: Callable[..., Errand], monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.execute("CREATE SEQUENCE IF NOT EXISTS written")
    owner.execute("GRANT ALL ON SEQUENCE written TO reader")
    counting = """SELECT "startTime", nextval('written')::text, '{{}}' FROM {table}"""
    monkeypatch.setattr(litellm_postgres, "_QUERY", counting)
    with pytest.raises(InputError, match="read-only transaction"):
        _pull(errand())
    assert owner.execute("SELECT is_called FROM written").fetchone() == (False,)


def test_a_lost_connection_is_made_again(owner: Any, errand: Callable[..., Errand]) -> None:
    names: list[str] = []
    for number, batch in enumerate(litellm_postgres.pull(errand())):
        names += [json.loads(line)["request_id"] for line in batch.lines]
        if number in (1, 3):
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'halve'")
    assert sorted(names) == sorted(_names(owner))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ('REVOKE ALL ON "LiteLLM_SpendLogs" FROM reader', ForbiddenError, "GRANT SELECT"),
        ('ALTER TABLE "LiteLLM_SpendLogs" RENAME COLUMN "startTime" TO started', InputError, "another layout"),
        ('DROP TABLE "LiteLLM_SpendLogs"', InputError, "has no table"),
    ],
)
def test_what_cannot_be_read_is_named(
    owner: Any, errand: Callable[..., Errand], change: str, error: type[Exception], message: str
) -> None:
    owner.execute(change)
    with pytest.raises(error, match=message):
        _pull(errand())


def test_a_wrong_password_is_said_and_shown_nowhere(
    owner: Any, errand: Callable[..., Errand], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PG_PASSWORD", "wrong-password-123")
    with pytest.raises(ForbiddenError, match="refuses the user reader") as refused:
        _pull(errand())
    assert "wrong-password" not in str(refused.value)


def test_a_server_that_is_away_is_tried_again_and_then_said(port: int, errand: Callable[..., Errand]) -> None:
    with pytest.raises(UnavailableError, match="3 times in a row"):
        _pull(errand(url="postgresql://reader@127.0.0.1:1/postgres"))


def test_a_host_that_is_not_allowed_is_not_called(errand: Callable[..., Errand]) -> None:
    with pytest.raises(ForbiddenError, match="not an allowed host"):
        _pull(replace(errand(), guard=guard(frozenset({"*"}))))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:sesame@db.example/litellm",
        "mysql://reader@db.example/litellm",
        "postgresql://db.example/litellm",
        "postgresql://reader@db.example/litellm?options=-c%20x",
        "postgresql://reader@db.example:port/litellm",
    ],
)
def test_addresses_that_cannot_be_used_are_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        litellm_postgres.CONNECTOR.configured({"url": url})
    assert "sesame" not in str(refused.value)


@pytest.mark.soak
def test_killed_at_random_moments_nothing_is_lost_and_nothing_twice(
    owner: Any, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PG_PASSWORD", READER)
    settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    given = {"url": f"postgresql://reader@127.0.0.1:{port}/postgres", "key": "env:PG_PASSWORD", "limit": "20"}
    add_source(settings, kind="litellm-postgres", name="pulled", given=given, every_us=0)
    dice, killed = random.Random(5), 0
    with puller() as one:
        for _ in range(KILLS):
            if one.pull_and_kill(settings.data_dir, lambda: _connected(owner), dice.uniform(0, 0.1)):
                killed += 1
                continue
            remove_source(settings, "pulled")
            add_source(settings, kind="litellm-postgres", name="pulled", given=given, every_us=0)
    assert killed >= KILLS // 2
    with opened(settings) as runtime:
        Background(runtime, settings).run_due_sources()
        with runtime.warehouse.session() as session:
            stored = session.connection.execute("SELECT source_record FROM requests").fetchall()
        state = sources.cursor(runtime.control, "pulled")
    assert sorted(name for (name,) in stored) == sorted(_names(owner))
    assert (state.state, state.error) == ("ok", None)


def _connected(owner: Any) -> bool:
    found = owner.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = 'halve'").fetchone()
    return found is not None
