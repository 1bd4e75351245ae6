"""Drafts for the newsletter: short, each one new, typed by people, on the smallest model. Nothing to save here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo import prose
from app.demo.clock import OFFICE, WORKDAYS, arrivals
from app.demo.company import STAFF, Caller, between, pick
from app.demo.tokens import MESSAGE_TOKENS, REPLY_TOKENS, count
from app.demo.wire import OPENAI, PACES, Line, openai_response, openai_usage, pair
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "gpt-5-nano"
SYSTEM = "You write short, friendly marketing copy for Harbourline. No superlatives."


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    system_tokens, writer = count(SYSTEM), ""
    for number, start in enumerate(arrivals(scene.rng("arrivals"), scene.span, scene.requests, OFFICE, WORKDAYS)):
        text = f"{prose.sentences(talk, prose.CAMPAIGN_ASKS, 2)} Draft {number}."
        answer = prose.sentences(talk, prose.CAMPAIGN_COPY, between(talk, 2, 5))
        writer = writer if number % 3 else pick(talk, STAFF)
        caller = Caller("newsletter", "growth", "production", "growth-tools", writer, f"draft-{number // 3:06d}")
        request = {
            "model": MODEL,
            "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
            "reasoning_effort": "minimal",
            "max_completion_tokens": 500,
            "stream": True,
        }
        prompt, written = system_tokens + count(text) + 2 * MESSAGE_TOKENS + REPLY_TOKENS, count(answer)
        times = PACES[MODEL].times(start, prompt, written, 0.8 + 0.6 * load.random())
        response = openai_response(
            f"{talk.getrandbits(116):029x}", MODEL, start, answer, openai_usage(prompt, 0, written)
        )
        yield pair(OPENAI, scene.name, times, caller, request, response)


WORKLOAD = Workload("newsletter", 0.10, "", make)
