"""Nightly classification of tickets by a worker. Flaw: it pays the real-time price for answers nobody waits for."""

from __future__ import annotations

from datetime import time
from typing import TYPE_CHECKING

from app.demo import prose
from app.demo.clock import HOUR, SECOND, WORKDAYS, local_us
from app.demo.company import Caller, between, pick
from app.demo.provider import CacheUse
from app.demo.tokens import MESSAGE_TOKENS, count
from app.demo.wire import ANTHROPIC, PACES, Line, Times, anthropic_response, pair
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "claude-sonnet-4-5"
CALLER = Caller("ticket-classify", "support", "production", "night-jobs", "svc-ticket-classify")
LANES = 8
QUEUES = ("delivery", "billing", "customs", "access", "interface", "yard", "damage", "sales")
SYSTEM = (
    "Sort the ticket of a freight software customer into one queue. Answer with one JSON object with the keys queue, "
    "urgency (1 to 4), language and reason. Queues: delivery, billing, customs, access, interface, yard, damage, "
    "sales. Urgency 1 is danger or a stopped gate, 2 a stopped customer, 3 a question with a date, 4 anything else."
)


def _nightly(scene: Scene) -> list[int]:
    """Start times: every night from 02:00 local, eight lanes, until the tickets of the day before are done."""
    rng = scene.rng("arrivals")
    dates = scene.span.dates()
    # Tickets of a day are sorted in the night after it: weekdays shifted by one.
    weights = [WORKDAYS[(day.weekday() - 1) % 7] + 0.15 for day in dates]
    total, left, starts = sum(weights), scene.requests, list[int]()
    for position, (day, weight) in enumerate(zip(dates, weights, strict=True)):
        n = left if position == len(dates) - 1 else min(left, round(scene.requests * weight / total))
        left -= n
        lanes = [local_us(day, time(2)) + int(rng.random() * 20 * SECOND) for _ in range(LANES)]
        for ticket in range(n):
            lane = ticket % LANES
            starts.append(lanes[lane])
            lanes[lane] += int((1.5 + rng.random() * 6) * SECOND)
    return sorted(starts)


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    system_tokens = count(SYSTEM)
    for number, start in enumerate(_nightly(scene)):
        ticket = (
            f"Ticket {scene.span.first:%y%m}-{number:06d} from {prose.fill(talk, '{firm}')}\n"
            f"{prose.sentences(talk, prose.TICKETS, between(talk, 2, 5))}"
        )
        queue, urgency = pick(talk, QUEUES), between(talk, 1, 4)
        why = prose.fill(talk, pick(talk, prose.TICKETS))
        answer = f'{{"queue": "{queue}", "urgency": {urgency}, "language": "en", "reason": "{why[:90]}"}}'
        thinking = between(talk, 400, 1600)  # billed whole, only a summary of it is in the answer
        content = [
            {"type": "thinking", "thinking": f"The ticket is about {queue}; nothing in it is more urgent.",
             "signature": f"{talk.getrandbits(128):032x}"},
            {"type": "text", "text": answer},
        ]  # fmt: skip
        request = {
            "model": MODEL,
            "max_tokens": 2048,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "system": SYSTEM,
            "messages": [{"role": "user", "content": ticket}],
        }
        uncached = system_tokens + count(ticket) + 2 * MESSAGE_TOKENS
        written = thinking + count(answer)
        times = PACES[MODEL].times(start, uncached, written, 0.8 + 0.5 * load.random())
        if not scene.flaw:
            times = Times(start, times.first_us, start + HOUR // 4 + int(load.random() * HOUR))
        response_id = f"{talk.getrandbits(88):022x}"
        response = anthropic_response(
            response_id, MODEL, content, CacheUse(0, 0, uncached), written, tier="standard" if scene.flaw else "batch"
        )
        yield pair(ANTHROPIC, scene.name, times, CALLER, request, response)


WORKLOAD = Workload("ticket-classify", 0.22, "a nightly job pays the real-time price", make)
