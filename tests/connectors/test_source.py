"""A LiteLLM source in the service: pulled when due, into the warehouse, once, whatever goes wrong in between."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from app.control import sources
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source
from app.settings import Settings
from tests.connectors.fake_litellm import TOKEN, Fake, row, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.main.runtime import Runtime


def ago(**back: float) -> datetime:
    """A moment before now: of the test, not of its collection, which may be long ago."""
    return datetime.now(UTC) - timedelta(**back)


@pytest.fixture
def fake() -> Fake:
    """Two days of calls, the last one a minute old."""
    return Fake([row(n, ago(minutes=1 + 24 * n)) for n in range(120)])


@pytest.fixture
def proxy(fake: Fake) -> Iterator[str]:
    yield from serve(fake)


@pytest.fixture
def configured(proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LITELLM_TOKEN", TOKEN)
    made = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    add_source(made, kind="litellm", name="gateway", given={"url": proxy, "key": "env:LITELLM_TOKEN"}, every_us=0)
    return made


def _stored(runtime: Runtime) -> list[str]:
    with runtime.warehouse.session() as session:
        rows = session.connection.execute("SELECT source_record FROM requests WHERE source = 'gateway'").fetchall()
    return sorted(str(record) for (record,) in rows)


def _ids(fake: Fake) -> list[str]:
    return sorted(one["request_id"] for one in fake.rows)


def test_a_due_source_is_pulled_into_the_warehouse_and_again_only_adds_what_is_new(
    fake: Fake, configured: Settings
) -> None:
    with opened(configured) as runtime:
        work = Background(runtime, configured)
        work.run_due_sources()
        assert _stored(runtime) == _ids(fake)
        fake.rows.append(row(900, ago(minutes=15)))
        work.run_due_sources()
        assert _stored(runtime) == _ids(fake)
        assert sources.cursor(runtime.control, "gateway").state == "ok"


def test_a_pull_that_breaks_off_says_why_and_the_next_one_goes_on(fake: Fake, configured: Settings) -> None:
    good = list(fake.rows)
    fake.answers.append((200, {}, b'{"rows": []}'))
    with opened(configured) as runtime:
        work = Background(runtime, configured)
        work.run_due_sources()
        broken = sources.cursor(runtime.control, "gateway")
        assert broken.state == "failed"
        assert "another layout" in str(broken.error)
        work.run_due_sources()
        assert _stored(runtime) == sorted(one["request_id"] for one in good)


def test_a_source_whose_host_is_not_allowed_is_not_called(fake: Fake, configured: Settings) -> None:
    strict = replace(configured, allow_hosts="")
    with opened(strict) as runtime:
        Background(runtime, strict).run_due_sources()
        assert "HALVE_ALLOW_HOSTS" in str(sources.cursor(runtime.control, "gateway").error)
    assert fake.tokens == []


def test_a_pull_in_mode_none_keeps_no_text_and_no_spool(fake: Fake, configured: Settings) -> None:
    spoken = "the patient Amaryllis Quill"
    fake.rows[:] = [
        row(n, ago(minutes=n + 1), messages=[{"role": "user", "content": f"{spoken} {n}"}]) for n in range(3)
    ]
    for mode, kept in (("none", 0), ("all", 6)):
        settings = replace(configured, text=mode, data_dir=configured.data_dir)  # type: ignore[arg-type]
        with opened(settings) as runtime:
            Background(runtime, settings).run_due_sources()
            with runtime.warehouse.session() as session:
                texts = session.connection.execute("SELECT text FROM contents").fetchall()
        assert len([text for (text,) in texts if spoken in text]) == kept
        assert not list(configured.data_dir.glob("pulled/*"))
        fake.rows.extend(  # the rows of the last minutes are read again
            row(100 + n, ago(seconds=30), messages=[{"role": "user", "content": f"{spoken} {100 + n}"}])
            for n in range(3)
        )
