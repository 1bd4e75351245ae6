"""What the weekly report says about a store of made requests: the figures of the Spend page, explained whole."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from dashboard_company import DAY_US, FORMULA, MARKUP, NOW_US, ZONE, Company, company, requests
from report_office import DAYS, WEEK
from starlette.testclient import TestClient

from app.analysis import coverage
from app.control import findings as decisions
from app.core.errors import UsageError
from app.core.view import zone_info
from app.plan import store
from app.web.format import moment
from app.web.server import create_app
from app.web.table import csv_text
from reports import savings, spending, weekly, weeks
from reports.savings import BatchLine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from reports.document import Document, Section

BERLIN = zone_info(ZONE)


@pytest.fixture(scope="module")
def made() -> Company:
    return company(no_access_control=True, demo=True)


@pytest.fixture(scope="module")
def client(made: Company) -> Iterator[TestClient]:
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        yield reader


def report(made: Company, week: str = WEEK, now_us: int = NOW_US, **given: Any) -> Document:
    plan = store.latest(made.deps.warehouse, made.deps.control, now_us=now_us)
    with made.deps.warehouse.session() as session:
        return weekly.build(session, weeks.named(week, ZONE), **({"plan": plan, "now_us": now_us} | given))


def section(document: Document, title: str) -> Section:
    return next(item for item in document.sections if item.title == title)


def test_totals_are_those_of_the_spend_page_to_the_cent(made: Company, client: TestClient) -> None:
    document = report(made)
    page = client.get(document.link.href)
    figures = {figure.label: figure for figure in document.figures}
    assert f">{figures['Spend'].value}<" in page.text
    assert figures["Spend"].change is not None
    assert figures["Spend"].change.text in page.text
    assert f">{figures['Requests'].value}<" in page.text
    assert f">{figures['Cost per request'].value}<" in page.text

    address = document.link.href.replace("/?", "/spend.json?")
    rows = client.get(address).json()["rows"]
    table = section(document, "Where it went").table
    assert table is not None
    shown = {row[0].value: row[1].value for row in table.rows if not str(row[0].value).startswith("other (")}
    assert shown
    assert {row["name"]: row["cost_usd"] for row in rows if row["name"] in shown} == shown
    known = sum(Decimal(row["cost_usd"]) for row in rows if row["cost_usd"] is not None)
    assert Decimal(str(table.total[1].value)) == known


def test_the_change_is_explained_without_a_remainder(made: Company, client: TestClient) -> None:
    document = report(made)
    table = section(document, "Why it moved").table
    assert table is not None
    total = {
        column.key: Decimal(str(cell.value)) for column, cell in zip(table.columns[1:], table.total[1:], strict=True)
    }
    parts = [total.get(f"{key}_usd", Decimal(0)) for key, _, _ in spending.FACTORS]
    assert sum(parts) == total["change_usd"] != 0
    for place, column in enumerate(table.columns[1:], 1):
        assert sum(Decimal(str(row[place].value)) for row in table.rows) == total[column.key]

    page = client.get(document.link.href.replace("/?", "/spend.json?table=moved&")).json()["rows"]
    assert sum(Decimal(row["change_usd"]) for row in page) == total["change_usd"]


def test_the_attached_rows_carry_every_digit_and_add_up(made: Company) -> None:
    document = report(made)
    rows = list(csv.DictReader(io.StringIO(csv_text(document.files[0]))))
    table = section(document, "Where it went").table
    assert table is not None
    assert sum(Decimal(row["cost_usd"]) for row in rows if row["cost_usd"]) == Decimal(str(table.total[1].value))
    for row in rows:
        if row["change_usd"]:
            parts = sum(Decimal(row[f"{key}_usd"]) for key, _, _ in spending.FACTORS)
            assert parts == Decimal(row["change_usd"]) == Decimal(row["cost_usd"]) - Decimal(row["before_usd"])
    formula = next(row for row in rows if row["feature"].endswith(FORMULA))
    assert formula["feature"] == f"'{FORMULA}"
    assert formula["cost_usd"] == "", "what has no price is unknown, not 0"
    assert formula["before_usd"] == ""


def test_many_features_are_folded_in_the_file_and_still_add_up(made: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(csv.DictReader(io.StringIO(csv_text(report(made).files[0]))))
    monkeypatch.setattr(spending, "MAX_FEATURES", 3)
    folded = list(csv.DictReader(io.StringIO(csv_text(report(made).files[0]))))
    assert [row["feature"] for row in folded[3:]] == [f"other ({len(whole) - 3})"]
    for column in ("cost_usd", "change_usd", "volume_usd", "mix_usd", "rate_usd"):
        sums = [sum(Decimal(row[column]) for row in rows if row[column]) for rows in (whole, folded)]
        assert sums[0] == sums[1]


def test_the_subject_carries_the_news(made: Company) -> None:
    document = report(made)
    assert document.subject.startswith(f"LLM spend {DAYS}: $")
    assert "(+" in document.subject
    assert document.subject.endswith("per 30 days can be saved")
    assert not document.warnings


def test_findings_come_with_owner_dollars_and_a_first_step(made: Company) -> None:
    decisions.set_owner(made.deps.control, "f0support", "Ana", now_us=NOW_US)
    deeds = section(report(made), "What to do").deeds
    assert [deed.href for deed in deeds] == [
        f"/savings/{key}" for key in ("f0support", "f1search", "f2classify", "f3extract")
    ]
    assert deeds[0].owner == "Ana"
    assert deeds[1].owner == savings.NOBODY
    assert deeds[0].worth == "$4.29 per 30 days"
    assert deeds[0].step == "Find where the prompt is built."
    assert deeds[3].worth.startswith("potential: "), "what has no evidence is no saving yet"
    joint, potential = section(report(made), "What to do").sentences[:2]
    assert "each dollar is counted once" in joint
    assert "grade D" in potential


def test_what_was_applied_is_measured_from_that_day() -> None:
    made = company()
    decisions.set_status(made.deps.control, "f0support", "done", now_us=NOW_US - 3 * DAY_US)
    plan = store.latest(made.deps.warehouse, made.deps.control, now_us=NOW_US)
    document = report(made, applied=savings.applied(made.deps.control, plan, NOW_US))
    table = section(document, "Applied").table
    assert table is not None
    [row] = table.rows
    assert [cell.text for cell in row][3:] == ["15 Nov 2026 12:06", "$4.29"]
    assert "/savings/f0support" not in [deed.href for deed in section(document, "What to do").deeds]


def test_an_applied_finding_that_the_plan_no_longer_holds_is_still_measured() -> None:
    made = company()
    decisions.note_seen(made.deps.control, [("older", "batch", "feature=gone model=gpt-4")], NOW_US - 9 * DAY_US)
    decisions.set_status(made.deps.control, "older", "done", now_us=NOW_US - 8 * DAY_US)
    plan = store.latest(made.deps.warehouse, made.deps.control, now_us=NOW_US)
    [found] = savings.applied(made.deps.control, plan, NOW_US)
    assert (found.where, found.finding) == ("feature=gone model=gpt-4", None)
    table = section(report(made, applied=[found]), "Applied").table
    assert table is not None
    assert table.rows[0][4].value is None


def test_batch_jobs_say_what_they_saved_and_leave_unknown_open(made: Company) -> None:
    lines = (
        BatchLine("nightly", "ticket-classify", "completed", 1200, 1198, 2, 3 * 10**12, 3 * 10**12, "/batch/b1"),
        BatchLine("evening", "invoice-extract", "submitted", 40, 0, 0, None, None, "/batch/b2"),
    )
    found = section(report(made, batches=lines), "Batch jobs")
    assert found.sentences == ("They cost $3.00 less than the same requests sent at once.",)
    assert found.table is not None
    assert [[cell.text for cell in row][4:] for row in found.table.rows] == [
        ["2", "$3.00", "$3.00"],
        ["0", "n/a", "n/a"],
    ]


def test_no_section_is_empty(made: Company) -> None:
    document = report(made, plan=None)
    titles = [item.title for item in document.sections]
    assert titles == ["Why it moved", "Where it went", "How true is this"]
    for item in document.sections:
        assert item.sentences or item.deeds or (item.table and item.table.rows)
    assert any("no savings" in text for text in document.lead)


def test_a_week_without_requests_is_news_and_has_no_figures(made: Company) -> None:
    document = report(made, week="2026-W20")
    assert document.subject == "LLM spend 11–17 May 2026: no logs arrived"
    assert (document.figures, document.sections, document.files) == ((), (), ())


def test_without_a_week_before_nothing_is_compared(made: Company) -> None:
    first = min(row["start_us"] for row in requests())
    week = weeks.week_of(weeks.moment(first).astimezone(BERLIN).date(), ZONE)
    document = report(made, week=week.name)
    assert "(" not in document.subject.partition(":")[2].partition(",")[0]
    assert any("nothing to compare" in text for text in document.lead)
    assert "Why it moved" not in [item.title for item in document.sections]


def test_a_source_that_stopped_is_named_in_the_subject() -> None:
    silent_from = NOW_US - 6 * DAY_US
    rows = [
        row | {"source": "claude-gateway"} if row["provider"] == "anthropic" else row
        for row in requests()
        if row["provider"] != "anthropic" or row["start_us"] < silent_from
    ]
    document = report(company(rows))
    assert " - incomplete: claude-gateway ends 12 Nov 2026 " in document.subject
    assert any(text.startswith("claude-gateway has delivered nothing since 12 Nov 2026") for text in document.warnings)
    assert "Complete to 12 Nov 2026" in section(document, "How true is this").sentences[0]


def test_a_quiet_week_end_is_no_lateness() -> None:
    rows = [row for row in requests() if (row["start_us"] // DAY_US + 3) % 7 < 5]
    document = report(company(rows))
    assert "incomplete" not in document.subject
    assert section(document, "How true is this").sentences[0] == "Complete to 16 Nov 2026 00:00."


def test_an_unfinished_week_is_compared_like_for_like_and_says_so(made: Company) -> None:
    document = report(made, week="2026-W47")
    assert any("The week is not over" in text for text in document.warnings)
    assert any("the same stretch of the week before" in text for text in document.lead)
    assert section(document, "How true is this").sentences[0] == "Complete to 18 Nov 2026 11:33."  # the slower source


def test_an_unfinished_week_claims_no_more_than_the_newest_request_held(made: Company) -> None:
    last = {row["source"]: row["start_us"] for row in sorted(requests(), key=lambda row: row["start_us"])}
    newest, slowest = max(last.values()), min(last.values())
    for later_us in (NOW_US, NOW_US + 50 * 60_000_000):
        document = report(made, week="2026-W47", now_us=later_us)
        assert section(document, "How true is this").sentences[0] == f"Complete to {moment(slowest, BERLIN)}."
        assert document.warnings == (f"The week is not over: figures up to {moment(newest, BERLIN)}.",)


def test_a_report_is_complete_to_where_the_pages_say_it_is() -> None:
    """The slowest live source, whether anybody expected more of it or not."""
    night = NOW_US - 5 * 3_600_000_000
    rows = [
        row | {"source": "claude-gateway"} if row["provider"] == "anthropic" else row
        for row in requests()
        if row["provider"] != "anthropic" or row["start_us"] < night
    ]
    books = company(rows)
    with books.deps.warehouse.session() as session:
        reach = coverage.reach_of(session, NOW_US)
    assert reach is not None
    assert reach.slowest == "claude-gateway"
    said = section(report(books, week="2026-W47"), "How true is this").sentences[0]
    assert said == f"Complete to {moment(reach.complete_us, BERLIN)}."


def test_a_late_source_ends_an_unfinished_week_sooner() -> None:
    rows = [
        row | {"source": "claude-gateway"} if row["provider"] == "anthropic" else row
        for row in requests()
        if row["provider"] != "anthropic" or row["start_us"] < NOW_US - DAY_US
    ]
    ends = max(row["start_us"] for row in rows if row["source"] == "claude-gateway")
    document = report(company(rows), week="2026-W47")
    assert section(document, "How true is this").sentences[0] == f"Complete to {moment(ends, BERLIN)}."
    assert document.warnings[-1] == "The week is not over: figures up to 18 Nov 2026 11:49."


def test_a_week_that_is_over_without_a_late_source_is_complete_to_its_end(made: Company) -> None:
    assert section(report(made), "How true is this").sentences[0] == "Complete to 16 Nov 2026 00:00."


def test_potential_alone_is_no_saving_in_the_subject(made: Company) -> None:
    waiting = company()
    for key in ("f0support", "f1search", "f2classify"):
        decisions.set_status(waiting.deps.control, key, "dismissed", now_us=NOW_US, reason="not wanted")
    document = report(waiting)
    assert "can be saved" not in document.subject
    first, potential = section(document, "What to do").sentences
    assert first == "No finding that your own traffic proves waits to be done."
    assert "grade D" in potential


def test_nothing_that_is_unknown_is_written_as_zero() -> None:
    document = report(company([row for row in requests() if row["cost_state"] == "unpriced"], planned=False))
    assert document.subject.endswith(f"{DAYS}: n/a")
    assert document.figures[0].value == "n/a"
    assert "$0" not in " ".join(text for item in document.sections for text in item.sentences)
    assert "Why it moved" not in [item.title for item in document.sections]


def test_list_prices_are_not_called_spend(made: Company) -> None:
    other = company()
    with other.deps.warehouse.writing() as session:
        session.connection.execute("UPDATE sources SET billing = 'subscription'")
    assert report(other).subject.startswith("LLM use at list price")


def test_a_name_with_markup_stays_a_name(made: Company) -> None:
    table = section(report(made), "Where it went").table
    assert table is not None
    row = next(row for row in table.rows if row[0].value == MARKUP)
    assert row[0].href.startswith("/?period=2026-11-09..2026-11-15&by=model&f=is,feature,%3Cimg")


class TestWeeks:
    def test_a_week_is_as_long_as_its_clock_changes_make_it(self) -> None:
        hours = {name: _hours(weeks.named(name, ZONE)) for name in ("2026-W12", "2026-W13", "2026-W43", "2026-W44")}
        assert hours == {"2026-W12": 168, "2026-W13": 167, "2026-W43": 169, "2026-W44": 168}

    def test_weeks_follow_each_other_without_gap_or_overlap(self) -> None:
        newest = weeks.named("2026-W53", ZONE)
        listed = weeks.before(newest, 60)
        assert all(later.period.from_us == earlier.period.to_us for later, earlier in pairwise(listed))
        assert [week.name for week in listed] == sorted((week.name for week in listed), reverse=True)

    @pytest.mark.parametrize("text", ["", "2026-W00", "2026-W54", "2025-W53", "2026W12", "2026-W1", "<b>", "0000-W01"])
    def test_what_is_no_week_is_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="2026-W47"):
            weeks.named(text, ZONE)

    def test_each_missed_week_counts_once_and_the_first_start_asks_for_one(self) -> None:
        assert [week.name for week in weeks.uncovered(ZONE, NOW_US, None)] == [WEEK]
        assert weeks.uncovered(ZONE, NOW_US, WEEK) == ()
        assert [week.name for week in weeks.uncovered(ZONE, NOW_US, "2026-W43")] == ["2026-W44", "2026-W45", WEEK]
        assert len(weeks.uncovered(ZONE, NOW_US, "2024-W01")) == weeks.MAX_CAUGHT_UP

    def test_a_week_counts_from_the_moment_it_is_over(self) -> None:
        end_us = weeks.named(WEEK, ZONE).period.to_us
        assert weeks.uncovered(ZONE, end_us - 1, "2026-W45") == ()
        assert [week.name for week in weeks.uncovered(ZONE, end_us, "2026-W45")] == [WEEK]


def _hours(week: weeks.Week) -> int:
    return (week.period.to_us - week.period.from_us) // 3_600_000_000
