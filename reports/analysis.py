"""The document of `halve analyze`: one frozen value, made of spend answers and a plan, printed as JSON or as text.

Amounts are decimal USD text of the window; None is unknown, never "0". Rows of `by_model` and `by_feature` add up to
the totals exactly. The shape is documented in docs/commands.md and its name is `SCHEMA`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.analysis import alike_logs, overlap, spend
from app.analysis import coverage as covered
from app.analysis.bill_share import from_bills, kept_apart, valued_from_bills, whole_days, without_rate
from app.analysis.days import EVERYTHING, local_days
from app.analysis.figures import known_sum
from app.analysis.missing_prices import reasons, reasons_of
from app.analysis.reconciled_share import reconciled_share
from app.core.money import usd_text
from app.core.usage import TOKEN_CLASSES
from app.plan.result import plan_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.analysis.coverage import UnpricedModel
    from app.analysis.figures import Figures
    from app.analysis.missing_prices import Reasons
    from app.core.view import View
    from app.plan.result import PlanResult
    from app.warehouse.store import Session

SCHEMA: Final = "halve.analyze/1"
MOST_EXAMPLES: Final = 3
MAX_ROWS: Final = 1_000_000
"""Every model and feature has a row; a program that wants fewer can cut."""


@dataclass(frozen=True, slots=True)
class Span:
    """The time that the document speaks of. ISO 8601 in UTC; None where no request has a time.

    `days` counts the local days of `zone` that it touches; `undated` requests carry no time but are part of the sums.
    """

    from_: str | None
    to: str | None
    days: int
    zone: str
    undated: int


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the truth the document holds: shares of tokens with a price, of spend without a feature, and of a
    provider's bill for which requests stand (None until a bill of the time was read). `from_bills_usd` is the part of
    the cost that stands on bills alone, of days and accounts of which nothing was logged; `from_bills_valued_usd` the
    part of that whose cost is not on the bill yet, at the price book's rates.
    """

    priced_share: float | None
    untagged_share: float | None
    reconciled_share: float | None = None
    from_bills_usd: str | None = None
    from_bills_valued_usd: str | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Requests and tokens (None where unknown) that lack a part or all of a price, the names of their models, and why
    each lacks it.
    """

    requests: int
    tokens: int | None
    models: tuple[str, ...]
    details: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One model or feature. Parts add up to `cost_usd`; tokens by class as in the document's own `tokens`."""

    name: str
    requests: int
    cost_usd: str | None
    input_usd: str | None
    cache_read_usd: str | None
    cache_write_usd: str | None
    output_usd: str | None
    reasoning_usd: str | None
    other_usd: str | None
    cost_per_request_usd: str | None
    unpriced_requests: int
    tokens: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Requests of a source that are in no sum, because `counted_source` tells of the same calls."""

    source: str
    counted_source: str
    requests: int
    cost_usd: str | None


@dataclass(frozen=True, slots=True)
class WithoutRate:
    """What bills charge in a currency without an exchange rate: in no sum of dollars."""

    currency: str
    amount: str


@dataclass(frozen=True, slots=True)
class OtherServices:
    """What bills charge for services of a provider that are no models: in no sum, None without an exchange rate."""

    provider: str
    cost_usd: str | None


@dataclass(frozen=True, slots=True)
class AnalysisDocument:
    """See the module; `plan` and `levers_data` are those of app.plan, empty where no plan was made.

    `basis` is None where the window holds neither a request nor what a bill says of models.
    `rejected_examples` say "file:line: reason" of the first few rejected records, `alike_logs` which logs of one source
    look as if they told of the same calls.
    """

    window: Span
    currency: str
    basis: str | None
    price_book: str | None
    coverage: Share
    requests: int
    cost_usd: str | None
    paid_usd: str | None
    tokens: Mapping[str, int | None]
    unpriced: Unpriced
    rejected: int
    rejected_examples: tuple[str, ...]
    by_model: tuple[Row, ...]
    by_feature: tuple[Row, ...]
    levers_data: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] | None = None
    held_out: tuple[HeldOut, ...] = ()
    other_services: tuple[OtherServices, ...] = ()
    without_rate: tuple[WithoutRate, ...] = ()
    alike_logs: tuple[str, ...] = ()


def build(
    session: Session,
    view: View,
    *,
    plan: PlanResult | None = None,
    rejected: int = 0,
    rejected_examples: Sequence[str] = (),
) -> AnalysisDocument:
    """The document of a view (its period and filters); `rejected` counts records that could not be read, of which
    `rejected_examples` name some.
    """
    total = spend.totals(session, view)
    cover = covered.coverage(session, view)
    basis = covered.known_basis(session, view)
    return AnalysisDocument(
        window=_span(session, view, cover.undated),
        currency="USD",
        basis=basis,
        price_book=plan.price_book if plan is not None else spend.price_book(session),
        coverage=Share(
            _rounded(cover.priced_share),
            _rounded(cover.untagged_share),
            _rounded(reconciled_share(session, view.period)),
            usd_text(from_bills(session, view)),
            usd_text(valued_from_bills(session, view)),
        ),
        requests=total.requests,
        cost_usd=usd_text(total.cost_pusd),
        paid_usd="0" if basis == "list-price value" else usd_text(total.paid_pusd),
        tokens=_tokens(total),
        unpriced=_unpriced(cover.unpriced, reasons(session, view)),
        rejected=rejected,
        rejected_examples=tuple(rejected_examples[:MOST_EXAMPLES]),
        by_model=_rows(session, view, "model"),
        by_feature=_rows(session, view, "feature"),
        levers_data={} if plan is None else plan.levers_data,
        plan=None if plan is None else plan_document(plan),
        held_out=tuple(
            HeldOut(one.source, one.counted, one.requests, usd_text(one.cost_pusd)) for one in overlap.held(session)
        ),
        other_services=tuple(OtherServices(provider, usd_text(pusd)) for provider, pusd in kept_apart(session, view)),
        without_rate=tuple(WithoutRate(currency, f"{cost:f}") for currency, cost in without_rate(session, view)),
        alike_logs=tuple(one.text() for one in alike_logs.find(session)),
    )


def document(made: AnalysisDocument) -> dict[str, Any]:
    """The JSON object of a document: plain values, keys in their documented order."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(made))
    window = plain.pop("window")
    return {"schema": SCHEMA, "window": {"from": window.pop("from_"), **window}, **plain}


