"""Search in the product's documents: many users ask the same. Flaw: every repeat of an identical call is paid again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo import prose
from app.demo.clock import ALL_WEEK, CUSTOMERS, HOUR, arrivals
from app.demo.company import Caller, between, pick
from app.demo.tokens import MESSAGE_TOKENS, REPLY_TOKENS, count
from app.demo.wire import OPENAI, PACES, Line, openai_response, openai_usage, pair
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

MODEL = "gpt-4.1"
FRESH_US = 24 * HOUR  # the index is rebuilt every night, so an answer is good for a day
REPEATED = 0.5  # share of questions that somebody has asked on the same day
SYSTEM = (
    "Answer the question of a user of Harbourline from the passages only. Name the number of each passage you use. If "
    "the passages do not hold the answer, say so. At most five sentences."
)


def _question(rng: Random, day: int) -> str:
    """A question with the passages that the search found for it; the index carries its date."""
    topic = pick(rng, prose.DOC_TOPICS)
    passages = "\n".join(
        f"[{i}] {prose.sentences(rng, prose.DOC_SENTENCES, 3).replace('{topic}', topic)}" for i in (1, 2, 3)
    )
    question = prose.fill(rng, pick(rng, prose.DOC_QUESTIONS).replace("{topic}", topic))
    return f"Index of night {day}\n{passages}\n\nQuestion: {question}"


def make(scene: Scene) -> Iterator[Line]:
    talk, load, who = scene.rng("talk"), scene.rng("load"), scene.rng("who")
    system_tokens = count(SYSTEM)
    today, asked, sent = -1, list[tuple[str, str, int, int]](), dict[str, int]()
    for start in arrivals(scene.rng("arrivals"), scene.span, scene.requests, CUSTOMERS, ALL_WEEK):
        day = (start - scene.span.start_us) // (24 * HOUR)
        if day != today:
            today, asked = day, []
        if asked and talk.random() < REPEATED:
            text, answer, prompt, written = asked[int(len(asked) * talk.random() ** 2)]
        else:
            text = _question(talk, day)
            answer = prose.sentences(talk, prose.ANSWERS, between(talk, 4, 7))
            prompt, written = system_tokens + count(text) + 2 * MESSAGE_TOKENS + REPLY_TOKENS, count(answer)
            asked.append((text, answer, prompt, written))
        user, session = f"customer-{between(who, 1000, 4999)}", f"search-{who.getrandbits(48):012x}"
        response_id, swing = f"{who.getrandbits(116):029x}", 0.8 + 0.6 * load.random()
        stored = sent.get(text)
        if stored is None or start - stored >= FRESH_US:
            sent[text] = start
        elif not scene.flaw:
            continue
        request = {
            "model": MODEL,
            "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
            "temperature": 0,
            "max_tokens": 400,
            "stream": True,
        }
        times = PACES[MODEL].times(start, prompt, written, swing)
        caller = Caller("docs-search", "docs", "production", "docs-search", user, session)
        response = openai_response(response_id, MODEL, start, answer, openai_usage(prompt, 0, written))
        yield pair(OPENAI, scene.name, times, caller, request, response)


WORKLOAD = Workload("docs-search", 0.16, "identical questions at temperature 0 are paid every time", make)
