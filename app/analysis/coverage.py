"""How much of the truth the figures hold: priced share, untagged share, what has no price, how fresh each source is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.analysis.scope import spend_scope
from app.core.view import latest_us

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.core.view import View
    from app.warehouse.store import Session

_RECENT_US = 7 * 24 * 3_600_000_000


@dataclass(frozen=True, slots=True)
class UnpricedModel:
    """A model of which a part or all has no price: its requests that lack one, and their tokens, None where unknown."""

    provider: str
    model: str
    cost_state: str
    requests: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the sums of a view do and do not cover.

    Shares are None where there is nothing to divide by. Untagged are requests whose feature no tag and no rule gives
    (a template or nothing does). Dollars are None where there are requests and none of them has a known cost.
    `undated` requests carry no time and stand in no calendar period.
    """

    requests: int
    tokens: int
    requests_priced: int
    tokens_priced: int
    unpriced: tuple[UnpricedModel, ...]
    untagged_requests: int
    untagged_pusd: int | None
    cost_pusd: int | None
    undated: int

    @property
    def priced_share(self) -> float | None:
        """Share of all tokens that have a whole price."""
        return self.tokens_priced / self.tokens if self.tokens else None

    @property
    def untagged_share(self) -> float | None:
        """Share of spend without a tag or rule, None where what that part costs is unknown; of requests where nothing
        has a cost.
        """
        if self.cost_pusd:
            return None if self.untagged_pusd is None else self.untagged_pusd / self.cost_pusd
        return self.untagged_requests / self.requests if self.requests else None


@dataclass(frozen=True, slots=True)
class SourceFreshness:
    """One source: what it is, how much of it is here and up to when. Times are microseconds UTC."""

    source: str
    format: str | None
    billing: str
    billing_said_by: str | None
    requests: int
    first_us: int | None
    last_us: int | None
    undated: int
    requests_unpriced: int
    cost_pusd: int | None


def coverage(session: Session, view: View) -> Coverage:
    """Priced and untagged share of the view, and every model that lacks a price."""
    scope = spend_scope(session, view, "feature", "model")
    facts = {"facts": scope.relation}
    row = session.rows("spend.coverage", facts, **scope.range)[0]
    unpriced = tuple(
        UnpricedModel(str(provider), str(model), str(state), int(requests), None if tokens is None else int(tokens))
        for provider, model, state, requests, tokens in session.rows("spend.unpriced", facts, **scope.range)
    )
    requests, tokens, requests_priced, tokens_priced, untagged = (int(cell) for cell in row[:5])
    untagged_pusd, cost = (None if cell is None else int(cell) for cell in row[5:])
    return Coverage(
        requests,
        tokens,
        requests_priced,
        tokens_priced,
        unpriced,
        untagged,
        untagged_pusd if untagged else untagged_pusd or 0,
        cost if requests else cost or 0,
        int(session.rows("spend.undated")[0][0]),
    )


def priced(session: Session, view: View) -> tuple[float | None, int]:
    """Share of the tokens of a view that have a whole price (None without tokens), and its requests that have none."""
    scope = spend_scope(session, view, "feature")
    row = session.rows("spend.coverage", {"facts": scope.relation}, **scope.range)[0]
    requests, tokens, requests_priced, tokens_priced = (int(cell) for cell in row[:4])
    return (tokens_priced / tokens if tokens else None), requests - requests_priced


def freshness(session: Session) -> tuple[SourceFreshness, ...]:
    """Every source that is configured or has requests, by name."""
    return tuple(
        SourceFreshness(
            str(source),
            None if format_ is None else str(format_),
            str(billing),
            None if said_by is None else str(said_by),
            int(requests),
            None if first is None else int(first),
            None if last is None else int(last),
            int(undated),
            int(unpriced),
            None if cost is None else int(cost),
        )
        for source, format_, billing, said_by, requests, first, last, undated, unpriced, cost in session.rows(
            "sources.freshness"
        )
    )


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the logs go: all live sources are complete to `complete_us`, where `slowest` ends; the newest request of
    any is at `newest_us`. `silent` sources sent nothing in the newest week, and do not count as late. Microseconds UTC.
    """

    complete_us: int
    slowest: str
    newest_us: int
    silent: tuple[str, ...]


def reach(last: Mapping[str, int]) -> Reach | None:
    """The reach of sources by their last requests (source -> microseconds UTC); None without any."""
    if not last:
        return None
    newest = max(last.values())
    alive = {source: at_us for source, at_us in last.items() if at_us > newest - _RECENT_US}
    complete, slowest = min((at_us, source) for source, at_us in alive.items())
    return Reach(complete, slowest, newest, tuple(sorted(last.keys() - alive.keys())))


def reach_of(session: Session, now_us: int) -> Reach | None:
    """The reach of everything in the store; calls dated after now count only where there are no others."""
    rows = session.rows("sources.newest", before_us=latest_us(now_us))
    believed = {str(source): int(last) for source, last, _ in rows if last is not None}
    return reach(believed or {str(source): int(last) for source, _, last in rows})


def basis(session: Session, view: View) -> str:
    """What the dollars of a view mean: "paid", "list-price value", or "mixed" where sources differ.

    Only sources billed by a provider's API are paid. Where the view holds nothing it is "paid": nothing contradicts it.
    """
    return known_basis(session, view) or "paid"


def known_basis(session: Session, view: View) -> str | None:
    """The same; None where the view holds neither a request nor a model's usage or cost on a bill."""
    scope = spend_scope(session, view, "source")
    kinds = {str(row[0]) for row in session.rows("spend.billing", {"facts": scope.relation}, **scope.range)}
    if not kinds:
        return None
    if kinds == {"api"}:
        return "paid"
    return "mixed" if "api" in kinds else "list-price value"
