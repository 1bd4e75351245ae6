"""One request: why it cost what it cost, prefill beside decode, what it was and what stood around it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Final

from app.analysis.request_detail import request_detail
from app.analysis.token_checks import placed
from app.core.errors import NotFoundError
from app.plan import store as plan_store
from app.web import cells, overlapping, plans
from app.web import format as show
from app.web.facts import Fact
from app.web.page import Content, Context, Link, Page
from app.web.request_facts import facts_of, price_facts, state_text
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.analysis.request_detail import Charge, Phases, RequestDetail
    from app.analysis.requests import RequestRow

CLASS_LABELS: Final = {
    "tok_input": "Input",
    "tok_cache_read": "Input read from cache",
    "tok_cache_write_5m": "Input written to cache, 5 minutes",
    "tok_cache_write_30m": "Input written to cache, 30 minutes",
    "tok_cache_write_1h": "Input written to cache, 1 hour",
    "tok_cache_write_12h": "Input written to cache, 12 hours",
    "tok_input_audio": "Audio input",
    "tok_cache_read_audio": "Audio input read from cache",
    "tok_input_image": "Image input",
    "tok_output": "Output",
    "tok_reasoning": "Reasoning",
    "tok_output_audio": "Audio output",
    "tok_output_image": "Image output",
}
PART_LABELS: Final = {
    "input_pusd": "Input",
    "cache_read_pusd": "Cache read",
    "cache_write_pusd": "Cache write",
    "output_pusd": "Output",
    "reasoning_pusd": "Reasoning",
    "other_pusd": "Searches, calls, fees",
}


@dataclass(frozen=True, slots=True)
class Side:
    """Prefill or decode: its dollars and its times."""

    name: str
    does: str
    cost: str
    share: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Model:
    subtitle: str
    cost: str
    state: str
    price: tuple[Fact, ...]
    sides: tuple[Side, ...]
    why: str
    facts: tuple[Fact, ...]
    findings: tuple[Link, ...]
    back: str


def build(context: Context) -> Content:
    """The page of the request whose key stands in the address."""
    number = show.key_number(context.path["key"])
    if number is None:
        raise NotFoundError(
            "No request has this key. A key is 16 hexadecimal digits, as the list of requests links it."
        )
    detail = request_detail(context.session, number)
    return Content(
        f"Request {context.path['key'][:8]}",
        model=Model(
            subtitle=f"{detail.row.model} · {detail.row.feature} · "
            f"{show.precise_moment(detail.row.start_us, context.zone)}",
            cost=show.exact_money(detail.row.cost_pusd),
            state=state_text(detail),
            price=price_facts(context, detail),
            sides=_sides(detail.phases, detail.row.cost_pusd),
            why=_why(detail),
            facts=facts_of(context, detail),
            findings=_findings(context, number),
            back=context.url("/requests"),
        ),
        notices=overlapping.notices(context, number),
        tables=(_cost_table(detail), *_around_table(context, detail), *_prompt_table(detail), *_billed_table(detail)),
    )


def _findings(context: Context, number: int) -> tuple[Link, ...]:
    """The findings of the newest plan that show this request as an example."""
    named = set(plan_store.findings_of(context.deps.warehouse, number))
    plan = plans.current(context) if named else None
    if plan is None:
        return ()
    return tuple(
        Link(f"{item.headline} ({plans.where(item)})", context.url(f"/savings/{item.fingerprint}"))
        for item in plan.findings
        if item.fingerprint in named
    )


def _cost_table(detail: RequestDetail) -> Table:
    charged = [_charge_row(charge) for charge in detail.charges]
    other = detail.parts.get("other_pusd")
    if other:
        charged.append(
            (cells.text(PART_LABELS["other_pusd"]), cells.count(None), cells.text(None), cells.money(other, exact=True))
        )
    return Table(
        "cost",
        "Why this cost?",
        (
            Column("class", "Token class", width="mid"),
            Column("tokens", "Tokens", "number"),
            Column("usd_per_million_tokens", "× rate per million", "number"),
            Column("cost_usd", "= Cost", "number"),
        ),
        tuple(charged),
        total=(
            cells.text("Total"),
            cells.count(sum(charge.tokens for charge in detail.charges)),
            Cell(None, ""),
            cells.money(detail.row.cost_pusd, exact=True),
        ),
        empty="The log of this request holds no tokens.",
    )


def _charge_row(charge: Charge) -> tuple[Cell, ...]:
    rate = None if charge.rate_pusd is None else str(charge.rate_pusd / 1_000_000)
    return (
        cells.text(CLASS_LABELS[charge.token_class]),
        cells.count(charge.tokens),
        Cell(rate, show.rate(charge.rate_pusd)),
        cells.money(_amount(charge), exact=True),
    )


def _amount(charge: Charge) -> int | None:
    """What a class cost: stored where it stands alone in its part, else tokens x rate rounded as the part was."""
    if charge.amount_pusd is not None or charge.rate_pusd is None:
        return charge.amount_pusd
    return int((Decimal(charge.tokens) * charge.rate_pusd).to_integral_value(ROUND_HALF_EVEN))


def _sides(phases: Phases, cost_pusd: int | None) -> tuple[Side, ...]:
    speed = phases.tokens_per_second
    return (
        Side(
            "Prefill",
            "reads the whole prompt, all its tokens side by side",
            show.exact_money(phases.prefill_pusd),
            show.share(phases.prefill_pusd, cost_pusd),
            (
                Fact("Prompt tokens", show.count(phases.tokens_in)),
                Fact("Time to first token", show.duration(phases.ttft_us)),
                Fact("Dollars a million tokens", _mean_rate(phases.prefill_pusd, phases.tokens_in)),
            ),
        ),
        Side(
            "Decode",
            "writes the answer, one token after the other",
            show.exact_money(phases.decode_pusd),
            show.share(phases.decode_pusd, cost_pusd),
            (
                Fact("Answer tokens", show.count(phases.tokens_out)),
                Fact("Time per output token", show.duration(phases.tpot_us)),
                Fact("Tokens a second", show.UNKNOWN if speed is None else f"{speed:,.1f}"),
                Fact("Dollars a million tokens", _mean_rate(phases.decode_pusd, phases.tokens_out)),
            ),
        ),
    )


def _mean_rate(pusd: int | None, tokens: int | None) -> str:
    return show.UNKNOWN if pusd is None or not tokens else show.money(Decimal(pusd) / tokens / 1_000_000)


def _why(detail: RequestDetail) -> str:
    phases = detail.phases
    general = (
        "Prefill computes all prompt tokens in one pass, so the hardware is busy and a token is cheap; decode needs a "
        "whole pass through the model for each single token of the answer and waits for memory most of the time. "
        "That is why providers charge several times more for output than for input."
    )
    if not phases.prefill_pusd or not phases.decode_pusd or not phases.tokens_in or not phases.tokens_out:
        return general
    times = Decimal(phases.decode_pusd) / phases.tokens_out / (Decimal(phases.prefill_pusd) / phases.tokens_in)
    return f"{general} Here an answer token cost {times:,.1f} times as much as a prompt token."


def _around_table(context: Context, detail: RequestDetail) -> tuple[Table, ...]:
    around = [*reversed(detail.before), detail.row, *detail.after]
    if len(around) == 1:
        return ()
    return (
        Table(
            "session",
            "Around it in the session",
            (
                Column("key", "Request", width="tight"),
                Column("start", "Start", width="tight"),
                Column("status", "Status", width="tight"),
                Column("tokens_in", "Input", "number"),
                Column("tokens_cached", "Cached", "number"),
                Column("tokens_out", "Output", "number"),
                Column("cost_usd", "Cost", "number"),
            ),
            tuple(_around_row(context, row, here=row is detail.row) for row in around),
        ),
    )


def _around_row(context: Context, row: RequestRow, *, here: bool) -> tuple[Cell, ...]:
    key = show.key_text(row.request_key)
    return (
        Cell(key, key[:8], href="" if here else context.url(f"/requests/{key}"), note="this one" if here else ""),
        Cell(show.iso_moment(row.start_us), show.precise_moment(row.start_us, context.zone)),
        cells.text(row.status),
        cells.count(row.tokens_in),
        cells.count(row.tok_cache_read),
        cells.count(row.tokens_out),
        cells.unit_money(row.cost_pusd),
    )


def _prompt_table(detail: RequestDetail) -> tuple[Table, ...]:
    if not detail.segments:
        return ()
    return (
        Table(
            "prompt",
            "Parts of the prompt",
            (
                Column("pos", "Place", "number"),
                Column("role", "Role"),
                Column("kind", "Kind"),
                Column("bytes", "Bytes", "number"),
                Column("tokens_upto", "Tokens up to its end", "number", "Billed prompt tokens, cut at this place"),
                Column("hash", "Fingerprint"),
            ),
            tuple(
                (
                    cells.count(segment.pos),
                    cells.text(segment.role),
                    cells.text(segment.kind),
                    cells.count(segment.bytes),
                    cells.count(segment.tokens_upto),
                    Cell(show.key_text(segment.seg_hash), show.key_text(segment.seg_hash)),
                )
                for segment in detail.segments
            ),
            frame_note="Equal fingerprints are equal parts. The text itself is not shown here. "
            + placed(detail.token_fit),
        ),
    )


def _billed_table(detail: RequestDetail) -> tuple[Table, ...]:
    if not detail.billed_parts:
        return ()
    return (
        Table(
            "parts",
            "Billed as several",
            (
                Column("part", "Part", "number"),
                Column("model", "Model"),
                Column("tokens", "Tokens", "number"),
                Column("cost_usd", "Cost", "number"),
                Column("price_row", "Price row"),
            ),
            tuple(
                (
                    cells.count(part.part),
                    cells.text(part.model),
                    cells.count(sum(value for value in part.tokens.values() if value)),
                    cells.money(part.cost_pusd, exact=True),
                    cells.text(part.price_row),
                )
                for part in detail.billed_parts
            ),
        ),
    )


PAGE = Page(
    name="request",
    path="/requests/{key}",
    twin="/requests/{key}",
    nav="",
    build=build,
    uses_view=False,
    section="requests",
)
