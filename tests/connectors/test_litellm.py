"""Pulling a LiteLLM proxy's spend log: every row once per pull, whatever the proxy does meanwhile."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.errors import ForbiddenError, InputError, UnavailableError, UsageError
from app.core.usage import UsageEvent
from app.demo.generate import generate
from ingest.connectors import litellm
from ingest.connectors.litellm import Cursor, Options, pull
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience, RefusedError
from ingest.formats import FORMATS
from ingest.formats.format import Origin
from tests.connectors.fake_litellm import TOKEN, Fake, FakeProxy, row, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

SECOND = 1_000_000
BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
NOW = BEGIN + timedelta(hours=6)
FORMAT = next(one for one in FORMATS if one.name == litellm.FORMAT)
HERE = guard(frozenset({"127.0.0.1"}))


def _us(moment: datetime) -> int:
    return int(moment.timestamp()) * SECOND + moment.microsecond


@pytest.fixture
def fake() -> Fake:
    """300 calls, one every minute, with fractions of a second."""
    return Fake([row(n, BEGIN + timedelta(minutes=n, milliseconds=137 * n % 1000)) for n in range(300)])


@pytest.fixture
def proxy(fake: Fake) -> Iterator[str]:
    yield from serve(fake)


@pytest.fixture
def options(proxy: str, monkeypatch: pytest.MonkeyPatch) -> Options:
    monkeypatch.setenv("LITELLM_TOKEN", TOKEN)
    return Options(proxy, "env:LITELLM_TOKEN", since_us=_us(BEGIN), page_size=40)


def _patience(pauses: list[float] | None = None, attempts: int = 4) -> Patience:
    kept = [] if pauses is None else pauses
    return Patience(attempts=attempts, sleep=kept.append, jitter=lambda: 1.0)


def _pull(
    options: Options, cursor: Cursor | None = None, now: datetime = NOW, patience: Patience | None = None
) -> tuple[list[str], Cursor]:
    ids, reached = list[str](), cursor
    for lines, reached in pull(options, cursor, _us(now), guard=HERE, patience=patience or _patience()):  # noqa: B007
        ids += [json.loads(line)["request_id"] for line in lines]
    assert reached is not None
    return ids, reached


def _ids(fake: Fake) -> list[str]:
    return sorted(one["request_id"] for one in fake.rows)


def test_every_row_comes_once_and_the_cursor_ends_at_now(fake: Fake, options: Options) -> None:
    ids, cursor = _pull(options)
    assert sorted(ids) == _ids(fake)
    assert cursor == Cursor(_us(NOW))


def test_rows_are_handed_over_as_the_proxy_wrote_them_a_page_at_a_time(fake: Fake, options: Options) -> None:
    batches = [lines for lines, _ in pull(options, None, _us(NOW), guard=HERE, patience=_patience()) if lines]
    assert max(len(lines) for lines in batches) <= options.page_size
    by_id = {one["request_id"]: one for one in fake.rows}
    for line in (line for lines in batches for line in lines):
        assert b"\n" not in line
        assert json.loads(line) == by_id[json.loads(line)["request_id"]]


def test_the_next_pull_begins_an_overlap_earlier_and_finds_late_rows(fake: Fake, options: Options) -> None:
    _, cursor = _pull(options)
    late = row(5_000, NOW - timedelta(minutes=20))
    new = row(5_001, NOW + timedelta(minutes=10))
    fake.rows += [late, new]
    ids, after = _pull(options, cursor, NOW + timedelta(hours=1))
    assert {late["request_id"], new["request_id"]} <= set(ids)
    assert after == Cursor(_us(NOW + timedelta(hours=1)))
    # Nothing before the overlap is asked for again.
    again = [one for one in fake.rows if datetime.fromisoformat(one["startTime"]) >= NOW - timedelta(minutes=30)]
    assert sorted(ids) == sorted(one["request_id"] for one in again)


def test_a_pull_with_nothing_new_still_moves_the_cursor(fake: Fake, options: Options) -> None:
    fake.rows.clear()
    assert _pull(options) == ([], Cursor(_us(NOW)))


def test_a_pull_resumed_from_any_stored_cursor_misses_nothing(fake: Fake, options: Options) -> None:
    small = replace(options, slice_rows=50)
    whole = list(pull(small, None, _us(NOW), guard=HERE, patience=_patience()))
    assert len({cursor for _, cursor in whole}) > 3
    for stop in range(0, len(whole), 3):
        stored = {json.loads(line)["request_id"] for lines, _ in whole[: stop + 1] for line in lines}
        ids, cursor = _pull(small, whole[stop][1])
        assert stored | set(ids) == set(_ids(fake))
        assert cursor == Cursor(_us(NOW))


@pytest.mark.parametrize("old", [False, True], ids=["oldest first", "newest first"])
def test_rows_that_arrive_while_pages_are_read_push_nothing_out(fake: Fake, options: Options, old: bool) -> None:
    fake.old = old

    def arrive(call: int) -> None:
        if call in (2, 4, 5):
            fake.rows += [row(1_000 + 10 * call + n, NOW - timedelta(minutes=90, seconds=n)) for n in range(7)]

    fake.before = arrive
    ids, _ = _pull(options)
    assert sorted(ids) == _ids(fake)


@pytest.mark.parametrize("old", [False, True], ids=["oldest first", "newest first"])
def test_rows_deleted_while_pages_are_read_hide_no_other_row(fake: Fake, options: Options, old: bool) -> None:
    fake.old = old

    def clean_up(call: int) -> None:
        if call == 3:
            del fake.rows[-30:], fake.rows[:30]

    fake.before = clean_up
    ids, _ = _pull(options)
    assert set(_ids(fake)) <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_row_listed_twice_is_handed_over_once(fake: Fake, options: Options) -> None:
    def twice(_: int, body: bytes) -> bytes:
        page = json.loads(body)
        page["data"] += page["data"][-3:]
        page["total"] += 3
        return json.dumps(page).encode()

    fake.twist = twice
    ids, _ = _pull(options)
    assert sorted(ids) == _ids(fake)


def test_a_page_that_leaves_rows_out_is_read_again(fake: Fake, options: Options) -> None:
    def short(call: int, body: bytes) -> bytes:
        page = json.loads(body)
        if call == 2:
            page["data"] = page["data"][:5]
        return json.dumps(page).encode()

    fake.twist = short
    ids, _ = _pull(options)
    assert sorted(ids) == _ids(fake)


def test_a_slice_with_too_many_rows_is_cut_in_time(fake: Fake, options: Options) -> None:
    ids, _ = _pull(replace(options, slice_rows=30))
    assert sorted(ids) == sorted(set(ids) & set(_ids(fake)))
    assert set(ids) == set(_ids(fake))
    assert max(int(call["page"]) for call in fake.calls) <= 2


def test_a_proxy_that_stops_counting_is_asked_for_shorter_times(fake: Fake, options: Options) -> None:
    fake.cap = 60
    ids, _ = _pull(options)
    assert set(ids) == set(_ids(fake))


def test_more_rows_in_one_second_than_the_proxy_counts_are_all_read(fake: Fake, options: Options) -> None:
    fake.rows, fake.cap = [row(n, BEGIN + timedelta(hours=1, milliseconds=n)) for n in range(330)], 100
    ids, _ = _pull(options)
    assert sorted(set(ids)) == _ids(fake)


def test_many_rows_within_one_second_are_all_read(fake: Fake, options: Options) -> None:
    fake.rows = [row(n, BEGIN + timedelta(hours=1, milliseconds=n)) for n in range(500)]
    ids, _ = _pull(replace(options, slice_rows=100))
    assert sorted(set(ids)) == _ids(fake)


def test_a_proxy_with_smaller_pages_is_read_with_smaller_pages(fake: Fake, options: Options) -> None:
    fake.max_page_size = 100
    ids, _ = _pull(replace(options, page_size=1_000))
    assert sorted(ids) == _ids(fake)
    assert {call["page_size"] for call in fake.calls} == {"100"}


def test_a_storm_of_429_is_sat_out_for_as_long_as_the_proxy_asks(fake: Fake, options: Options) -> None:
    fake.answers += [(429, {"Retry-After": "7"}, b"{}"), (429, {}, b"{}")]
    pauses: list[float] = []
    ids, _ = _pull(options, patience=_patience(pauses))
    assert sorted(ids) == _ids(fake)
    assert pauses == [7.0, 8.0]


def test_a_retry_after_given_as_a_date_is_understood(fake: Fake, options: Options) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    fake.answers.append((429, {"Retry-After": when}, b"{}"))
    pauses: list[float] = []
    _pull(options, patience=_patience(pauses))
    assert 30 < pauses[0] <= 40


def test_a_proxy_that_asks_for_an_hour_is_left_for_the_next_pull(fake: Fake, options: Options) -> None:
    fake.answers.append((503, {"Retry-After": "3600"}, b"{}"))
    pauses: list[float] = []
    with pytest.raises(UnavailableError, match="pause of 3600 s"):
        _pull(options, patience=_patience(pauses))
    assert pauses == []


def test_pauses_after_server_errors_grow_and_are_shorter_than_after_429(fake: Fake, options: Options) -> None:
    fake.answers += [(500, {}, b"oops"), (502, {}, b"<html>"), (529, {}, b"")]
    pauses: list[float] = []
    ids, _ = _pull(options, patience=_patience(pauses))
    assert sorted(ids) == _ids(fake)
    assert pauses == [1.0, 2.0, 4.0]


def test_a_proxy_that_stays_down_is_given_up_with_a_clear_word(fake: Fake, options: Options) -> None:
    fake.answers += [(500, {}, b"oops")] * 10
    with pytest.raises(UnavailableError, match="status 500, 4 times in a row"):
        _pull(options)
    assert len(fake.answers) == 6


@pytest.mark.parametrize(
    ("headers", "body"),
    [({}, b'{"data": [{"request_id": "chatcmpl-1'), ({"Content-Length": "4000"}, b'{"data": [')],
    ids=["cut off by the proxy", "cut off on the way"],
)
def test_a_page_that_is_cut_off_is_asked_for_again(
    fake: Fake, options: Options, headers: dict[str, str], body: bytes
) -> None:
    fake.answers.append((200, headers, body))
    ids, _ = _pull(options)
    assert sorted(ids) == _ids(fake)


@pytest.mark.parametrize("body", [b"[]", b'{"rows": []}', b'{"data": {"1": {}}}', b'{"error": "no database"}'])
def test_another_layout_is_named_and_not_asked_for_again(fake: Fake, options: Options, body: bytes) -> None:
    fake.answers += [(200, {}, body)] * 2
    with pytest.raises(InputError, match="another layout"):
        _pull(options)
    assert len(fake.answers) == 1


def test_a_row_without_an_id_is_kept(fake: Fake, options: Options) -> None:
    del fake.rows[7]["request_id"]
    lines = [line for lines, _ in pull(options, None, _us(NOW), guard=HERE, patience=_patience()) for line in lines]
    assert len(lines) == len(fake.rows)


def test_a_refused_token_is_said_at_once_and_shown_nowhere(
    fake: Fake, options: Options, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("LITELLM_TOKEN", "sk-wrong-9876543210")
    with pytest.raises(ForbiddenError, match="refuses the token") as refused:
        _pull(options)
    assert len(fake.tokens) == 1
    assert "sk-wrong" not in caplog.text + str(refused.value) + repr(options)


def test_the_token_appears_in_no_log_line_of_a_pull_with_trouble(
    fake: Fake, options: Options, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    fake.answers += [(500, {}, TOKEN.encode()), (429, {"Retry-After": "1"}, b"{}")]
    _pull(options)
    assert "next attempt" in caplog.text
    assert TOKEN not in caplog.text


def test_a_path_that_is_not_there_is_said(fake: Fake, options: Options) -> None:
    with pytest.raises(RefusedError, match="status 404"):
        _pull(replace(options, base_url=f"{options.base_url}/elsewhere"))


def test_a_redirect_is_not_followed(fake: Fake, options: Options) -> None:
    fake.answers.append((307, {"Location": "https://other.example/spend/logs/v2"}, b""))
    with pytest.raises(RefusedError, match=r"points to other\.example"):
        _pull(options)


def test_a_host_that_is_not_allowed_is_never_called(fake: Fake, options: Options) -> None:
    with pytest.raises(ForbiddenError, match="not an allowed host"):
        list(pull(options, None, _us(NOW), guard=guard(frozenset({"*"})), patience=_patience()))
    assert fake.tokens == []


def test_a_proxy_that_is_not_there_is_said(options: Options) -> None:
    with FakeProxy(Fake()) as gone:
        pass
    with pytest.raises(UnavailableError, match="ConnectError"):
        _pull(replace(options, base_url=gone))


@pytest.mark.parametrize("address", ["127.0.0.1:4000", "ftp://127.0.0.1", "https://user:pass@proxy.example"])
def test_what_is_no_address_is_refused_without_showing_a_password(options: Options, address: str) -> None:
    with pytest.raises(InputError, match="is no address") as refused:
        _pull(replace(options, base_url=address))
    assert "pass" not in str(refused.value)


@pytest.mark.parametrize(
    "change", [{"overlap_us": 9 * 60 * SECOND}, {"page_size": 0}, {"page_size": 1001}, {"slice_rows": 0}]
)
def test_options_outside_their_range_are_refused(options: Options, change: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        replace(options, **change)


def test_a_token_may_stand_in_a_file(options: Options, fake: Fake, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(f"{TOKEN}\n")
    ids, _ = _pull(replace(options, token=f"file:{secret}"))
    assert sorted(ids) == _ids(fake)


@pytest.mark.parametrize("reference", [TOKEN, "env:", "env:HALVE_NO_SUCH_VARIABLE", "file:/no/such/file", "vault:x"])
def test_a_secret_is_only_taken_by_reference(options: Options, reference: str) -> None:
    with pytest.raises(UsageError) as refused:
        _pull(replace(options, token=reference))
    assert TOKEN not in str(refused.value)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    offsets=st.lists(st.integers(0, 6 * 3600 * 1000), max_size=80),
    page_size=st.integers(1, 30),
    slice_rows=st.integers(1, 60),
    arrivals=st.dictionaries(st.integers(1, 12), st.integers(0, 6 * 3600 * 1000), max_size=4),
    cap=st.none() | st.integers(1, 90),
    old=st.booleans(),
)
def test_whatever_arrives_in_between_every_row_there_at_the_start_is_read(
    fake: Fake,
    options: Options,
    offsets: list[int],
    page_size: int,
    slice_rows: int,
    arrivals: dict[int, int],
    cap: int | None,
    old: bool,
) -> None:
    fake.cap, fake.old = cap, old
    fake.rows = [row(n, BEGIN + timedelta(milliseconds=ms)) for n, ms in enumerate(offsets)]
    fake.calls.clear()
    fake.before = lambda call: (
        fake.rows.append(row(9_000 + call, BEGIN + timedelta(milliseconds=arrivals[call])))
        if call in arrivals
        else None
    )
    at_the_start = set(_ids(fake))
    ids, cursor = _pull(replace(options, page_size=page_size, slice_rows=slice_rows))
    assert at_the_start <= set(ids) <= set(_ids(fake))
    assert cursor == Cursor(_us(NOW))


def test_a_pulled_row_says_the_same_as_one_from_an_export(fake: Fake, options: Options, tmp_path: Path) -> None:
    made = generate(tmp_path, days=1, requests=600, last_day=BEGIN.date(), only=frozenset({"sync-worker"}))
    exported = [line for file in sorted(Path(made.logs).rglob("*.jsonl")) for line in file.read_bytes().splitlines()]
    fake.rows = [json.loads(line) for line in exported]
    since, now = BEGIN - timedelta(days=1), BEGIN + timedelta(days=2)
    source = replace(options, since_us=_us(since))
    pulled = [line for lines, _ in pull(source, None, _us(now), guard=HERE, patience=_patience()) for line in lines]
    place = Origin("litellm", "pull", 1)
    events = [
        sorted((event for line in lines for event in FORMAT.parse(json.loads(line), place)), key=repr)
        for lines in (exported, pulled)
    ]
    assert len(events[0]) == made.lines
    assert events[0] == events[1]
    assert all(isinstance(event, UsageEvent) for event in events[0])
