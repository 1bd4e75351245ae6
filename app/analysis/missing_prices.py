"""Why a model has no whole price: the reason of each of its requests, in words, and whether a rate would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.view import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.analysis.coverage import UnpricedModel
    from app.core.view import View
    from app.warehouse.store import Session

    Reasons = Mapping[tuple[str, str, str], Mapping[str, int]]

WORDS: Final = {
    "unknown_model": "not in the price book",
    "no_price": "no rate for that day, tier or class",
    "class_without_price": "a token class has no rate",
    "no_time": "the record has no time",
    "no_model": "no model is named",
    "no_prompt_tokens": "the size of the prompt is unknown",
    "impossible_tokens": "its token counts contradict each other",
    "no_usage": "no usage logged",
    "bad_number": "a count is unreadable",
}
"""A reason in the words of every surface; the codes are those of a request's warnings where it has one."""
RATE_HELPS: Final = frozenset({"unknown_model", "no_price", "class_without_price"})
ADVICE: Final = {
    "no_time": "A rate holds from day to day: log the time of the call, or name its field with --map.",
    "no_model": "Usage without a model cannot be priced: have the log or the export name it (group usage by model).",
}
"""What helps where no rate does."""
_OF_BILLS: Final = {"partly": "class_without_price", "unpriced": "no_price", "unknown": "no_usage"}


def reasons(session: Session, view: View) -> Reasons:
    """By (provider, model, cost_state) in the view's period: requests by reason; its filters are not looked at."""
    found: dict[tuple[str, str, str], dict[str, int]] = {}
    rows = session.rows("spend.missing_prices", from_us=view.period.from_us, to_us=view.period.to_us)
    for provider, model, state, reason, requests in rows:
        found.setdefault((str(provider), str(model), str(state)), {})[str(reason)] = int(requests)
    return found


def reasons_of(item: UnpricedModel, known: Reasons) -> Mapping[str, int]:
    """Requests of one model by reason, the most first; usage of a bill has no request and one reason."""
    given = known.get((item.provider, item.model, item.cost_state))
    if given:
        return given
    return {"no_model" if item.model == UNASSIGNED else _OF_BILLS.get(item.cost_state, item.cost_state): item.requests}


def in_words(given: Mapping[str, int]) -> str:
    """The reasons as text, with their requests where there are several."""
    if len(given) == 1:
        return "".join(WORDS.get(reason, reason) for reason in given)
    return ", ".join(f"{WORDS.get(reason, reason)} ({requests:,})" for reason, requests in given.items())


def rate_helps(given: Mapping[str, int]) -> bool:
    """Whether a rate of one's own would price some of it."""
    return not RATE_HELPS.isdisjoint(given)
