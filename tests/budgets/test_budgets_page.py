"""The Budgets page: figures of the Spend page, forms that say what is wrong, alerts with what became of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from dashboard_company import FORMULA, MARKUP, Company, company
from report_office import runtime_of, settings_of
from starlette.testclient import TestClient

from app.control import budgets as kept
from app.control import migrate, open_control
from app.core.money import pico
from app.main import budgets as deeds
from app.main import reporting
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.main.runtime import Runtime
    from app.settings import Settings

FORM = {
    "name": "All",
    "amount": "40",
    "every": "month",
    "zone": "Europe/Berlin",
    "thresholds": "50 80 100",
    "forecast": "on",
}


class Desk:
    """The company's dashboard with budgets wired as the service does it."""

    def __init__(self, made: Company, folder: Path) -> None:
        control = open_control(folder)
        migrate(control)
        self.made = replace(made, deps=replace(made.deps, control=control))
        self.runtime: Runtime = runtime_of(self.made, folder)
        self.settings: Settings = settings_of(folder)
        self.now = self.made.deps.now
        commands = replace(
            self.made.deps.commands,
            budgets=deeds.desk(self.runtime, self.settings, now=self.now),
            reports=reporting.desk(self.runtime, self.settings, lambda work, _name: work(), now=self.now),
        )
        self.reader = TestClient(create_app(replace(self.made.deps, commands=commands)), base_url="http://127.0.0.1")

    def set(self, **given: str) -> Any:
        return self.reader.post("/budgets", data=FORM | given, headers={"origin": "http://127.0.0.1"})

    def post(self, path: str, **given: str) -> Any:
        return self.reader.post(path, data=given, headers={"origin": "http://127.0.0.1"})

    def rows(self, table: str = "budgets") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.reader.get("/budgets.json", params={"table": table}).json()["rows"]
        return found


@pytest.fixture(scope="module")
def made() -> Company:
    return company(no_access_control=True)


@pytest.fixture
def desk(made: Company, tmp_path: Path) -> Iterator[Desk]:
    own = Desk(made, tmp_path)
    with own.reader:
        yield own
    own.made.deps.control.dispose()


def test_a_page_without_budgets_offers_to_set_one(desk: Desk) -> None:
    page = desk.reader.get("/budgets").text
    assert "Set a budget" in page
    assert "No threshold was passed yet" in page
    assert desk.rows() == desk.rows("alerts") == []


def test_what_was_spent_is_what_the_spend_page_says(desk: Desk) -> None:
    answer = desk.set(scope="feature", value="support-chat")
    assert answer.status_code == 200
    assert "The budget is set." in answer.text
    [row] = desk.rows()
    link = re.search(r'href="(/\?[^"]*)">Open on the Spend page', answer.text)
    assert link is not None
    path = link[1].replace("&amp;", "&")
    [spent] = [
        item["cost_usd"]
        for item in desk.reader.get(path.replace("/?", "/spend.json?")).json()["rows"]
        if item["name"] == "support-chat"
    ]
    assert row["spent_usd"] == spent
    assert row["first_day"] == "2026-11-01"
    assert pico(row["forecast_low_usd"]) <= pico(row["forecast_usd"]) <= pico(row["forecast_high_usd"])


def test_the_bar_is_said_in_words_too(desk: Desk) -> None:
    page = desk.set(amount="5").text
    assert re.search(r'<progress class="worse" max="100" value="100" aria-label="All: \d+\.\d% used">', page)
    assert re.search(r"used, \$[\d.]+ over", page)
    assert "<b>100% (passed)</b>" in page


def test_what_has_no_price_is_named_on_the_card(desk: Desk) -> None:
    page = desk.set(scope="model", value="in-house-tune").text
    assert "nothing of it has a price" in page
    assert "n/a of $40.00" in page
    assert re.search(r"\d+ requests of \d+ without a whole price", page)
    assert "<progress" not in page.split("Set a budget")[0].split('class="panel budget"')[1]
    assert desk.rows()[0]["spent_usd"] is None


