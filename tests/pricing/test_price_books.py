"""The book at work follows its files: an import or an edit counts at once, a mistake leaves the book before it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

from app.main.price_books import Books
from app.main.prices import import_table, price_desk
from app.main.runtime import live_books
from app.pricing.rules import Overlay
from app.settings import Settings
from tests.pricing.moments import us
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from pathlib import Path

    from app.pricing.book import PriceBook


NOW = us("2026-11-20")
TABLE = {
    "sample_spec": {},
    "made-model": {"litellm_provider": "openai", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
}


def input_usd(book: PriceBook, provider: str, model: str, at_us: int = NOW) -> str | None:
    rate = book.rate(provider, model, at_us=at_us)
    return None if rate is None else str(rate.rates["r_input"])


def taken_over(folder: Path, settings: Settings, table: dict[str, dict[str, object]], day: str) -> str:
    file = folder / "litellm.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    return import_table(file, settings, as_of=day, really=True).version


def test_imported_rate_prices_what_comes_next_without_a_restart(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    books = live_books(settings)
    before = books.at_work()
    assert input_usd(before.book, "openai", "made-model") is None
    version = taken_over(tmp_path, settings, TABLE, "2026-11-01")
    after = books.at_work()
    assert (after.book.version, after.problem) == (version, "")
    assert version != before.book.version
    assert after.since_us > before.since_us
    assert input_usd(after.book, "openai", "made-model") == "1000000.000000"
    assert books.at_work() is after, "nothing changed, so nothing is read"


def test_page_shows_the_book_of_now(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    desk = price_desk(live_books(settings), settings)
    assert desk.tables() == []
    version = taken_over(tmp_path, settings, TABLE, "2026-11-01")
    assert desk.at_work()[0].version == version
    assert [kind for kind, _ in desk.tables()] == ["litellm"]


def test_own_file_with_a_mistake_leaves_the_book_before_it_at_work_and_says_so(tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text("rates:\n  - {provider: gateway, model: own, input: 1}\n", encoding="utf-8")
    books = live_books(Settings(data_dir=tmp_path, prices=str(own)))
    own.write_text("rates:\n  - {provider: gateway, model: own, input: one}\n", encoding="utf-8")
    wrong = books.at_work()
    assert input_usd(wrong.book, "gateway", "own") == "1000000.000000"
    assert "own.yml, line 2" in wrong.problem
    own.write_text("rates:\n  - {provider: gateway, model: own, input: 2.5}\n", encoding="utf-8")
    right = books.at_work()
    assert input_usd(right.book, "gateway", "own") == "2500000.000000"
    assert right.problem == ""


def test_own_file_that_is_gone_leaves_its_terms_and_says_so(tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text("rates:\n  - {provider: gateway, model: own, input: 1}\n", encoding="utf-8")
    books = live_books(Settings(data_dir=tmp_path, prices=str(own)))
    own.unlink()
    gone = books.at_work()
    assert input_usd(gone.book, "gateway", "own") == "1000000.000000"
    assert "cannot be read" in gone.problem


def test_later_import_changes_no_price_of_a_time_before_its_table(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    books = live_books(settings)
    table = {**TABLE, "gpt-4.1": {"litellm_provider": "openai", "input_cost_per_token": 3e-06}}
    before = books.now()
    taken_over(tmp_path, settings, table, "2026-11-01")
    first = books.now()
    table["gpt-4.1"] = {"litellm_provider": "openai", "input_cost_per_token": 2.5e-06}
    taken_over(tmp_path, settings, table, "2026-11-15")
    second = books.now()
    told = [
        [
            input_usd(book, "openai", "gpt-4.1", us(f"2026-{day}T00:00:00Z"))
            for day in ("10-31", "11-01", "11-14", "11-15")
        ]
        for book in (before, first, second)
    ]
    assert [[float(str(rate)) / 1e6 for rate in rates] for rates in told] == [
        [2, 2, 2, 2], [2, 3, 3, 3], [2, 3, 3, 2.5],
    ]  # fmt: skip


def test_who_asks_for_the_newest_book_waits_for_the_one_that_another_thread_reads(tmp_path: Path) -> None:
    file = tmp_path / "prices.yml"
    file.write_text("old", encoding="utf-8")
    began, may_go_on = Event(), Event()
    old, new = book_with(Overlay()), book_with(Overlay())

    def load() -> PriceBook:
        if file.read_text(encoding="utf-8") == "old":
            return old
        began.set()
        assert may_go_on.wait(20)
        return new

    books = Books(load, (file,))
    file.write_text("newer", encoding="utf-8")
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(books.now)
        assert began.wait(20)
        assert books.now() is old, "who prices what comes now does not wait"
        asked = pool.submit(books.newest)
        may_go_on.set()
        assert asked.result(20) is new
        assert reading.result(20) is new
