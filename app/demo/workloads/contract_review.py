"""Review of freight contracts, each a new one, by lawyers and through the gateway, which stores no prompts here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo.clock import OFFICE, WORKDAYS, arrivals
from app.demo.company import STAFF, Caller, between, pick
from app.demo.wire import PACES, GatewayCall, Line, gateway_row, openai_usage
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "claude-sonnet-4-5"


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    for start in arrivals(scene.rng("arrivals"), scene.span, scene.requests, OFFICE, WORKDAYS):
        prompt, written = between(talk, 4_000, 24_000), between(talk, 350, 1_900)
        caller = Caller("contract-review", "legal", "production", "legal-desk", pick(talk, STAFF[:20]))
        call = GatewayCall(
            request_id=f"chatcmpl-{talk.getrandbits(116):029x}",
            call_id=f"{talk.getrandbits(128):032x}",
            model=MODEL,
            provider="anthropic",
            api_base="https://api.anthropic.com/v1/messages",
            usage=openai_usage(prompt, 0, written),
        )
        times = PACES[MODEL].times(start, prompt, written, 0.8 + 0.5 * load.random())
        yield gateway_row(scene.name, times, caller, call)


WORKLOAD = Workload("contract-review", 0.064, "", make)