def test_a_budget_is_changed_and_removed_by_form(desk: Desk) -> None:
    desk.set()
    [budget] = kept.standing(desk.runtime.control)
    changed = desk.post(f"/budgets/{budget.id}", **FORM | {"name": "Everything", "amount": "99.5", "forecast": ""})
    assert "Saved." in changed.text
    [after] = kept.standing(desk.runtime.control)
    assert (after.terms.name, after.terms.amount_pusd, after.terms.forecast) == ("Everything", pico("99.5"), False)
    assert "The budget is removed" in desk.post(f"/budgets/{budget.id}/remove").text
    assert kept.standing(desk.runtime.control) == []
    assert desk.post(f"/budgets/{budget.id}/remove").status_code == 404
    assert desk.post(f"/budgets/{'9' * 40}/remove").status_code == 422, "no number that a store can hold"
    assert desk.post(f"/budgets/{'9' * 40}", **FORM).status_code == 422


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"amount": "much"}, "is no amount"),
        ({"every": "year"}, "is no period of a budget"),
        ({"anchor": "40"}, "is no day of the month"),
        ({"zone": "Mars/Base"}, "is no time zone"),
        ({"scope": "feature"}, "is no scope"),
        ({"value": "support-chat"}, "is no scope"),
        ({"thresholds": "none"}, "are no thresholds"),
        ({"name": "  "}, "needs a name"),
    ],
)
def test_a_wrong_field_is_refused_in_words_and_sets_nothing(desk: Desk, wrong: dict[str, str], said: str) -> None:
    answer = desk.set(**wrong)
    assert answer.status_code == 400
    assert said in answer.text
    assert kept.standing(desk.runtime.control) == []


def test_a_name_that_is_taken_is_a_conflict(desk: Desk) -> None:
    desk.set()
    assert desk.set().status_code == 409


def test_an_alert_is_listed_with_its_mail_and_the_mail_can_be_read(desk: Desk) -> None:
    desk.set(amount="10")
    deeds.watch(desk.runtime, desk.settings, now=desk.now)
    [row] = desk.rows("alerts")
    assert (row["budget"], row["threshold"], row["mail"]) == ("All", "100", "queued")
    reporting.send_waiting(desk.runtime, desk.settings, now=desk.now)
    page = desk.reader.get("/budgets").text
    link = re.search(r'href="(/reports/mail/\d+\.eml)"', page)
    assert link is not None
    mail = desk.reader.get(link[1])
    assert mail.status_code == 200
    assert "Subject: Budget All passed 100%" in mail.text
    assert "<small>and 50%, 80%</small>" in page


def test_hostile_names_are_shown_as_text(desk: Desk) -> None:
    page = desk.set(name=f"{FORMULA}", scope="feature", value=MARKUP).text
    assert MARKUP not in page
    assert "&lt;img src=x" in page
    csv = desk.reader.get("/budgets.csv", params={"table": "budgets"}).text
    assert "'=HYPERLINK" in csv


def test_nobody_outside_sets_a_budget(tmp_path: Path) -> None:
    made = company()
    deps = replace(
        made.deps,
        commands=replace(made.deps.commands, budgets=deeds.desk(runtime_of(made, tmp_path), settings_of(tmp_path))),
    )
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as visitor:
        answer = visitor.post("/budgets", data=FORM, headers={"origin": "http://127.0.0.1"})
    assert answer.status_code == 401
    assert kept.standing(made.deps.control) == []


def test_the_weekly_report_names_the_forecast_and_every_budget(desk: Desk) -> None:
    desk.set(amount="45")
    desk.set(name="Tune", scope="model", value="in-house-tune")
    report = reporting.document(desk.runtime, desk.settings, now=desk.now)
    section = next(item for item in report.sections if item.title == "Forecast and budgets")
    assert section.table is not None
    rows = {row[0].value: [cell.text for cell in row] for row in section.table.rows}
    page = {row["name"]: row for row in desk.rows()}
    assert [cell.value for cell in section.table.rows[0]][1] == page["All"]["spent_usd"]
    assert rows["Tune"][1] == "n/a"
    assert any(text.startswith("1–30 Nov 2026 so far: $") for text in section.sentences)
    assert any("80% interval" in text for text in section.sentences)
    assert "2 budgets with requests that have no whole price: what they lack is not in it." in section.sentences


def test_the_list_for_machines_has_the_figures_of_the_page(desk: Desk) -> None:
    desk.set(every="week", anchor="wed")
    [row] = deeds.rows(desk.runtime, desk.now())
    [page] = desk.rows()
    assert (row["name"], row["begins"], row["first"]) == ("All", "wed", "2026-11-18")
    assert row["spent_usd"] == page["spent_usd"]
    assert row["forecast"]["middle_usd"] == page["forecast_usd"]
