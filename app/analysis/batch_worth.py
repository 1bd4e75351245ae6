"""What batch jobs were charged, beside what the same tokens cost in real time: the discount that was really received.

Both sides are of the same requests. Answers of a batch are compared token for token; prompt cache hits that real-time
calls might have had are not in the comparison.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Protocol

from app.core.usage import TOKEN_CLASSES
from app.pricing import context

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from app.pricing.book import Rate
    from app.warehouse.store import Session

JOB_PATH: Final = '$."batch_job"'
"""Where a request's tags name its batch job, as a JSON path."""


class Prices(Protocol):
    """The part of a price book that is asked."""

    def rate(
        self,
        provider: str | None,
        model_id: str,
        *,
        at_us: int,
        ctx: str = ...,
        prompt_tokens: int = ...,
        account: str | None = ...,
    ) -> Rate | None: ...


@dataclass(frozen=True, slots=True)
class Worth:
    """Requests that came back, and their money in pico-USD; None is unknown, never 0.

    Attributes:
        charged_pusd: what they cost; of those with a price.
        realtime_pusd: the same tokens at the real-time rates of their hour, and the same fees, which no batch takes
            off; of those with both prices.
        unpriced: requests that lack one of the two prices; while there are any, the sides are not compared.
    """

    requests: int = 0
    charged_pusd: int | None = None
    realtime_pusd: int | None = None
    unpriced: int = 0

    @property
    def saved_pusd(self) -> int | None:
        """The discount that was received."""
        if self.charged_pusd is None or self.realtime_pusd is None or self.unpriced:
            return None
        return self.realtime_pusd - self.charged_pusd


def of_jobs(session: Session, prices: Prices, *, since_us: int) -> dict[str, Worth]:
    """By job id, of requests from a moment on; jobs of which nothing came back are left out."""
    found: dict[str, Worth] = {}
    for row in session.frame("batch.usage", job_path=JOB_PATH, since_us=since_us).iter_rows(named=True):
        found[row["job"]] = _added(found.get(row["job"], Worth()), _of_group(row, prices))
    return found


def together(parts: Iterable[Worth]) -> Worth:
    """Several jobs as one."""
    return reduce(_added, parts, Worth())


def _of_group(row: Mapping[str, Any], prices: Prices) -> Worth:
    charged = None if row["charged_pusd"] is None else int(row["charged_pusd"])
    realtime = _in_real_time(row, prices) if row["priced"] else None
    unpriced = row["requests"] if row["priced"] and realtime is None else int(row["unpriced"])
    return Worth(row["requests"], charged, realtime, unpriced)


def _added(one: Worth, other: Worth) -> Worth:
    return Worth(
        one.requests + other.requests,
        _known_sum(one.charged_pusd, other.charged_pusd),
        _known_sum(one.realtime_pusd, other.realtime_pusd),
        one.unpriced + other.unpriced,
    )


def _known_sum(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other


def _in_real_time(row: Mapping[str, Any], prices: Prices) -> int | None:
    """The tokens of a group at the rates without the batch discount, with its fees."""
    extra = json.loads(row["price_context"]) if row["price_context"] else None
    wanted = context.of_request(is_batch=False, service_tier=None, region=row["region"], extra=extra)
    rate = prices.rate(
        row["provider"],
        row["model_id"] or "",
        at_us=row["hour_us"],
        ctx=context.text(wanted),
        prompt_tokens=row["prompt_tokens"],
        account=row["account"],
    )
    if rate is None:
        return None
    total = Decimal(row["other_pusd"] or 0)  # NULL: no request of the group was charged a fee
    for column in TOKEN_CLASSES:
        tokens = row[column]
        if tokens:
            each = rate.rates.get(f"r_{column.removeprefix('tok_')}")
            if each is None:
                return None
            total += each * int(tokens)
    return int(total.to_integral_value(rounding=ROUND_HALF_EVEN))
