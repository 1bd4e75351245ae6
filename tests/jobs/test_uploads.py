"""An uploaded log: read under the name its owner gave it, private while it lies there, gone afterwards."""

from __future__ import annotations

import io
import json
import logging
import stat
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pytest

from app.core.errors import UnavailableError
from app.main import uploads
from app.main.background import Background
from app.main.runtime import opened
from app.main.serving import commands
from app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.main.runtime import Runtime

SECRET = "the patient Amaryllis Quill"


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with opened(replace(Settings(), data_dir=tmp_path / "data")) as made:
        yield made


def log_of(*ids: str) -> bytes:
    made = [
        {
            "timestamp": 1_760_000_000,
            "request": {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": f"{SECRET} {name}"}]},
            "response": {
                "id": name,
                "object": "chat.completion",
                "model": "gpt-4o-mini",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            },
        }
        for name in ids
    ]
    return "".join(json.dumps(one) + "\n" for one in made).encode()


def read(runtime: Runtime, *given: tuple[str, bytes], text: str = "shared") -> None:
    """Upload files through the page's command, and wait until the service has done with them."""
    work = Background(runtime, replace(Settings(), data_dir=runtime.data_dir, text=text))  # type: ignore[arg-type]
    work.start()
    try:
        for name, data in given:
            commands(runtime, work).upload_log(name, io.BytesIO(data))
        deadline = time.monotonic() + 60
        while list(runtime.data_dir.glob("uploads/*")):
            assert time.monotonic() < deadline, "the uploads are still there"
            time.sleep(0.05)
    finally:
        work.stop()


def rows(runtime: Runtime, sql: str) -> list[tuple[Any, ...]]:
    with runtime.warehouse.session() as session:
        return session.connection.execute(sql).fetchall()


def test_an_upload_is_gone_once_it_was_read_and_its_rows_show_the_given_name(runtime: Runtime) -> None:
    read(
        runtime,
        ("my calls.jsonl", log_of("chatcmpl-a") + b'{"torn": 1\n'),
        ("../../etc/pass\x07wd.jsonl", log_of("chatcmpl-b")),
        ("no log.jsonl", b"nothing of use\n"),
        ("broken.jsonl.gz", b"\x1f\x8b garbage"),
        ("", log_of("chatcmpl-c")),
    )
    assert sorted(rows(runtime, "SELECT origin_file, provider_response_id FROM requests")) == [
        ("my calls.jsonl", "chatcmpl-a"),
        ("passwd.jsonl", "chatcmpl-b"),
        ("upload.jsonl", "chatcmpl-c"),
    ]
    assert sorted(rows(runtime, "SELECT DISTINCT file, source FROM quarantine")) == [
        ("broken.jsonl.gz", "upload"),
        ("my calls.jsonl", "upload"),
        ("no log.jsonl", "upload"),
    ]
    assert not [
        reason for (reason,) in rows(runtime, "SELECT reason FROM quarantine") if str(runtime.data_dir) in reason
    ]


def test_in_mode_none_nothing_of_an_upload_is_left_in_the_data_folder(runtime: Runtime) -> None:
    read(runtime, ("a.jsonl", log_of("chatcmpl-a") + log_of("chatcmpl-b")[:200] + b"\n"), text="none")
    assert rows(runtime, "SELECT count(*) FROM requests") == [(1,)]
    assert rows(runtime, "SELECT head FROM quarantine") == [("",)]
    runtime.warehouse.checkpoint()
    kept = [file for file in runtime.data_dir.rglob("*") if file.is_file()]
    assert not [file for file in kept if SECRET.encode() in file.read_bytes()]


def test_an_upload_is_private_while_it_waits(runtime: Runtime) -> None:
    kept = uploads.keep_upload(runtime.data_dir, "a.jsonl", io.BytesIO(b"{}\n"))
    assert (kept.given, kept.path.name) == ("a.jsonl", "a.jsonl")
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.path.parent.stat().st_mode) == 0o700
    again = uploads.keep_upload(runtime.data_dir, "a.jsonl", io.BytesIO(b"{}\n"))
    assert again.path != kept.path
    long = uploads.keep_upload(runtime.data_dir, "ü" * 4000 + ".csv", io.BytesIO(b"a,b\n"))
    assert long.given.endswith("ü.csv")


def test_what_breaks_off_leaves_nothing(runtime: Runtime) -> None:
    class Broken(io.RawIOBase):
        def read(self, _size: int = -1) -> bytes:
            raise OSError(28, "No space left on device")

    with pytest.raises(UnavailableError, match="No space left"):
        uploads.keep_upload(runtime.data_dir, "a.jsonl", cast("BinaryIO", Broken()))
    assert not list(runtime.data_dir.glob("uploads/*"))


def test_what_a_crash_left_is_removed_at_the_next_start_and_named(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    uploads.keep_upload(runtime.data_dir, "left over.jsonl", io.BytesIO(log_of("chatcmpl-a")))
    (runtime.data_dir / "pulled").mkdir()
    (runtime.data_dir / "pulled" / "litellm.jsonl").write_bytes(log_of("chatcmpl-b"))
    with caplog.at_level(logging.WARNING, "app.main.background"):
        read(runtime)
    assert not list(runtime.data_dir.glob("uploads/*")) + list(runtime.data_dir.glob("pulled/*"))
    assert "left over.jsonl" in caplog.text


def test_what_is_pulled_is_private_and_gone_also_after_a_failure(runtime: Runtime) -> None:
    def fail(folder: Path) -> None:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        file = folder / "0.jsonl"
        with uploads.private_file(file) as out:
            out.write(b"x")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        raise UnavailableError("full")

    with pytest.raises(UnavailableError), uploads.scratch(runtime.data_dir, "gateway") as folder:
        fail(folder)
    assert not list(runtime.data_dir.glob("pulled/*"))
