"""The control store through its own functions, on real SQLite files."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from app.control import access, findings, migrate, open_control, sources
from app.control.database import alembic_config
from app.control.tables import metadata
from app.core.errors import InputError, NotFoundError, UnavailableError, UsageError

DAY_US = 86_400_000_000


@pytest.fixture
def control(tmp_path):
    engine = open_control(tmp_path)
    migrate(engine)
    yield engine
    engine.dispose()


def test_migrations_build_exactly_the_tables_of_the_model(control):
    migrate(control)
    with control.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "render_as_batch": True})
        assert compare_metadata(context, metadata) == []


def test_there_is_one_head():
    assert len(ScriptDirectory.from_config(alembic_config()).get_heads()) == 1


def test_pragmas_make_sqlite_safe_and_patient(control):
    with control.connect() as connection:
        assert connection.scalar(sa.text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(sa.text("PRAGMA foreign_keys")) == 1
        assert connection.scalar(sa.text("PRAGMA busy_timeout")) > 0


def test_a_store_that_cannot_be_opened_says_so(tmp_path):
    (tmp_path / "control.sqlite3").mkdir()
    with pytest.raises(UnavailableError, match="cannot be opened"):
        open_control(tmp_path)


def test_a_finding_keeps_its_status_across_analyses(control):
    findings.note_seen(control, [("f1", "batch", "feature=a")], 1)
    findings.set_status(control, "f1", "dismissed", now_us=2, reason="needed at once")
    findings.note_seen(control, [("f1", "batch", "feature=a"), ("f2", "batch", "feature=b")], 3)
    states = findings.states(control, 4)
    assert (states["f1"].status, states["f1"].reason) == ("dismissed", "needed at once")
    assert (states["f1"].first_seen_us, states["f1"].last_seen_us) == (1, 3)
    assert states["f2"].status == "open"
    assert [event.event for event in findings.events(control, "f1")] == ["found", "dismissed"]


def test_a_dismissal_with_an_end_opens_again_by_itself(control):
    findings.note_seen(control, [("f1", "batch", "feature=a")], 1)
    findings.set_status(control, "f1", "dismissed", now_us=2, reason="after the launch", until_us=10)
    assert findings.states(control, 9)["f1"].status == "dismissed"
    assert findings.states(control, 10)["f1"].status == "open"


def test_a_dismissal_needs_a_reason(control):
    findings.note_seen(control, [("f1", "batch", "feature=a")], 1)
    with pytest.raises(UsageError, match="why"):
        findings.set_status(control, "f1", "dismissed", now_us=2, reason="  ")
    with pytest.raises(NotFoundError):
        findings.set_status(control, "nothing", "open", now_us=2)


def test_tokens_and_sessions_are_kept_as_hashes_only(control, tmp_path):
    assert not access.has_token(control)
    token = access.create_token(control, "first start", 1)
    cookie = access.open_session(control, access.verify_token(control, token), 1, DAY_US)
    control.dispose()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert token.encode() not in stored
    assert cookie.encode() not in stored
    assert access.session_is_valid(control, cookie, DAY_US)
    assert not access.session_is_valid(control, cookie, DAY_US + 1)
    assert not access.session_is_valid(control, "guess", 2)
    assert access.verify_token(control, "guess") is None


def test_revoking_ends_every_session(control):
    token = access.create_token(control, "first start", 1)
    cookie = access.open_session(control, access.verify_token(control, token), 1, DAY_US)
    access.revoke_tokens(control, 2)
    assert access.verify_token(control, token) is None
    assert not access.session_is_valid(control, cookie, 3)
    assert not access.has_token(control)


PROXY = {"url": "http://a", "token": "env:PROXY", "since_us": 50}


def test_a_source_keeps_its_cursor_when_only_the_manner_of_reading_changes(control):
    sources.save(control, sources.Source("proxy", "litellm", PROXY), 1)
    sources.advance(control, "proxy", {"page": 7}, 2)
    manner = {"limit": "9", "every_us": 5, "overlap_minutes": "90", "since_us": 60}
    sources.save(control, sources.Source("proxy", "litellm", PROXY | manner), 3)
    sources.set_run_state(control, "proxy", "failed", 4, "503 three times")
    state = sources.cursor(control, "proxy")
    assert state.cursor == {"page": 7}
    assert (state.state, state.error) == ("failed", "503 three times")
    assert sources.all_sources(control)[0].options["limit"] == "9"


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("litellm", {"url": "http://b"}),
        ("litellm", {"token": "env:OTHER"}),
        ("litellm", {"since_us": 40}),
        ("helicone", {}),
    ],
    ids=["another place", "as somebody else", "from an earlier day", "another kind"],
)
def test_a_source_that_reads_something_else_begins_anew(control, kind, changed):
    sources.save(control, sources.Source("proxy", "litellm", PROXY), 1)
    sources.advance(control, "proxy", {"page": 7}, 2, fresh_us=9, complete_us=8, records=3)
    sources.save(control, sources.Source("proxy", kind, PROXY | changed), 1)
    state = sources.cursor(control, "proxy")
    assert (state.cursor, state.state, state.fresh_us, state.complete_us, state.records) == (
        None,
        "never",
        None,
        None,
        0,
    )


def test_what_was_pulled_of_a_source_does_not_move_the_one_that_took_its_place(control):
    sources.save(control, sources.Source("proxy", "litellm", PROXY), 1)
    [pulled] = sources.all_sources(control)
    sources.advance(control, "proxy", {"page": 1}, 2, pulled=pulled)
    sources.save(control, sources.Source("proxy", "litellm", PROXY | {"url": "http://b"}), 1)
    with pytest.raises(InputError, match="was changed while it was pulled"):
        sources.advance(control, "proxy", {"page": 2}, 3, pulled=pulled)
    sources.remove(control, "proxy")
    with pytest.raises(NotFoundError):
        sources.advance(control, "proxy", {"page": 2}, 3, pulled=pulled)
    sources.save(control, sources.Source("proxy", "litellm", PROXY), 9)
    with pytest.raises(InputError, match="was changed while it was pulled"):
        sources.advance(control, "proxy", {"page": 2}, 3, pulled=pulled)
    assert sources.cursor(control, "proxy").cursor is None


def test_a_source_never_stores_a_secret(control):
    with pytest.raises(UsageError, match="env:NAME"):
        sources.save(control, sources.Source("proxy", "litellm", {"api_key": "sk-live-123"}), 1)
    assert sources.all_sources(control) == []


def test_removing_a_source_removes_its_cursor(control):
    sources.save(control, sources.Source("proxy", "litellm"), 1)
    sources.remove(control, "proxy")
    with pytest.raises(NotFoundError):
        sources.cursor(control, "proxy")
