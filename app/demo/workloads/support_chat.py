"""Support bot: a long stable instruction. Flaw: the current time at its head breaks the provider's prefix cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo import prose
from app.demo.clock import ALL_WEEK, CUSTOMERS, SECOND, arrivals, iso
from app.demo.company import Caller, between
from app.demo.provider import AutomaticCache
from app.demo.tokens import MESSAGE_TOKENS, REPLY_TOKENS, Tokenizer, count
from app.demo.wire import OPENAI, PACES, Line, openai_error, openai_response, openai_usage, pair, refused_times
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "gpt-4.1"
REFUSED_SHARE = 0.004


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    cache, tokenizer = AutomaticCache(), Tokenizer()
    stable = prose.instructions("support")
    padding = tokenizer.encode_stable("support message frame.")[:MESSAGE_TOKENS]
    for start in arrivals(scene.rng("arrivals"), scene.span, scene.requests, CUSTOMERS, ALL_WEEK):
        clock = f"Current time: {iso(start)}"
        system = f"{clock}\n\n{stable}" if scene.flaw else f"{stable}\n\n{clock}"
        question = f"{prose.sentences(talk, prose.QUESTIONS, 1)} {prose.sentences(talk, prose.DETAILS, 2)}"
        answer = prose.sentences(talk, prose.ANSWERS, between(talk, 5, 11))
        caller = Caller(
            "support-chat", "support", "production", "support-bot", f"customer-{between(talk, 1000, 4999)}",
            f"chat-{talk.getrandbits(48):012x}",
        )  # fmt: skip
        request = {
            "model": MODEL,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": question}],
            "temperature": 0.4,
            "max_tokens": 600,
            "stream": True,
        }
        response_id, swing = f"{talk.getrandbits(116):029x}", 0.8 + 0.6 * load.random()
        if load.random() < REFUSED_SHARE:
            status = 429 if load.random() < 0.7 else 500
            yield pair(OPENAI, scene.name, refused_times(start), caller, request, openai_error(status), status)
            continue
        parts = (tokenizer.encode_stable(stable), tokenizer.encode(clock))
        first, second = parts[::-1] if scene.flaw else parts
        prompt = (*padding, *first, *second, *padding, *tokenizer.encode(question), *padding[:REPLY_TOKENS])
        ready = start + SECOND
        cached = cache.lookup(MODEL, prompt, start, ready)
        written = count(answer)
        times = PACES[MODEL].times(start, len(prompt) - cached, written, swing)
        usage = openai_usage(len(prompt), cached, written)
        yield pair(
            OPENAI, scene.name, times, caller, request, openai_response(response_id, MODEL, start, answer, usage)
        )


WORKLOAD = Workload("support-chat", 0.10, "the current time stands at the head of a long stable instruction", make)
