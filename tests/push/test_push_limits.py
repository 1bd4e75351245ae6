"""Bodies that are too slow, too many or come while too much waits: refused with the time after which to come again."""

from __future__ import annotations

import asyncio
import gzip
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.core.errors import UnavailableError
from app.web import push_body
from app.web.deps import Deps
from app.web.push_body import Body, RefusedBodyError, Room
from app.web.push_desk import PushDesk, Receipt
from app.web.push_routes import routes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine


async def parts(*given: bytes, pause_s: float = 0) -> AsyncIterator[bytes]:
    for part in given:
        await asyncio.sleep(pause_s)
        yield part


def done(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives, in a thread of its own: a browser of an earlier test keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


def read(*given: bytes, packed: bool = False, room: Room | None = None, pause_s: float = 0) -> bytes:
    body = Body(room or Room(), packed=packed)
    found: bytes = done(body.read(parts(*given, pause_s=pause_s)))
    return found


def test_a_body_that_dawdles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_body, "SLOWEST_S", 0.05)
    with pytest.raises(RefusedBodyError, match="did not come") as refused:
        read(*[b"x"] * 50, pause_s=0.01)
    assert (refused.value.status, refused.value.again_s) == (408, 1)


def test_packed_bodies_may_be_cut_anywhere() -> None:
    whole = gzip.compress(b"some text " * 1000)
    assert read(*(whole[at : at + 7] for at in range(0, len(whole), 7)), packed=True) == b"some text " * 1000


def test_bodies_together_are_bounded_and_their_room_comes_back() -> None:
    room = Room(most=100)
    first = Body(room, packed=False)
    done(first.read(parts(b"x" * 80)))
    with pytest.raises(RefusedBodyError, match="in a moment") as refused:
        read(b"x" * 30, room=room)
    assert (refused.value.status, refused.value.again_s) == (429, 1)
    assert room.held == 80
    first.close()
    assert read(b"x" * 30, room=room) == b"x" * 30


@pytest.fixture
def client_of(tmp_path: Any) -> Callable[[PushDesk], TestClient]:
    def made(desk: PushDesk) -> TestClient:
        deps = Deps(warehouse=None, control=None, commands=None, zone="UTC", now=lambda: 1, no_access_control=True)  # type: ignore[arg-type]
        app = FastAPI()
        app.include_router(routes(deps, desk))
        return TestClient(app)

    return made


def test_while_too_much_waits_nothing_more_is_taken(client_of: Callable[[PushDesk], TestClient]) -> None:
    def never(*given: Any) -> Receipt:
        raise AssertionError(given)

    answer = client_of(PushDesk(never, never, lambda: True)).post("/v1/traces", json={})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "later" in answer.json()["message"]


def test_what_cannot_be_written_is_not_acknowledged(client_of: Callable[[PushDesk], TestClient]) -> None:
    def failing(*given: Any) -> Receipt:
        done: Future[None] = Future()
        done.set_exception(UnavailableError("The inbox cannot be written: no space."))
        return Receipt(done)

    answer = client_of(PushDesk(failing, failing, lambda: False)).post("/v1/traces", json={})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    assert "no space" in answer.json()["message"]
