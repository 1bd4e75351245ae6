"""Summaries of phone calls by a model that the company trained itself: nobody has a price for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo.clock import OFFICE, WORKDAYS, arrivals
from app.demo.company import STAFF, Caller, between, pick
from app.demo.wire import PACES, GatewayCall, Line, gateway_row, openai_usage
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "harbourline-summary-7b"


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    for start in arrivals(scene.rng("arrivals"), scene.span, scene.requests, OFFICE, WORKDAYS):
        prompt, written = between(talk, 700, 3_000), between(talk, 60, 180)
        caller = Caller("call-summary", "sales", "staging", "labs", pick(talk, STAFF[20:40]))
        call = GatewayCall(
            request_id=f"chatcmpl-{talk.getrandbits(116):029x}",
            call_id=f"{talk.getrandbits(128):032x}",
            model=MODEL,
            provider="hosted_vllm",
            api_base="http://models.harbourline.example:8000/v1",
            usage=openai_usage(prompt, 0, written),
        )
        yield gateway_row(
            scene.name, PACES[MODEL].times(start, prompt, written, 0.8 + 0.5 * load.random()), caller, call
        )


WORKLOAD = Workload("call-summary", 0.003, "", make)
