"""Status reports for consignments, through the gateway. Flaw: the client gives up before long answers are done.

The provider finishes and bills what the client no longer waits for; the client asks again, up to twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.demo import prose
from app.demo.clock import CUSTOMERS, EVERY_DAY, SECOND, arrivals
from app.demo.company import Caller, between, reference
from app.demo.tokens import MESSAGE_TOKENS, REPLY_TOKENS, count
from app.demo.wire import PACES, GatewayCall, Line, Times, gateway_row, openai_usage
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

MODEL = "gpt-4.1"
PATIENCE_US = 4 * SECOND  # the client's time-out while the flaw is on
ATTEMPTS = 3
CALLER = Caller("sync-worker", "platform", "production", "sync-worker", "svc-sync")
TIMED_OUT = ("408", "Timeout", "litellm.Timeout: APITimeoutError - Request timed out. Client closed after 4.0 seconds.")
SYSTEM = (
    "Write the status report of one consignment for the dispatcher from the events below: what happened, what it means "
    "for the arrival, what to do. Plain sentences, no greeting."
)


def _call(rng: Random) -> tuple[GatewayCall, int]:
    """One logical call as it would succeed, and the uncached tokens of its prompt."""
    consignment = reference(rng)
    events = "\n".join(f"- {prose.sentences(rng, prose.STATUS_NOTES, 1)}" for _ in range(between(rng, 4, 9)))
    text = f"Consignment {consignment}\n{events}"
    # One report in five is about a difficult consignment and long.
    length = between(rng, 14, 24) if rng.random() < 0.2 else between(rng, 4, 8)
    answer = prose.sentences(rng, prose.REPORT_SENTENCES, length)
    prompt = count(SYSTEM) + count(text) + 2 * MESSAGE_TOKENS + REPLY_TOKENS
    request = {
        "model": MODEL,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
        "temperature": 0.2,
        "max_tokens": 1200,
    }
    call = GatewayCall(
        request_id=f"chatcmpl-{rng.getrandbits(116):029x}",
        call_id=f"{rng.getrandbits(128):032x}",
        model=MODEL,
        provider="openai",
        api_base="https://api.openai.com",
        usage=openai_usage(prompt, 0, count(answer)),
        request=request,
        answer=answer,
    )
    return call, prompt


def make(scene: Scene) -> Iterator[Line]:
    """Attempts of one call follow each other within a minute, so lines are put in order over that reach."""
    talk = scene.rng("talk")
    waiting: list[Line] = []
    for number, start in enumerate(arrivals(scene.rng("arrivals"), scene.span, scene.requests, CUSTOMERS, EVERY_DAY)):
        ready = sorted((line for line in waiting if line.start_us < start), key=lambda line: line.start_us)
        waiting = [line for line in waiting if line.start_us >= start]
        yield from ready
        call, prompt = _call(talk)
        waiting += _attempts(scene, number, start, call, prompt)
    yield from sorted(waiting, key=lambda line: line.start_us)


def _attempts(scene: Scene, number: int, start: int, call: GatewayCall, prompt: int) -> list[Line]:
    load = scene.rng(f"load {number}")
    lines: list[Line] = []
    for attempt in range(ATTEMPTS):
        times = PACES[MODEL].times(start, prompt, call.usage["completion_tokens"], 0.7 + 0.6 * load.random())
        last = attempt == ATTEMPTS - 1
        if not scene.flaw or last or times.end_us - start <= PATIENCE_US:
            lines.append(gateway_row(scene.name, times, CALLER, replace(call, retries=attempt)))
            break
        given_up = start + PATIENCE_US
        lost = replace(
            call,
            request_id=f"{load.getrandbits(128):032x}",
            call_id=f"{load.getrandbits(128):032x}",
            answer=None,
            failure=TIMED_OUT,
            retries=attempt,
        )
        lines.append(gateway_row(scene.name, Times(start, given_up, given_up), CALLER, lost))
        start = given_up + int((0.5 + load.random() * 1.5) * SECOND)
    return lines


WORKLOAD = Workload("sync-worker", 0.12, "the client's time-out is shorter than long answers, which are billed", make)
