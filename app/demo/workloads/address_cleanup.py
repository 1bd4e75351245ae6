"""A script that somebody started once: it tidies addresses every hour and tells nobody who it is. Untagged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo.clock import HOUR, MINUTE, SECOND
from app.demo.company import CITIES, COMPANIES, Caller, between, pick
from app.demo.tokens import MESSAGE_TOKENS, REPLY_TOKENS, count
from app.demo.wire import OPENAI, PACES, Line, openai_response, openai_usage, pair
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "gpt-4.1-mini"
SYSTEM = (
    "Bring the postal address into the form street, number, postcode, city, country code. Correct spelling. Answer "
    "with one line and nothing else."
)
_STREETS = ("Hafen str.", "quai du port", "Via Dogana", "Dock rd", "Speicher weg", "Calle Aduana", "Kanaal laan")


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    runs = range(scene.span.start_us + 17 * MINUTE, scene.span.end_us, HOUR)
    system_tokens = count(SYSTEM)
    done = 0
    for position, run in enumerate(runs, start=1):
        start, until = run, scene.requests * position // len(runs)
        while done < until:
            done += 1
            city, street = pick(talk, CITIES), pick(talk, _STREETS)
            number, code = between(talk, 1, 240), between(talk, 10000, 99999)
            text = f"{pick(talk, COMPANIES)}; {street}{number} {code} {city.lower()} (row {between(talk, 1, 999999)})"
            answer = f"{street.title()} {number}, {code} {city}, EU"
            request = {
                "model": MODEL,
                "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
                "temperature": 0,
            }
            prompt, written = system_tokens + count(text) + 2 * MESSAGE_TOKENS + REPLY_TOKENS, count(answer)
            times = PACES[MODEL].times(start, prompt, written, 0.8 + 0.6 * load.random())
            response = openai_response(
                f"{talk.getrandbits(116):029x}", MODEL, start, answer, openai_usage(prompt, 0, written)
            )
            yield pair(OPENAI, scene.name, times, Caller(), request, response)
            start = times.end_us + int(load.random() * SECOND)


WORKLOAD = Workload("address-cleanup", 0.09, "", make)