def _rows(session: Session, view: View, dimension: str) -> tuple[Row, ...]:
    return tuple(
        Row(
            name=row.name,
            requests=row.figures.requests,
            cost_usd=usd_text(row.figures.cost_pusd),
            cost_per_request_usd=_per_request(row.figures),
            unpriced_requests=row.figures.requests_unpriced,
            tokens=_tokens(row.figures),
            input_usd=usd_text(row.figures.parts["input_pusd"]),
            cache_read_usd=usd_text(row.figures.parts["cache_read_pusd"]),
            cache_write_usd=usd_text(row.figures.parts["cache_write_pusd"]),
            output_usd=usd_text(row.figures.parts["output_pusd"]),
            reasoning_usd=usd_text(row.figures.parts["reasoning_pusd"]),
            other_usd=usd_text(row.figures.parts["other_pusd"]),
        )
        for row in spend.ranking(session, view, by=dimension, top=MAX_ROWS).rows
    )


def _tokens(figures: Figures) -> dict[str, int | None]:
    return {name.removeprefix("tok_"): figures.tokens.get(name) for name in TOKEN_CLASSES}


def _per_request(figures: Figures) -> str | None:
    return usd_text(figures.cost_per_request_pusd)


def _unpriced(models: tuple[UnpricedModel, ...], known: Reasons) -> Unpriced:
    why = [reasons_of(item, known) for item in models]
    return Unpriced(
        sum(item.requests for item in models),
        known_sum(item.tokens for item in models) if models else 0,
        tuple(dict.fromkeys(item.model for item in models)),
        tuple(
            {
                "provider": item.provider,
                "model": item.model,
                "cost_state": item.cost_state,
                "requests": item.requests,
                "tokens": item.tokens,
                "unreadable": given.get("bad_number", 0),
                "reasons": dict(given),
            }
            for item, given in zip(models, why, strict=True)
        ),
    )


def _rounded(share: float | None) -> float | None:
    """Six digits, rounded down: a share of 1 means that nothing at all is missing."""
    return None if share is None else float(Decimal(share).quantize(Decimal("0.000001"), rounding="ROUND_DOWN"))


def _span(session: Session, view: View, undated: int) -> Span:
    zone = view.period.zone
    if view.period.name != EVERYTHING:
        from_us, to_us = view.period.from_us, view.period.to_us
        return Span(_iso(from_us), _iso(to_us), len(local_days(from_us, to_us, zone)), zone, 0)
    found = spend.extent(session)
    if found is None:
        return Span(None, None, 0, zone, undated)
    first, last = found
    from_us, to_us = whole_days(session, first, last)
    return Span(_iso(from_us), _iso(to_us), len(local_days(first, last + 1, zone)), zone, undated)


def _iso(us: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
    return moment.isoformat().replace("+00:00", "Z")
