"""What a reader sees in line: fields of a form, values of a card on a phone, tables inside their panels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from dashboard_company import company
from dashboard_site import Site

from app.web.commands import BudgetDesk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.browser

FIELDS = """() => [...document.querySelectorAll('.order label:not(.check)')].map(label => {
  const field = label.querySelector('input, select'), box = field.getBoundingClientRect();
  const top = Math.round(box.top - label.getBoundingClientRect().top);
  return [top, Math.round(box.height), getComputedStyle(field).color];
})"""
# The cells of cards whose value does not begin beside its label.
CELLS = "table.stacked td:not(:first-child):not(.wide):not(:empty)"
BELOW = (
    f"() => [...document.querySelectorAll('{CELLS}')]"
    """.filter(cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const box = cell.getBoundingClientRect(), first = range.getClientRects()[0];
  return first && box.height > 0 && first.top - box.top > 8;
}).map(cell => cell.dataset.label + ': ' + cell.innerText)"""
)
# Whole rows of a card's grid that hold one half cell, before the last row of half cells.
GAPS = """() => [...document.querySelectorAll('table.stacked tbody tr')].filter(row => {
  const boxes = [...row.cells].map(cell => cell.getBoundingClientRect()).filter(box => box.height > 0);
  const wide = row.getBoundingClientRect().width * 0.75;
  const halves = boxes.filter(box => box.width < wide);
  return new Set(halves.map(box => Math.round(box.top))).size > Math.ceil(halves.length / 2);
}).length"""
CUT = """() => [...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)
  .map(box => box.ariaLabel)"""

# How far the name of a row moves when the table beside it is pushed aside.
MOVED = """() => {
  const all = [...document.querySelectorAll('details.figures')];
  all.forEach(item => { item.open = true; });
  const box = all[0].querySelector('.scroll'), name = box.querySelector('tbody td');
  const before = name.getBoundingClientRect().left;
  box.scrollLeft = 40;
  return [box.scrollLeft, Math.round(before - name.getBoundingClientRect().left)];
}"""


@pytest.fixture(scope="module")
def budgeted() -> Iterator[Site]:
    """The made company with a desk for budgets that nobody uses."""
    made = company(no_access_control=True)
    desk = BudgetDesk(lambda _: 1, lambda number, _: number, lambda number: number, (), "")
    deps = replace(made.deps, commands=replace(made.deps.commands, budgets=desk))
    running = Site(replace(made, deps=deps))
    running.start()
    yield running
    running.stop()


@pytest.mark.parametrize("screen", ["light", "phone"])
def test_fields_of_a_form_have_one_height_one_line_and_one_ink(windows: Callable, budgeted: Site, screen: str) -> None:
    found = windows(budgeted.url, screen).open("/budgets").evaluate(FIELDS)
    assert len(found) == 8
    assert len({tuple(item) for item in found}) == 1


@pytest.mark.parametrize("path", ["/", "/requests", "/jobs", "/savings", "/sources", "/costs"])
def test_values_of_a_card_stand_beside_their_labels_and_leave_no_gap(visit: Callable, path: str) -> None:
    page = visit("phone").open(path)
    assert page.evaluate(BELOW) == []
    assert page.evaluate(GAPS) == 0


@pytest.mark.parametrize("path", ["/savings", "/sources", "/costs"])
def test_a_table_is_as_wide_as_its_panel(visit: Callable, path: str) -> None:
    assert visit().open(path).evaluate(CUT) == []


@pytest.mark.parametrize("path", ["/requests", "/jobs", "/savings", "/sources", "/costs", "/reports"])
def test_a_phone_shows_cards_whole_and_every_page_of_the_navigation(visit: Callable, path: str) -> None:
    page = visit("phone").open(path)
    assert page.evaluate(CUT) == []
    assert page.evaluate(
        "() => [...document.querySelectorAll('nav a')].every(a => a.getBoundingClientRect().right <= 390)"
    )


def test_names_stand_still_beside_a_wide_table_on_a_phone(visit: Callable) -> None:
    pushed, moved = visit("phone").open("/").evaluate(MOVED)
    assert (pushed, moved) == (40, 0)


# The labels of the first rows' values that stand inside the screen.
SEEN = """() => [...document.querySelectorAll('main tbody tr:first-child td')]
  .filter(cell => cell.getBoundingClientRect().right <= innerWidth && cell.getBoundingClientRect().height > 0)
  .map(cell => cell.dataset.label)"""


def test_a_card_of_a_request_begins_with_its_cost_and_model_and_can_be_sorted(visit: Callable) -> None:
    page = visit("phone").open("/requests")
    tops = page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('tbody:first-of-type tr:first-child td')]"
        ".map(cell => [cell.dataset.label, cell.getBoundingClientRect().top]))"
    )
    assert abs(tops["Request"] - tops["Cost"]) < 8
    assert tops["Cost"] < tops["Model"] < min(tops["Start"], tops["Feature"], tops["Status"])
    page.get_by_role("link", name="Duration").click()
    page.wait_for_url("**sort=-duration**")


def test_totals_of_spend_are_seen_on_a_phone_without_a_push(visit: Callable) -> None:
    page = visit("phone").open("/")
    page.evaluate("() => document.querySelectorAll('details.figures').forEach(item => { item.open = true; })")
    assert {"Cost", "Share", "Per request", "Total"} <= set(page.evaluate(SEEN))


STATUS = """() => {
  const line = document.querySelector('.status-line'), title = document.querySelector('h1');
  return [line.getBoundingClientRect().height, line.innerText, title.getBoundingClientRect().top];
}"""


def test_the_state_of_the_data_is_folded_on_a_phone_and_whole_on_a_desk(visit: Callable) -> None:
    phone = visit("phone").open("/savings")
    folded, said, top = phone.evaluate(STATUS)
    assert "Complete to" in said
    assert "Zone" not in said
    assert (folded < 70, top < 240) == (True, True)
    phone.get_by_text("More about the data").click()
    assert "Zone" in phone.evaluate(STATUS)[1]
    desk = visit().open("/savings").evaluate(STATUS)[1]
    assert "Zone" in desk
    assert "More" not in desk


def test_a_new_analysis_is_asked_for_above_the_findings(visit: Callable) -> None:
    page = visit("phone").open("/savings")
    deed = page.get_by_role("button", name="Analyse again").bounding_box()
    findings = page.locator(".table-panel").first.bounding_box()
    assert deed is not None
    assert findings is not None
    assert deed["y"] < min(findings["y"], 1000)


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["with scripts", "without"])
def test_a_phone_opens_a_long_list_with_its_first_rows_and_unfolds_the_rest(
    visit: Callable, options: dict[str, bool]
) -> None:
    page = visit("phone", **options).open("/requests")
    rows = page.locator("tbody tr:visible")
    assert rows.count() == 10
    page.get_by_text("Show all 50 rows").click()
    assert rows.count() == 50
    assert visit().open("/requests").locator("tbody tr:visible").count() == 50


# The labels of the values that the first card shows.
ON_CARD = """() => [...document.querySelector('table.stacked tbody tr').cells]
  .filter(cell => cell.getBoundingClientRect().height > 0).map(cell => cell.dataset.label)"""


@pytest.mark.parametrize(
    ("path", "held_back"),
    [("/", "Input"), ("/requests", "First token"), ("/costs", "Reported"), ("/savings", "Effort")],
)
def test_a_card_on_a_phone_holds_back_what_one_tap_shows(visit: Callable, path: str, held_back: str) -> None:
    page = visit("phone").open(path)
    assert held_back not in page.evaluate(ON_CARD)
    page.get_by_text("Show every value").first.click()
    assert held_back in page.evaluate(ON_CARD)
    assert page.evaluate(BELOW) == []
    assert page.evaluate(GAPS) == 0


def test_a_card_shows_what_its_list_is_sorted_by(visit: Callable) -> None:
    assert "First token" in visit("phone").open("/requests?sort=-ttft").evaluate(ON_CARD)


def test_a_wide_screen_shows_every_value(visit: Callable) -> None:
    page = visit().open("/requests")
    assert {"First token", "Cached", "Duration"} <= set(page.evaluate(ON_CARD))
    assert not page.get_by_text("Show every value").is_visible()


@pytest.mark.parametrize("path", ["/", "/savings", "/costs", "/requests"])
def test_paper_shows_tables_whole_and_no_controls(visit: Callable, path: str) -> None:
    window = visit()
    window.page.set_viewport_size({"width": 703, "height": 1000})  # A4 less its margins
    page = window.open(path)
    page.emulate_media(media="print")
    folded = ".rest, .rest-small, td.minor"
    assert page.evaluate(
        "folded => [...document.querySelectorAll('table')].filter(table => table.offsetParent)"
        ".every(table => getComputedStyle(table.querySelector('tr')).display === 'table-row'"
        " && [...table.querySelectorAll(folded)].every(part => part.getBoundingClientRect().height > 0))",
        folded,
    )
    assert page.evaluate("() => [...document.querySelectorAll('form, .rail, .fold')].every(item => !item.offsetParent)")
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 703
