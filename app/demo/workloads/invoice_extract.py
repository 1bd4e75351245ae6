"""Fields of carrier invoices. Flaw: a large model does what the small one of its family does with equal answers.

Both models share a tokenizer and give the same text here, so the token ratio between them is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.demo import prose
from app.demo.clock import OFFICE, WORKDAYS, arrivals
from app.demo.company import COMPANIES, STAFF, Caller, between, pick, reference
from app.demo.tokens import MESSAGE_TOKENS, REPLY_TOKENS, count
from app.demo.wire import OPENAI, PACES, Line, openai_response, openai_usage, pair
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

LARGE, SMALL = "gpt-5", "gpt-5-mini"
SYSTEM = (
    "Read the text of a carrier invoice and return its fields as JSON: number, date, carrier, consignment, lines "
    "(text, amount), net, tax, gross. Copy amounts exactly. Use null for what is not there."
)
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "invoice",
        "schema": {
            "type": "object",
            "properties": {
                "number": {"type": "string"},
                "carrier": {"type": "string"},
                "consignment": {"type": ["string", "null"]},
                "lines": {"type": "array", "items": {"type": "object"}},
                "gross": {"type": "string"},
            },
        },
    },
}
_SCHEMA_TOKENS = count(str(SCHEMA))


def _invoice(rng: Random) -> tuple[str, str]:
    """Text of an invoice and the JSON that any of the two models answers."""
    number, carrier, consignment = f"R{between(rng, 10000, 99999)}", pick(rng, COMPANIES), reference(rng)
    lines = [
        (prose.fill(rng, pick(rng, prose.INVOICE_ITEMS)), f"{between(rng, 20, 900)}.{between(rng, 10, 99)}")
        for _ in range(between(rng, 3, 7))
    ]
    gross = f"{between(rng, 300, 9000)}.{between(rng, 10, 99)}"
    text = "\n".join(
        [f"{carrier}  Invoice {number}", f"Consignment {consignment}", *(f"{a}   EUR {b}" for a, b in lines),
         f"Gross EUR {gross}"]
    )  # fmt: skip
    items = ", ".join(f'{{"text": "{a}", "amount": "{b}"}}' for a, b in lines)
    answer = (
        f'{{"number": "{number}", "carrier": "{carrier}", "consignment": "{consignment}", "lines": [{items}], '
        f'"gross": "{gross}"}}'
    )
    return text, answer


def make(scene: Scene) -> Iterator[Line]:
    talk, load = scene.rng("talk"), scene.rng("load")
    model = LARGE if scene.flaw else SMALL
    system_tokens = count(SYSTEM) + _SCHEMA_TOKENS
    for start in arrivals(scene.rng("arrivals"), scene.span, scene.requests, OFFICE, WORKDAYS):
        text, answer = _invoice(talk)
        reasoning = 64 * between(talk, 6, 24)
        caller = Caller("invoice-extract", "finance", "production", "finance-intake", pick(talk, STAFF))
        request = {
            "model": model,
            "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
            "response_format": SCHEMA,
            "max_completion_tokens": 4000,
        }
        prompt, written = system_tokens + count(text) + 2 * MESSAGE_TOKENS + REPLY_TOKENS, count(answer) + reasoning
        response_id, swing = f"{talk.getrandbits(116):029x}", 0.8 + 0.6 * load.random()
        usage = openai_usage(prompt, 0, written, reasoning)
        response = openai_response(response_id, model, start, answer, usage)
        times = PACES[model].times(start, prompt, written, swing)
        yield pair(OPENAI, scene.name, times, caller, request, response)


WORKLOAD = Workload("invoice-extract", 0.10, "a large model fills in forms", make)
