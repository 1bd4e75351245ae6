"""One request in full: what was billed and why, prefill against decode, where it came from, what stood around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.analysis.requests import RequestRow, rows_of
from app.analysis.token_fits import fit_of
from app.core.errors import NotFoundError
from app.core.usage import COST_PARTS, TOKEN_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from app.analysis.token_fits import TokenFit
    from app.warehouse.store import Session

PART_OF_CLASS = {
    "tok_input": "input_pusd",
    "tok_input_audio": "input_pusd",
    "tok_input_image": "input_pusd",
    "tok_cache_read": "cache_read_pusd",
    "tok_cache_read_audio": "cache_read_pusd",
    "tok_cache_write_5m": "cache_write_pusd",
    "tok_cache_write_30m": "cache_write_pusd",
    "tok_cache_write_1h": "cache_write_pusd",
    "tok_cache_write_12h": "cache_write_pusd",
    "tok_output": "output_pusd",
    "tok_output_audio": "output_pusd",
    "tok_output_image": "output_pusd",
    "tok_reasoning": "reasoning_pusd",
}
"""Which cost part a token class is charged in."""

_SECOND_US = 1_000_000
_MAX_SEGMENTS = 500
_NEIGHBOURS = 5


@dataclass(frozen=True, slots=True)
class Charge:
    """One token class of a request: tokens x rate = dollars.

    `rate_pusd` is pico-USD a token as the price row has it (USD per million tokens x 1,000,000); None where the price
    row is not known. `amount_pusd` is the class's own share only where no other class of the request falls into the
    same cost part, else None: parts are stored, classes are not.
    """

    token_class: str
    tokens: int
    part: str
    rate_pusd: Decimal | None
    amount_pusd: int | None


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The row of the price book that priced a request.

    `rates` maps token classes, and `fees` units (web_search, request, ...), to pico-USD each; only known ones are in.
    `ctx` is '' for standard terms, else batch, flex, a region, a contract. Validity is half-open, microseconds UTC.
    """

    price_row: str
    book: str
    provider: str
    model: str
    ctx: str
    valid_from_us: int
    valid_to_us: int
    source: str
    status: str
    rates: Mapping[str, Decimal]
    fees: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Phases:
    """Prefill (reading the prompt, until the first token) beside decode (writing the answer token by token).

    `tpot_us` is the time per output token after the first, `tokens_per_second` all answer tokens over the decode time.
    """

    prefill_pusd: int | None
    ttft_us: int | None
    tokens_in: int | None
    decode_pusd: int | None
    decode_us: int | None
    tokens_out: int | None
    tpot_us: float | None
    tokens_per_second: float | None


@dataclass(frozen=True, slots=True)
class BilledPart:
    """One separately billed part of a response."""

    part: int
    model: str | None
    tokens: Mapping[str, int | None]
    cost_pusd: int | None
    price_row: str | None


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of the prompt: its place, size and the billed prompt tokens up to its end."""

    pos: int
    role: str
    kind: str
    seg_hash: int
    bytes: int
    bytes_upto: int
    tokens_upto: int | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """The latest attribution; `rule` is tag, rule:<name>, template or none."""

    feature: str
    team: str
    environment: str
    template: int | None
    rule: str
    version: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one of several sources told of a request."""

    source: str
    source_record: str | None
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """Everything known of one request.

    `facts` holds every column of `requests` by its name. `parts` are the six cost parts; they add up to the cost.
    `token_fit` says how its model's segments were placed, None where nothing was analysed.
    `before` and `after` are its neighbours in the session, nearest first. `origins` are all sources that told of it,
    none where only one did.
    """

    row: RequestRow
    facts: Mapping[str, Any]
    billing: str
    parts: Mapping[str, int | None]
    charges: tuple[Charge, ...]
    price: PriceRow | None
    phases: Phases
    billed_parts: tuple[BilledPart, ...]
    segments: tuple[Segment, ...]
    token_fit: TokenFit | None
    assignment: Assignment | None
    before: tuple[RequestRow, ...]
    after: tuple[RequestRow, ...]
    origins: tuple[Origin, ...]


def request_detail(session: Session, request_key: int) -> RequestDetail:
    """One request by its key.

    Raises:
        NotFoundError: no such request.
    """
    found = session.frame("requests.one", request_key=request_key).to_dicts()
    if not found:
        raise NotFoundError(
            f"No request {request_key} is in the warehouse. It may have been removed by retention; open the list."
        )
    facts = found[0]
    row = rows_of(session, [request_key])[0]
    billing = session.rows("requests.billing", source=row.source, service_tier=facts["service_tier"] or "")
    before, after = _neighbours(session, facts)
    price = _price_row(session, facts)
    return RequestDetail(
        row=row,
        facts=facts,
        billing=str(billing[0][0]) if billing and billing[0][0] is not None else "unknown",
        parts={name: facts[name] for name in COST_PARTS},
        charges=charges(facts, {} if price is None else price.rates),
        price=price,
        phases=phases(facts, row),
        billed_parts=_billed_parts(session, request_key),
        segments=tuple(
            Segment(*cells) for cells in session.rows("requests.segments", request_key=request_key, limit=_MAX_SEGMENTS)
        ),
        token_fit=fit_of(session, facts["model_id"]),
        assignment=_assignment(session, request_key),
        before=before,
        after=after,
        origins=tuple(Origin(*cells) for cells in session.rows("requests.origins", request_key=request_key)),
    )


