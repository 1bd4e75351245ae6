"""Records as a gateway would log them, and the stream of a warehouse with everything in it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.plan import options, window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.pricing.book import PriceBook
    from app.warehouse.store import Session, Warehouse

FROM_US, TO_US = 1_700_000_000_000_000, 1_900_000_000_000_000
CREATED = 1_793_520_000  # 2026-11-01T08:00:00Z


def record(number: int, *, at: int, prompt: int = 3000, answer: int = 50, **request: Any) -> dict[str, Any]:
    """One logged Chat call; `at` is seconds after the first one."""
    return {
        "id": f"req-{number}",
        "created": CREATED + at,
        "model": request.get("model", "gpt-4o"),
        "request": {"model": "gpt-4o", **request},
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    }


def messages(user: str, system: str = "You are the support desk of a shop.") -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


@contextmanager
def streamed(warehouse: Warehouse, book: PriceBook, from_us: int = FROM_US, to_us: int = TO_US) -> Iterator[Session]:
    """A session with the relations that levers read."""
    with warehouse.session() as session:
        loaded = window.load(session, from_us, to_us, "UTC")
        session.register("model_options", options.frame(session, book, loaded.last_us))
        yield session
