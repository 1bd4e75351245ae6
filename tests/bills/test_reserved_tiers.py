"""Usage of a tier that is sold as capacity: its cost is on no line of requests, and it is not free for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.analysis import spend
from app.core.money import usd
from app.core.view import View
from reports import reconciliation

if TYPE_CHECKING:
    from decimal import Decimal

    from made_bills import Books

MODEL = "claude-sonnet-4-5"
DAY = {"starting_at": "2026-03-02T00:00:00Z", "ending_at": "2026-03-03T00:00:00Z"}


def page(*results: dict[str, Any]) -> dict[str, Any]:
    return {"data": [DAY | {"results": list(results)}], "has_more": False, "next_page": None}


def usage(tier: str, tokens: int) -> dict[str, Any]:
    return {
        "uncached_input_tokens": tokens,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
        "server_tool_use": {"web_search_requests": 0},
        "workspace_id": None,
        "model": MODEL,
        "service_tier": tier,
    }


def cost(tier: str | None, cents: str) -> dict[str, Any]:
    return {
        "currency": "USD",
        "amount": cents,
        "workspace_id": None,
        "cost_type": "tokens",
        "model": MODEL,
        "service_tier": tier,
        "token_type": "uncached_input_tokens",
    }


def spent(books: Books) -> Decimal:
    with books.warehouse.session() as session:
        return usd(spend.totals(session, View(spend.whole_period(session, "UTC"))).cost_pusd or 0)


def test_costs_of_the_standard_tier_do_not_stand_for_priority_usage(books: Books) -> None:
    """A million tokens of standard at 3 USD are on the cost report, two million of priority are not."""
    books.read("usage.jsonl", page(usage("standard", 1_000_000), usage("priority", 2_000_000)))
    books.read("costs.jsonl", page(cost("standard", "300")))
    assert spent(books) == 3
    assert books.sql("SELECT service_tier, max(cost_state), sum(cost_pusd) FROM bill_facts GROUP BY 1 ORDER BY 1") == [
        ("priority", "unpriced", None),
        ("standard", "priced", 3 * 10**12),
    ]
    assert reconciliation.document(books.reconciled())["cost_not_on_bill"] != []


@pytest.mark.parametrize("tier", [None, "priority"])
def test_costs_that_name_priority_or_no_tier_do(books: Books, tier: str | None) -> None:
    books.read("usage.jsonl", page(usage("priority", 2_000_000)))
    books.read("costs.jsonl", page(cost(tier, "700")))
    assert spent(books) == 7
    assert reconciliation.document(books.reconciled())["cost_not_on_bill"] == []
