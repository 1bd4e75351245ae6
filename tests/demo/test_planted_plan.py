"""From provider logs to the plan: it finds each planted flaw for what it truly costs, and invents none."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.analysis import rules
from app.analysis.attribution import attribute
from app.demo.clock import ZONE, Span
from app.demo.generate import FLAWS, Manifest, generate
from app.plan.analyse import analyse
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths
from tests.demo.oracle import bill

if TYPE_CHECKING:
    from app.plan.result import PlanResult

DAYS, LAST = 12, date(2026, 11, 27)
FINDS = {
    "support-chat": "prompt_caching",
    "ticket-classify": "batch",
    "coding-agent": "prompt_caching",
    "docs-search": "response_cache",
    "invoice-extract": "smaller_model",
    "sync-worker": "waste",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PriceBook:
    return PriceBook.load(tmp_path_factory.mktemp("book"))


def _make(folder: Path, flaws: frozenset[str], only: frozenset[str] | None = None, requests: int = 14_000) -> Manifest:
    return generate(folder, seed=5, days=DAYS, requests=requests, last_day=LAST, flaws=flaws, only=only)


def _plan(made: Manifest, data: Path, book: PriceBook) -> PlanResult:
    data.mkdir()
    warehouse = Warehouse(data)
    try:
        migrate(warehouse)
        summary = ingest_paths([made.logs], warehouse=warehouse, pricer=Pricer(book), data_dir=data, workers=0)
        assert (summary.read, summary.stored) == (made.lines, made.lines)
        with warehouse.writing() as session:
            attribute(session, rules.load(), now_us=0)
        span = Span(LAST - timedelta(days=DAYS - 1), DAYS)
        return analyse(warehouse, book, None, from_us=span.start_us, to_us=span.end_us, zone=ZONE.key)
    finally:
        warehouse.close()


@pytest.fixture(scope="module")
def flawed(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return _make(tmp_path_factory.mktemp("flawed"), FLAWS)


@pytest.fixture(scope="module")
def plan(flawed: Manifest, book: PriceBook) -> PlanResult:
    return _plan(flawed, Path(flawed.logs).parent / "data", book)


@pytest.fixture(scope="module")
def truth(flawed: Manifest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Decimal]:
    with_flaws = bill(Path(flawed.logs))
    without = bill(Path(_make(tmp_path_factory.mktemp("mended"), frozenset()).logs))
    return {name: with_flaws[name] - without[name] for name in FLAWS}


def test_what_was_paid_is_the_bill_of_the_oracle_to_the_last_digit(flawed: Manifest, plan: PlanResult) -> None:
    assert Decimal(plan.before_usd) == sum(bill(Path(flawed.logs)).values())


@pytest.mark.parametrize("flaw", sorted(FLAWS))
def test_a_planted_flaw_is_found_for_what_it_costs(plan: PlanResult, truth: dict[str, Decimal], flaw: str) -> None:
    found = [one for one in plan.findings if one.feature == flaw and one.lever == FINDS[flaw]]
    assert len(found) == 1
    assert Decimal(found[0].standalone.p50) == pytest.approx(truth[flaw], rel=Decimal("0.15"))


def test_everything_but_a_guess_about_quality_is_in_the_joint_plan(plan: PlanResult) -> None:
    joined = {(one.feature, one.lever) for one in plan.findings if one.in_joint}
    assert joined == {(flaw, lever) for flaw, lever in FINDS.items() if lever != "smaller_model"}


def test_the_joint_plan_saves_what_its_flaws_cost_and_never_more_than_was_paid(
    plan: PlanResult, truth: dict[str, Decimal]
) -> None:
    true_joint = sum(usd for flaw, usd in truth.items() if FINDS[flaw] != "smaller_model")
    assert Decimal(plan.joint.p50) == pytest.approx(true_joint, rel=Decimal("0.15"))
    shares: dict[str, Decimal] = defaultdict(Decimal)
    for one in plan.findings:
        shares[one.feature] += Decimal(one.allocated_usd)
    assert sum(shares.values()) < Decimal(plan.before_usd)


def test_a_model_without_a_price_is_counted_and_costs_nothing_known(flawed: Manifest, plan: PlanResult) -> None:
    assert plan.unpriced_requests >= flawed.lines_by_workload["call-summary"] > 0


def test_the_clean_workload_gives_an_empty_plan(tmp_path: Path, book: PriceBook) -> None:
    made = _make(tmp_path, FLAWS, frozenset({"newsletter"}), requests=60_000)
    clean = _plan(made, tmp_path / "data", book)
    assert clean.requests == made.lines == 6_000
    assert clean.findings == ()
    assert Decimal(clean.joint.p50) == 0