def model_sent(session: Session, request_key: int) -> str | None:
    """The model of a request as its caller named it; None where the request or the name is not known."""
    found = session.frame("requests.one", request_key=request_key).to_dicts()
    return found[0]["model"] if found else None


def charges(facts: Mapping[str, Any], rates: Mapping[str, Decimal]) -> tuple[Charge, ...]:
    """The token classes of a request with tokens in them, in the order of the record."""
    used = [name for name in TOKEN_CLASSES if facts[name]]
    alone = {part for part in COST_PARTS if sum(PART_OF_CLASS[name] == part for name in used) == 1}
    return tuple(
        Charge(
            name,
            int(facts[name]),
            PART_OF_CLASS[name],
            rates.get(name),
            facts[PART_OF_CLASS[name]] if PART_OF_CLASS[name] in alone else None,
        )
        for name in used
    )


def phases(facts: Mapping[str, Any], row: RequestRow) -> Phases:
    """Prefill and decode of a request, each figure None where the log lacks a time or a price for it."""
    alone = facts["calls_summed"] is None  # several calls together have no first token, and no speed
    first, end = (facts["first_token_us"], facts["end_us"]) if alone else (None, None)
    decode_us = None if first is None or end is None or end < first else int(end - first)
    out = row.tokens_out
    timed = decode_us is not None and decode_us > 0 and out is not None
    return Phases(
        prefill_pusd=_sum(facts, "input_pusd", "cache_read_pusd", "cache_write_pusd"),
        ttft_us=row.ttft_us,
        tokens_in=row.tokens_in,
        decode_pusd=_sum(facts, "output_pusd", "reasoning_pusd"),
        decode_us=decode_us,
        tokens_out=out,
        tpot_us=decode_us / (out - 1) if timed and decode_us and out and out > 1 else None,
        tokens_per_second=out * _SECOND_US / decode_us if timed and decode_us and out else None,
    )


def _price_row(session: Session, facts: Mapping[str, Any]) -> PriceRow | None:
    if facts["price_row"] is None:
        return None
    found = session.frame("requests.price_row", price_row=facts["price_row"], book=facts["price_book"]).to_dicts()
    if not found:
        return None
    row = found[0]
    known = {
        name.removeprefix("r_"): value for name, value in row.items() if name.startswith("r_") and value is not None
    }
    classes = {name.removeprefix("tok_") for name in TOKEN_CLASSES}
    return PriceRow(
        price_row=row["price_row"],
        book=row["book"],
        provider=row["provider"],
        model=row["price_model"],
        ctx=row["ctx"],
        valid_from_us=row["valid_from_us"],
        valid_to_us=row["valid_to_us"],
        source=row["source"],
        status=row["status"],
        rates={f"tok_{name}": rate for name, rate in known.items() if name in classes},
        fees={name: rate for name, rate in known.items() if name not in classes},
    )


def _sum(facts: Mapping[str, Any], *names: str) -> int | None:
    known = [int(facts[name]) for name in names if facts[name] is not None]
    return sum(known) if known else None


def _billed_parts(session: Session, request_key: int) -> tuple[BilledPart, ...]:
    rows = session.frame("requests.parts", request_key=request_key).to_dicts()
    return tuple(
        BilledPart(
            row["part"],
            row["model_id"],
            {name: row[name] for name in TOKEN_CLASSES if name in row},
            row["cost_pusd"],
            row["price_row"],
        )
        for row in rows
    )


def _assignment(session: Session, request_key: int) -> Assignment | None:
    rows = session.rows("requests.assignment", request_key=request_key)
    return Assignment(*rows[0]) if rows else None


def _neighbours(session: Session, facts: Mapping[str, Any]) -> tuple[tuple[RequestRow, ...], tuple[RequestRow, ...]]:
    if facts["session_id"] is None or facts["start_us"] is None:
        return (), ()
    rows = session.rows(
        "requests.neighbours",
        request_key=facts["request_key"],
        session_id=facts["session_id"],
        start_us=facts["start_us"],
        most=_NEIGHBOURS,
    )
    before = [int(key) for key, side in rows if side == "before"]
    after = [int(key) for key, side in rows if side == "after"]
    return rows_of(session, before), rows_of(session, after)
