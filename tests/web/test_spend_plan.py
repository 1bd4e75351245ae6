"""What Spend says of the newest plan: a saving in green, or plainly that nothing was found and where it was sought."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest
from dashboard_company import NOW_US, company
from starlette.testclient import TestClient

from app.control import findings as decisions
from app.plan import store
from app.plan.outcomes import Players
from app.plan.result import Range
from app.web.server import create_app

if TYPE_CHECKING:
    from typing import Any

    from dashboard_company import Company

IN_PLAN = ("f0support", "f1search", "f2classify")


def read(made: Company, path: str = "/") -> str:
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        return reader.get(path).text


def banner(html: str) -> tuple[str, str]:
    """The classes of the line and its words."""
    found = re.search(r'<p class="(callout[^"]*)">(.*?)</p>', html, re.DOTALL)
    assert found is not None
    return found[1], text_of(found[2])


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))


def dismiss(made: Company, *keys: str) -> None:
    for key in keys:
        decisions.set_status(made.deps.control, key, "dismissed", now_us=NOW_US, reason="not wanted")


def without_findings(made: Company, **given: Any) -> None:
    """A newer plan over the same days in which no lever found anything."""
    plan = store.latest(made.deps.warehouse, made.deps.control, now_us=NOW_US)
    assert plan is not None
    store.save(
        made.deps.warehouse,
        replace(plan, run_id=2, joint=Range(None, "0", None), potential_usd="0", findings=(), levers=(), **given),
        [],
        Players(()),
    )


def test_a_plan_that_found_nothing_says_what_was_looked_at_and_no_dollar() -> None:
    made = company(no_access_control=True)
    plan = store.latest(made.deps.warehouse, made.deps.control, now_us=NOW_US)
    assert plan is not None
    without_findings(made)
    classes, said = banner(read(made))
    assert classes == "callout plain-fact"
    assert said.startswith(
        f"Nothing found that is worth doing in {plan.requests:,} requests of 21 Oct – 18 Nov 2026 (28 days), $"
    )
    assert "; 1 of 2 levers had not enough data." in said
    assert said.endswith("See what was looked at")
    assert "$0.00" not in said
    assert "finding" not in said


def test_no_saving_is_no_gain_on_savings_either() -> None:
    made = company(no_access_control=True)
    assert 'class="figure better"' in read(made, "/savings")
    without_findings(made)
    assert 'class="figure better"' not in read(made, "/savings")


def test_a_plan_of_one_day_speaks_of_a_day() -> None:
    made = company(no_access_control=True)
    without_findings(made, days="1", per_30_days=None)
    said = text_of(read(made, "/savings"))
    assert "Joint saving in the day analysed" in said
    assert "1 days" not in said + banner(read(made))[1]


def test_findings_outside_the_total_are_named_beside_it() -> None:
    made = company(no_access_control=True)
    dismiss(made, *IN_PLAN)
    classes, said = banner(read(made))
    assert classes == "callout plain-fact"
    assert said.startswith("No saving is proven yet in ")
    assert "Beside it: 1 potential finding without evidence yet and 3 dismissed findings." in said
    dismiss(made, "f3extract")
    assert banner(read(made))[1].startswith("Every finding is dismissed in ")


@pytest.mark.parametrize(
    ("moved", "said"),
    [
        ({}, "3 open findings, each dollar"),
        ({"f0support": "in_progress"}, "2 open findings, 1 in progress, each dollar"),
        (
            {"f0support": "in_progress", "f1search": "done", "f2classify": "done"},
            "0 open findings, 1 in progress, 2 done,",
        ),
    ],
)
def test_a_saving_says_how_far_its_findings_are(moved: dict[str, str], said: str) -> None:
    made = company(no_access_control=True)
    for key, status in moved.items():
        decisions.set_status(made.deps.control, key, status, now_us=NOW_US)  # type: ignore[arg-type]
    classes, words = banner(read(made))
    assert classes == "callout"
    assert said in words
    assert words.endswith("See the plan")
