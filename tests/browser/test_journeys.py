"""What people do: another period, another grouping, a filter, down to one request, a finding dismissed, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable


pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_libraries")]


def spend_of(page: object) -> str:
    text: str = page.locator(".figures-row .figure").first.inner_text()  # type: ignore[attr-defined]
    return text


def test_another_period_changes_the_figures_in_place_and_back_undoes_it(visit: Callable) -> None:
    window = visit()
    page = window.open("/")
    before = spend_of(page)
    page.evaluate("document.body.dataset.kept = 'yes'")
    page.get_by_label("Period", exact=True).select_option("7d")
    expect(page).to_have_url(re.compile(r"\?period=7d$"))
    expect(page.locator(".days")).to_contain_text("12–18 Nov 2026")
    assert spend_of(page) != before
    assert page.evaluate("document.body.dataset.kept") == "yes", "the page was loaded anew instead of swapped"
    window.wait_for_charts()
    page.go_back()
    expect(page.locator(".days")).to_contain_text("22 Oct")
    assert spend_of(page) == before
    assert window.complaints == []


def test_grouping_by_model_ranks_models_and_keeps_the_total(visit: Callable) -> None:
    window = visit()
    page = window.open("/")
    before = spend_of(page)
    page.get_by_label("Group by").select_option("model")
    expect(page.get_by_role("heading", name="Spend by model", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?by=model$"))
    assert spend_of(page) == before
    assert window.complaints == []


def test_from_the_total_down_to_one_request(visit: Callable) -> None:
    window = visit()
    page = window.open("/")
    page.get_by_role("link", name="coding-agent", exact=True).first.click()
    expect(page.locator(".chip")).to_contain_text("Feature is coding-agent")
    page.get_by_role("link", name="claude-sonnet-4-5", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Requests")
    page.locator("tbody tr").first.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Why this cost?")).to_be_visible()
    expect(page.get_by_role("heading", name="Prefill", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Decode", exact=True)).to_be_visible()
    assert window.complaints == []


def test_a_filter_is_added_by_form_and_removed_by_its_chip(visit: Callable) -> None:
    window = visit()
    page = window.open("/")
    before = spend_of(page)
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("Where").select_option("model")
    page.get_by_label("is", exact=True).fill("gpt-5-mini")
    page.get_by_role("button", name="Add filter").click()
    expect(page.locator(".chip")).to_contain_text("Model is gpt-5-mini")
    expect(page).to_have_url(re.compile(r"\?f=is,model,gpt-5-mini$"))
    assert spend_of(page) != before
    page.locator(".chip").click()
    expect(page.locator(".chip")).to_have_count(0)
    assert spend_of(page) == before
    assert window.complaints == []


def test_requests_are_sorted_by_a_click_on_a_heading_and_paged(visit: Callable) -> None:
    window = visit()
    page = window.open("/requests")
    page.get_by_role("columnheader", name="Output").get_by_role("link").click()
    expect(page.locator("th[aria-sort='descending']")).to_contain_text("Output")
    shown = [int(text.replace(",", "")) for text in page.locator("tbody tr td:nth-child(8)").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".pager")).to_contain_text("51–100 of")
    assert window.complaints == []


def test_a_keyboard_alone_reaches_the_content_and_changes_the_period(visit: Callable) -> None:
    window = visit()
    page = window.open("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.get_by_label("Period", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".days")).to_contain_text("5–18 Nov 2026")
    expect(page.get_by_label("Period", exact=True)).to_be_focused()


def test_the_colours_follow_the_readers_choice_and_the_chart_with_them(visit: Callable) -> None:
    window = visit()
    page = window.open("/")
    window.wait_for_charts()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    page.wait_for_load_state("networkidle")
    window.wait_for_charts()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.locator("halve-chart svg path[fill='#76afee']").count() > 0
    page.get_by_role("button", name="Auto").click()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
