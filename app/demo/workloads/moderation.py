"""Moderation of the freight exchange: a long policy that stands first and never changes, so the provider caches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo import prose
from app.demo.clock import ALL_WEEK, CUSTOMERS, SECOND, arrivals
from app.demo.company import Caller, between, pick
from app.demo.provider import AutomaticCache
from app.demo.tokens import MESSAGE_TOKENS, REPLY_TOKENS, Tokenizer, count
from app.demo.wire import OPENAI, PACES, Line, openai_error, openai_response, openai_usage, pair, refused_times
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "gpt-4.1-mini"
REFUSED_SHARE = 0.002
_VERDICTS = (
    '{"decision": "allow", "category": "none", "reason": "ordinary freight talk"}',
    '{"decision": "allow", "category": "none", "reason": "plain anger about a delay"}',
    '{"decision": "reject", "category": "payment_bypass", "reason": "asks for cash beside the invoice"}',
)


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    cache, tokenizer = AutomaticCache(), Tokenizer()
    policy = prose.instructions("moderation")
    padding = tokenizer.encode_stable("moderation message frame.")[:MESSAGE_TOKENS]
    stable = (*padding, *tokenizer.encode_stable(policy))
    for start in arrivals(scene.rng("arrivals"), scene.span, scene.requests, CUSTOMERS, ALL_WEEK):
        text = prose.sentences(talk, prose.CHAT_TALK, between(talk, 1, 4))
        answer = pick(talk, _VERDICTS)
        caller = Caller("moderation", "trust", "production", "exchange", f"customer-{between(talk, 1000, 4999)}")
        request = {
            "model": MODEL,
            "messages": [{"role": "system", "content": policy}, {"role": "user", "content": text}],
            "temperature": 0,
            "max_tokens": 80,
            "response_format": {"type": "json_object"},
        }
        response_id, swing = f"{talk.getrandbits(116):029x}", 0.8 + 0.6 * load.random()
        if load.random() < REFUSED_SHARE:
            yield pair(OPENAI, scene.name, refused_times(start), caller, request, openai_error(429), 429)
            continue
        prompt = (*stable, *padding, *tokenizer.encode(text), *padding[:REPLY_TOKENS])
        cached = cache.lookup(MODEL, prompt, start, start + SECOND)
        written = count(answer)
        times = PACES[MODEL].times(start, len(prompt) - cached, written, swing)
        usage = openai_usage(len(prompt), cached, written)
        yield pair(
            OPENAI, scene.name, times, caller, request, openai_response(response_id, MODEL, start, answer, usage)
        )


WORKLOAD = Workload("moderation", 0.03, "", make)
