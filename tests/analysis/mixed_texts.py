"""Made texts of several kinds, whose tokens a byte differ, and prompts made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import polars as pl

from app.core.hashing import hash64
from tests.analysis.facts import add_requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.warehouse.store import Warehouse

WORDS = (
    "the", "parcel", "was", "delivered", "late", "because", "of", "an", "unexpected", "inspection", "at",
    "regional", "customs", "and", "our", "supervisor", "promised", "compensation", "while", "customers",
    "occasionally", "complained", "about", "missing", "documentation", "or", "damaged", "packaging",
)  # fmt: skip
HAN = "我们需要在明天之前完成这个项目因为客户要求提早交付请注意检查所有文件并且确认价格没有错误"
NAMES = ("order_id", "customer", "total_amount", "shipped_at", "status", "warehouse", "quantity", "sku")


def prose(rng: Random, size: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(size)) + "."


def code(rng: Random, size: int) -> str:
    line = "    if {0} is None or {1}[{2}] != '{3}':\n        raise ValueError(f\"bad {0}: {{{1}}}\")"
    return "\n".join(
        line.format(rng.choice(NAMES), rng.choice(NAMES), rng.randrange(99), rng.choice(WORDS))
        for _ in range(size // 12 + 1)
    )


def document(rng: Random, size: int) -> str:
    return ", ".join(f'{{"{rng.choice(NAMES)}": {rng.randrange(10**6)}}}' for _ in range(size // 6 + 1))


def chinese(rng: Random, size: int) -> str:
    return "，".join("".join(rng.choice(HAN) for _ in range(9)) for _ in range(size // 9 + 1)) + "。"


def numbers(rng: Random, size: int) -> str:
    return "\n".join(f"{rng.randrange(10**9):09d} {rng.random():.6f}" for _ in range(size // 6 + 1))


KINDS = (prose, code, document, chinese, numbers)


@dataclass
class Prompts:
    """Requests with prompts, as the pipeline would store them; `bill` says the tokens of one part."""

    bill: Callable[[str], int]
    frame: int = 3  # tokens that a prompt costs beside its parts
    requests: list[dict[str, object]] = field(default_factory=list)
    segments: list[tuple[object, ...]] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    def add(
        self,
        parts: list[str],
        *,
        cached: int = 0,
        kept: bool = True,
        kind: str = "text",
        model: str = "made-model",
        session: str | None = None,
    ) -> int:
        """One request; `cached` of its tokens are billed as read. Returns its key."""
        key = len(self.requests) + 1
        tokens = sum(self.bill(part) for part in parts) + self.frame
        self.requests.append(
            {
                "request_key": key, "model_id": model, "model": model, "provider": "made", "start_us": key,
                "session_id": session, "tok_input": tokens - cached, "tok_cache_read": cached or None,
            }
        )  # fmt: skip
        size = sum(len(part.encode()) for part in parts)
        chain, upto = model, 0
        for pos, text in enumerate(parts):
            data = text.encode()
            own = hash64(data)
            upto += len(data)
            chain += f"/{own}"
            self.segments.append(
                (key, pos, "system" if pos == 0 else "user", kind, own, hash64(chain.encode()), len(data), upto,
                 round(tokens * upto / size), True, key)
            )  # fmt: skip
            if kept:
                self.texts[own] = text
        return key

    def load(self, warehouse: Warehouse) -> None:
        """Write what was added into the fact tables and the texts."""
        columns = (
            "request_key", "pos", "role", "kind", "seg_hash", "chain_hash", "bytes", "bytes_upto", "tokens_upto",
            "is_boundary", "start_us",
        )  # fmt: skip
        with warehouse.writing() as session:
            add_requests(session, self.requests)
            session.register("made", pl.DataFrame(self.segments, schema=list(columns), orient="row"))
            session.connection.execute(f"INSERT INTO segments ({', '.join(columns)}) SELECT * FROM made")
            session.connection.execute("UPDATE requests SET prompt_bytes = 1")
        with warehouse.writing() as session:
            frame = pl.DataFrame(
                {"hash": list(self.texts), "text": list(self.texts.values())},
                schema={"hash": pl.Int64, "text": pl.String},
            )
            session.register("incoming_texts", frame)
            session.execute("ingest.insert_texts", seen_us=0)


def conversations(bill: Callable[[str], int], *, sessions: int = 40, seed: int = 5) -> Prompts:
    """Sessions of three turns, each prompt beginning with the whole one before it; every part is of another kind."""
    rng, prompts = Random(seed), Prompts(bill)
    for number in range(sessions):
        parts = [rng.choice(KINDS)(rng, rng.randrange(20, 400))]
        for _ in range(3):
            parts = [*parts, rng.choice(KINDS)(rng, rng.randrange(20, 400))]
            prompts.add(parts, session=f"s{number}")
    return prompts
