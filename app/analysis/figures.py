"""What every spend question answers with: requests, tokens by class, money by part. None is unknown, never zero."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.core.usage import COST_PARTS, INPUT_CLASSES, OUTPUT_CLASSES, TOKEN_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums over a set of requests.

    Attributes:
        requests: attempts, whatever became of them.
        tokens: token class (`tok_*` of app.core.usage) -> sum, None where no request says.
        parts: cost part (`*_pusd` of app.core.usage) -> pico-USD; parts add up to `cost_pusd`.
        cost_pusd: paid and list-price value together, the figure that all views add up to; None where nothing has
            a price. Requests without one are counted in `requests_unpriced`, not in here.
        paid_pusd: the part of it whose source is billed by the provider's API; None where nothing of that has a price.
        reported_pusd: what the sources themselves reported, where they did.
        requests_priced / requests_unpriced: with a whole price (or known not to be billed) / with a part or all of it
            missing, or without usage.
        tokens_all / tokens_priced: all classes, None where no request says any / of the requests with a whole price.
        bill_requests, bill_tokens, bill_pusd: what of requests, tokens_all and cost stands on bills alone.
    """

    requests: int
    tokens: Mapping[str, int | None] = field(default_factory=dict)
    parts: Mapping[str, int | None] = field(default_factory=dict)
    cost_pusd: int | None = None
    paid_pusd: int | None = None
    list_pusd: int | None = None
    reported_pusd: int | None = None
    requests_priced: int = 0
    requests_unpriced: int = 0
    tokens_all: int | None = 0
    tokens_priced: int = 0
    bill_requests: int = 0
    bill_tokens: int = 0
    bill_pusd: int | None = None

    @property
    def nothing(self) -> bool:
        """Whether there is nothing at all: no request, and no bill's cost or tokens in their place."""
        return not self.requests and self.cost_pusd is None and not self.tokens_all

    @property
    def cost_per_request_pusd(self) -> int | None:
        """The known cost of the logged requests over all of them, rounded down; a lower bound where some have no price.

        Where nothing was logged, a bill's cost over the requests that it counts.
        """
        if self.cost_pusd is None or not self.requests:
            return None
        if not self._logged:
            return self.cost_pusd // self.requests
        return (self.cost_pusd - (self.bill_pusd or 0)) // self._logged

    @property
    def tokens_per_request(self) -> float | None:
        """As `cost_per_request_pusd`: of logged requests where there are any. None where they say no tokens."""
        if self.tokens_all is None or not self.requests:
            return None
        if not self._logged:
            return self.tokens_all / self.requests
        logged = self.tokens_all - self.bill_tokens
        return None if self.bill_tokens and not logged else logged / self._logged

    @property
    def _logged(self) -> int:
        return self.requests - self.bill_requests

    @property
    def tokens_in(self) -> int | None:
        return known_sum(self.tokens.get(name) for name in INPUT_CLASSES)

    @property
    def tokens_out(self) -> int | None:
        return known_sum(self.tokens.get(name) for name in OUTPUT_CLASSES)

    @property
    def priced_share(self) -> float | None:
        """Share of tokens that have a whole price; None where there are no tokens."""
        return self.tokens_priced / self.tokens_all if self.tokens_all else None


MEASURES = (
    "requests",
    *TOKEN_CLASSES,
    *COST_PARTS,
    "cost_pusd",
    "paid_pusd",
    "cost_list_pusd",
    "cost_reported_pusd",
    "requests_priced",
    "requests_unpriced",
    "tokens_all",
    "tokens_priced",
    "bill_requests",
    "bill_tokens",
    "bill_pusd",
)
"""The order in which spend queries return their sums."""


def known_sum(values: Any) -> int | None:
    """The sum of the values that are known, None where none is."""
    known = [int(value) for value in values if value is not None]
    return sum(known) if known else None


def added(parts: Sequence[Figures]) -> Figures:
    """The sums of sets of requests that share none: what is unknown in all of them stays unknown."""
    if not parts:
        return Figures(0)
    return figures_of([known_sum(row) for row in zip(*(_measured(part) for part in parts), strict=True)])


def _measured(figures: Figures) -> tuple[int | None, ...]:
    """The sums in the order of MEASURES."""
    return (
        figures.requests,
        *(figures.tokens.get(name) for name in TOKEN_CLASSES),
        *(figures.parts.get(name) for name in COST_PARTS),
        figures.cost_pusd,
        figures.paid_pusd,
        figures.list_pusd,
        figures.reported_pusd,
        figures.requests_priced,
        figures.requests_unpriced,
        figures.tokens_all,
        figures.tokens_priced,
        figures.bill_requests,
        figures.bill_tokens,
        figures.bill_pusd,
    )


def figures_of(row: Sequence[Any]) -> Figures:
    """Figures from one result row whose columns are MEASURES."""
    value = {name: None if cell is None else int(cell) for name, cell in zip(MEASURES, row, strict=True)}
    return Figures(
        requests=value["requests"] or 0,
        tokens={name: value[name] for name in TOKEN_CLASSES},
        parts={name: value[name] for name in COST_PARTS},
        cost_pusd=value["cost_pusd"],
        paid_pusd=value["paid_pusd"],
        list_pusd=value["cost_list_pusd"],
        reported_pusd=value["cost_reported_pusd"],
        requests_priced=value["requests_priced"] or 0,
        requests_unpriced=value["requests_unpriced"] or 0,
        tokens_all=value["tokens_all"] if value["requests"] else value["tokens_all"] or 0,
        tokens_priced=value["tokens_priced"] or 0,
        bill_requests=value["bill_requests"] or 0,
        bill_tokens=value["bill_tokens"] or 0,
        bill_pusd=value["bill_pusd"],
    )
