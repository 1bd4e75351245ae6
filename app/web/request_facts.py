"""What is known of one request, as labelled facts in words: its state, its price, its record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from app.web import format as show
from app.web.facts import Fact

if TYPE_CHECKING:
    from app.analysis.request_detail import RequestDetail
    from app.web.page import Context

PRICES: Final = "/prices"
SOURCES: Final = "/sources"
STATES: Final = {
    "priced": "Every token class of this request has a price.",
    "partly": "A part of this request has no price: the cost is a lower bound, what is missing is not counted as zero.",
    "unpriced": "This request has no price: its cost is unknown, not zero.",
    "not_billed": "The source says that this request was not billed.",
    "unknown": "The log of this request holds no usage, so its cost is unknown, not zero.",
}
UNREADABLE: Final = (
    "A token count in the log of this request could not be read (bad_number under Warnings), so its cost is unknown, "
    "not zero."
)
INTERLEAVED: Final = (
    "The log mixes the events of several answers that ran at once and does not say whose they are, so the output and "
    "the cost of this request are unknown, not zero."
)
SUMMED: Final = (
    "This row sums calls, and the price depends on how long each of them was: the average call decides here, so the "
    "true cost is another where some were longer and others shorter than a step of the price."
)
SUMMED_UNCOUNTED: Final = (
    "This row sums calls that nobody counts, and the price depends on how long each of them was: none is taken for a "
    "long one here, so the true cost may be higher."
)
BILLINGS: Final = {
    "api": "paid by the request",
    "subscription": "covered by a subscription; the dollars are list-price value",
    "provisioned": "covered by provisioned capacity; the dollars are list-price value",
    "free": "free; the dollars are list-price value",
    "unknown": "not known; the dollars are list-price value until you say how it is billed",
}
# Later than any price is known to hold (the year 2200).
FAR_FUTURE_US: Final = 7_258_118_400_000_000


def state_text(detail: RequestDetail) -> str:
    """What the cost of the request rests on, in a sentence."""
    warnings = str(detail.facts["warnings"] or "")
    if detail.row.cost_state == "unknown" and "bad_number:" in warnings:
        return UNREADABLE
    if detail.row.cost_state == "unknown" and "interleaved_stream" in warnings:
        return INTERLEAVED
    said = STATES.get(detail.row.cost_state, "")
    if "sum_of_calls" not in warnings:
        return said
    return f"{said} {SUMMED if detail.facts['calls_summed'] else SUMMED_UNCOUNTED}".strip()


def _row_facts(context: Context, detail: RequestDetail) -> tuple[Fact, ...]:
    """Where the rates of the price row come from and when they hold."""
    price = detail.price
    if price is None:
        return ()
    valid = []
    if price.valid_from_us > 0:
        valid.append(f"from {show.moment(price.valid_from_us, context.zone)}")
    if price.valid_to_us < FAR_FUTURE_US:
        valid.append(f"until {show.moment(price.valid_to_us, context.zone)}")
    return (
        Fact("Source of the price", f"{price.source} ({price.status})"),
        Fact("Terms", price.ctx or "standard"),
        Fact("Holds", " ".join(valid) or "always"),
    )


def price_facts(context: Context, detail: RequestDetail) -> tuple[Fact, ...]:
    """Which price was taken, from where, and what other prices are known."""
    facts = detail.facts
    reported = facts["cost_reported_pusd"]
    found = [
        Fact("Price row", facts["price_row"] or "none", href=_book_page(facts["price_row"])),
        *_row_facts(context, detail),
        Fact("Price book", facts["price_book"] or "none", href=PRICES if facts["price_book"] else ""),
        Fact("Billing of the source", BILLINGS.get(detail.billing, detail.billing), href=SOURCES),
    ]
    if facts["cost_list_pusd"] is not None and facts["cost_list_pusd"] != facts["cost_pusd"]:
        found.append(Fact("At list price", show.exact_money(facts["cost_list_pusd"])))
    if reported is not None:
        found.append(Fact("Reported by the source", show.exact_money(reported)))
    return tuple(found)


def _book_page(price_row: str | None) -> str:
    """Where every rate of the model of a price row stands with its source."""
    return f"{PRICES}?{urlencode({'q': price_row.partition('@')[0]})}" if price_row else ""


def _also_told_by(detail: RequestDetail) -> str | None:
    """The other sources of a request that was counted once."""
    others = [origin for origin in detail.origins if origin.source != detail.facts["source"]]
    named = [
        f"{one.source} ({one.file}, line {show.count(one.line)})" if one.file and one.line is not None else one.source
        for one in others
    ]
    return "; ".join(named) or None


def facts_of(context: Context, detail: RequestDetail) -> tuple[Fact, ...]:
    """The record of the request: what is unknown is left out."""
    facts: dict[str, Any] = dict(detail.facts)
    origin = facts["origin_file"]
    if origin is not None and facts["origin_line"] is not None:
        origin = f"{origin}, line {show.count(facts['origin_line'])}"
    assigned = detail.assignment
    rule = "nothing says" if assigned is None or assigned.rule == "none" else f"by {assigned.rule}"
    listed = [
        ("Status", _status(facts)),
        ("Feature", f"{detail.row.feature} ({rule})"),
        ("Team, environment", None if assigned is None else f"{assigned.team}, {assigned.environment}"),
        ("Provider", facts["provider"]),
        ("Model as sent", facts["model"]),
        ("Model as priced", facts["model_id"]),
        ("Service tier", facts["service_tier"]),
        ("Batch", "yes" if facts["is_batch"] else "no"),
        ("Calls in this row", _calls(facts["calls_summed"])),
        ("Streamed", {True: "yes", False: "no", None: None}[facts["stream"]]),
        ("Started", show.precise_moment(facts["start_us"], context.zone)),
        ("Duration", show.duration(detail.row.duration_us)),
        ("Finish reason", facts["finish_reason"]),
        ("Largest answer allowed", None if facts["max_tokens"] is None else show.count(facts["max_tokens"])),
        ("Temperature", None if facts["temperature"] is None else f"{facts['temperature']:g}"),
        ("API key", facts["api_key_alias"]),
        ("Account", facts["account"]),
        ("Session", facts["session_id"]),
        ("Trace", facts["trace_id"]),
        ("Provider's id", facts["provider_response_id"]),
        ("Source", facts["source"]),
        ("Read from", origin),
        ("Also told by", _also_told_by(detail)),
        ("Tags", _tags(facts["tags"])),
        ("Error", facts["error"]),
        ("Warnings", facts["warnings"]),
    ]
    return tuple(Fact(label, str(value)) for label, value in listed if value is not None)


def _calls(summed: int | None) -> str | None:
    """How many calls a row sums; None for the usual row, which is one."""
    if summed is None:
        return None
    return f"{show.count(summed)}, summed" if summed else "several, summed; the record does not say how many"


def _tags(text: str | None) -> str | None:
    """Tags as `name: value`; text that is no JSON object is shown as it is."""
    if text is None:
        return None
    try:
        tags = json.loads(text)
    except ValueError:
        return text
    return ", ".join(f"{name}: {value}" for name, value in tags.items()) if isinstance(tags, dict) else text


def _status(facts: dict[str, Any]) -> str:
    code = facts["http_status"]
    return str(facts["status"]) if code is None else f"{facts['status']} ({code})"
