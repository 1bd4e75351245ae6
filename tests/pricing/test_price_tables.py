"""Price tables of others: how each layout is read, what differs from the book, and what is taken over."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InputError
from app.pricing import imported, tables
from app.pricing.book import PriceBook
from app.pricing.difference import compare
from app.pricing.disagreement import disagreements
from app.pricing.rule_text import plain
from app.pricing.tables import litellm
from tests.pricing.moments import us
from tests.pricing.own_book import book_from

if TYPE_CHECKING:
    from pathlib import Path

    from app.pricing.difference import Difference
    from app.pricing.tables.table import PriceTable

TODAY = us("2026-11-30T00:00:00Z")
LITELLM: dict[str, Any] = {
    "sample_spec": {"input_cost_per_token": 0.0, "litellm_provider": "one of"},
    "gpt-4o": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06,
               "output_cost_per_token": 1e-05, "cache_read_input_token_cost": 1.25e-06},
    "gpt-4.1": {"litellm_provider": "openai", "input_cost_per_token": 3e-06, "output_cost_per_token": 8e-06},
    "azure/us/gpt-4.1": {"litellm_provider": "azure", "input_cost_per_token": 2.2e-06},
    "made-model": {"litellm_provider": "openai", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
                   "input_cost_per_token_above_200k_tokens": 2e-06, "input_cost_per_token_batches": 5e-07,
                   "input_cost_per_token_above_200k_tokens_batches": 1e-06, "made_up_cost_per_dream": 1},
    "made-thousand": {"litellm_provider": "openai", "input_cost_per_token": 3e-03},
    "made-unit": {"litellm_provider": "openai", "input_cost_per_token": 3},
    "made-tiny": {"litellm_provider": "openai", "input_cost_per_token": 3e-12},
    "gpt-4o-mini": {"litellm_provider": "openai", "input_cost_per_token": 1.5e-04},
    "made-free": {"litellm_provider": "openai", "input_cost_per_token": 0, "output_cost_per_token": 0},
    "made-text": {"litellm_provider": "openai", "input_cost_per_token": "n/a", "output_cost_per_token": 1e-06},
    "gpt-4o-2024-08-06": {"litellm_provider": "openai", "input_cost_per_token": 9e-06},
    "deepseek/deepseek-v4-pro": {"litellm_provider": "deepseek", "input_cost_per_token": 9e-07},
}  # fmt: skip


def table_of(folder: Path, content: Any, name: str = "table.json") -> PriceTable:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return tables.read(path, TODAY)


def found(difference: Difference, kind: Any) -> list[str]:
    return [f"{item.row.where} {item.row.ctx}".strip() for item in difference.of(kind)]


def test_difference_names_what_is_new_changed_equal_held_back_and_refused(tmp_path: Path, book: PriceBook) -> None:
    table = table_of(tmp_path, LITELLM)
    difference = compare(book, table)
    assert found(difference, "added") == ["made-model", "made-model batch"]
    assert found(difference, "changed") == ["gpt-4.1"]
    assert found(difference, "same") == ["gpt-4o", "azure/us/gpt-4.1 deployment=DataZoneStandard"]
    held = {item.row.where: item.reason for item in difference.of("held")}
    assert "per million in a field per token" in held["made-thousand"]
    assert "per million in a field per token" in held["made-unit"]
    assert "per token in a field per million" in held["made-tiny"]
    assert "1000 times the known rate" in held["gpt-4o-mini"]
    assert "zero" in held["made-free"]
    assert held["gpt-4o-2024-08-06"] == "the book prices this name as openai/gpt-4o"
    assert "hour" in held["deepseek/deepseek-v4-pro"]
    assert [(one.where, "'n/a'" in one.reason) for one in table.problems] == [("made-text", True)]
    assert table.unread == {"made_up_cost_per_dream": 1}
    assert "openai/o3" in difference.removed


def test_change_shows_the_old_and_the_new_rate(tmp_path: Path, book: PriceBook) -> None:
    (item,) = compare(book, table_of(tmp_path, LITELLM)).of("changed")
    assert [(change.name, change.old, change.new) for change in item.changes] == [("input", 2_000_000, 3_000_000)]


def test_applied_rates_hold_from_the_day_of_the_table_and_history_stays(tmp_path: Path, book: PriceBook) -> None:
    folder = tmp_path / "prices"
    taken = imported.apply(folder, compare(book, table_of(tmp_path, LITELLM)), now_us=TODAY)
    assert (taken.added, taken.changed) == (2, 1)
    after = PriceBook.load(None, imported=imported.file_in(folder))
    rates = [after.rate("openai", "gpt-4.1", at_us=TODAY + step) for step in (-1, 0)]
    assert [None if rate is None else rate.rates["r_input"] for rate in rates] == [2_000_000, 3_000_000]
    assert rates[1] is not None
    assert (rates[1].rates["r_cache_read"], rates[1].status) == (500_000, "estimated")
    assert "litellm of 2026-11-30, first observed 2026-11-30" in rates[1].source
    made = [
        after.rate("openai", "made-model", at_us=us("2025-01-01"), prompt_tokens=n, ctx=ctx)
        for n, ctx in ((200_000, ""), (200_001, ""), (200_001, "batch"))
    ]
    assert [None if rate is None else rate.rates["r_input"] for rate in made] == [1_000_000, 2_000_000, 1_000_000]
    assert after.version != book.version


def test_second_import_adds_to_the_first_and_an_equal_one_changes_nothing(tmp_path: Path, book: PriceBook) -> None:
    folder = tmp_path / "prices"
    imported.apply(folder, compare(book, table_of(tmp_path, LITELLM)), now_us=TODAY)
    after = PriceBook.load(None, imported=imported.file_in(folder))
    again = compare(after, table_of(tmp_path, LITELLM), lambda row: row.provider == "openai")
    assert (again.of("added"), again.of("changed")) == ((), ())
    first = (folder / imported.NAME).read_text(encoding="utf-8")
    newer = {"made-model": {"litellm_provider": "openai", "input_cost_per_token": 4e-06}}
    later = tables.litellm.read("newer", newer, us("2026-12-24T00:00:00Z"))
    imported.apply(folder, compare(after, later), now_us=TODAY)
    assert (folder / imported.NAME).read_text(encoding="utf-8").startswith(first)
    last = PriceBook.load(None, imported=imported.file_in(folder))
    prices = [last.rate("openai", "made-model", at_us=us(day)) for day in ("2026-12-23", "2026-12-24")]
    assert [None if rate is None else rate.rates["r_input"] for rate in prices] == [1_000_000, 4_000_000]
    (kept,) = imported.tables_in(folder)
    assert kept.name == "newer"


def test_model_that_the_list_writes_in_capitals_keeps_what_the_table_leaves_equal(
    tmp_path: Path, book: PriceBook
) -> None:
    (before,) = [row for row in book.listed("zai", "glm-5")[1] if row.valid_from_us <= TODAY < row.valid_to_us]
    table = {"zai/glm-5": {"litellm_provider": "zai", "output_cost_per_token": 9e-06}}
    imported.apply(tmp_path, compare(book, table_of(tmp_path, table)), now_us=TODAY)
    after = PriceBook.load(None, imported=imported.file_in(tmp_path))
    rates = [after.rate("zai", "glm-5", at_us=TODAY + step) for step in (-1, 0)]
    assert [None if rate is None else rate.rates["r_output"] for rate in rates] == [
        before.rates["r_output"], 9_000_000
    ]  # fmt: skip
    assert rates[1] is not None
    assert rates[1].rates["r_input"] == before.rates["r_input"]


def test_rate_of_a_place_is_taken_as_it_stands_and_not_multiplied_again(tmp_path: Path, book: PriceBook) -> None:
    table = {"azure/eu/gpt-4.1": {"litellm_provider": "azure", "input_cost_per_token": 2.4e-06}}
    imported.apply(tmp_path, compare(book, table_of(tmp_path, table)), now_us=TODAY)
    after = PriceBook.load(None, imported=imported.file_in(tmp_path))
    zone = after.rate("azure", "gpt-4.1", at_us=TODAY, ctx="deployment=DataZoneStandard")
    plain_azure, maker = (after.rate(name, "gpt-4.1", at_us=TODAY) for name in ("azure", "openai"))
    assert zone is not None
    assert plain_azure is not None
    assert maker is not None
    assert [rate.rates["r_input"] for rate in (zone, plain_azure, maker)] == [2_400_000, 2_000_000, 2_000_000]
    assert zone.rates["r_output"] == 8_800_000


def test_imported_rate_of_a_tier_and_place_wins_over_the_tiers_alone(tmp_path: Path, book: PriceBook) -> None:
    table = {
        "bedrock/eu-west-2/made.model": {
            "litellm_provider": "bedrock", "input_cost_per_token": 2e-06, "input_cost_per_token_flex": 1.5e-06,
        },
        "made.model": {
            "litellm_provider": "bedrock", "input_cost_per_token": 1e-06, "input_cost_per_token_flex": 5e-07,
        },
    }  # fmt: skip
    imported.apply(tmp_path, compare(book, table_of(tmp_path, table)), now_us=TODAY)
    after = PriceBook.load(None, imported=imported.file_in(tmp_path))
    asked = ("", "flex", "region=eu-west-2", "flex region=eu-west-2", "flex region=us-east-1", "priority")
    rates = [after.rate("bedrock", "made.model", at_us=TODAY, ctx=ctx) for ctx in asked]
    assert [None if rate is None else rate.rates["r_input"] for rate in rates] == [
        1_000_000, 500_000, 2_000_000, 1_500_000, 500_000, None
    ]  # fmt: skip


def test_one_record_of_a_proxy_is_a_table_and_text_is_a_number(tmp_path: Path, book: PriceBook) -> None:
    record = {"model": "azure_ai/made-claude", "input_cost_per_token": "5e-06", "output_cost_per_token": "2.5e-05"}
    table = table_of(tmp_path, record)
    assert (table.rows[0].provider, table.rows[0].model, table.whole) == ("azure_ai", "made-claude", False)
    imported.apply(tmp_path, compare(book, table), now_us=TODAY)
    rate = PriceBook.load(None, imported=imported.file_in(tmp_path)).rate("azure", "made-claude", at_us=TODAY)
    assert rate is not None
    assert (rate.rates["r_input"], rate.rates["r_output"]) == (5_000_000, 25_000_000)


@pytest.mark.parametrize("value", ["", "free", "1e", "nan", "-1e-6", "inf", "1e999999999", True, [], {}])
def test_price_that_is_no_number_refuses_its_entry_and_is_never_zero(value: Any) -> None:
    table = litellm.read("t", {"m": {"litellm_provider": "p", "input_cost_per_token": value}}, TODAY)
    assert (table.rows, [one.where for one in table.problems]) == ([], ["m"])


def test_csv_has_the_columns_of_a_price_file(tmp_path: Path, book: PriceBook) -> None:
    text = "provider,model,ctx,from,input,output,mood\nhost,m,,2026-01-01,1,2,fine\nhost,n,batch,,x,2,\nhost,o,,,3,,\n"
    table = table_of(tmp_path, text, "rates.csv")
    assert [(row.model, row.ctx) for row in table.rows] == [("m", ""), ("o", "")]
    assert [(one.where, "'input'" in one.reason) for one in table.problems] == [("rates.csv, line 3", True)]
    assert table.unread == {"mood": 1}
    difference = compare(book, table)
    assert (found(difference, "added"), difference.removed) == (["rates.csv, line 2", "rates.csv, line 4"], ())
    imported.apply(tmp_path, difference, now_us=TODAY)
    after = PriceBook.load(None, imported=imported.file_in(tmp_path))
    assert after.rate("host", "m", at_us=us("2025-12-31")) is None
    assert after.rate("host", "m", at_us=us("2026-01-01")) is not None


def test_csv_without_the_needed_columns_says_which(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="provider, model and the classes"):
        table_of(tmp_path, "model,price\nm,1\n", "rates.csv")


def test_dated_timeline_of_a_snapshot_becomes_dated_rows(tmp_path: Path, book: PriceBook) -> None:
    old, new = {"input": 1.0, "output": 4.0}, {"input": 2.0, "output": 4.0, "source": "https://maker.example/prices"}
    standard = [{"start": None, "rates": old}, {"start": "2026-03-01T00:00:00Z", "rates": new}]
    content = {"schema": 1, "updated_at": "2026-10-26T12:00:00Z", "prices": {"maker": {"made": {"standard": standard}}}}
    table = table_of(tmp_path, content)
    assert table.as_of_us == us("2026-10-26T12:00:00Z")
    imported.apply(tmp_path, compare(book, table), now_us=TODAY)
    after = PriceBook.load(None, imported=imported.file_in(tmp_path))
    rates = [after.rate("maker", "made", at_us=us(day)) for day in ("2026-02-28", "2026-03-01")]
    assert [None if rate is None else rate.rates["r_input"] for rate in rates] == [1_000_000, 2_000_000]
    assert rates[1] is not None
    assert "https://maker.example/prices" in rates[1].source


def test_data_of_the_price_library_is_read_by_its_own_reader(tmp_path: Path, book: PriceBook) -> None:
    model = {
        "id": "made-model",
        "match": {"equals": "made-model"},
        "prices": [
            {"prices": {"input_mtok": 1, "output_mtok": 4}},
            {"prices": {"input_mtok": 2, "output_mtok": 4}, "constraint": {"start_date": "2026-06-01"}},
        ],
    }
    provider = {"id": "openai", "name": "OpenAI", "api_pattern": "https://api\\.openai\\.com", "models": [model]}
    table = table_of(tmp_path, [provider])
    assert [(row.model, row.from_us) for row in table.rows] == [("made-model", us("2026-06-01T00:00:00Z"))]
    assert found(compare(book, table), "added") == ["openai/made-model"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.json", "{", "no valid JSON"),
        ("t.json", '{"a": 1}', "no price table that Halve knows"),
        ("t.json", "[]", "no price table that Halve knows"),
        ("t.json", "[" * 100_000, "no valid JSON"),
        ("t.csv", "", "first line"),
    ],
)
def test_file_that_is_no_price_table_says_so(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        table_of(tmp_path, text, name)


def test_missing_file_and_bytes_that_are_no_text_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        tables.read(tmp_path / "none.json", TODAY)
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        tables.read(tmp_path / "b.json", TODAY)


amounts = st.decimals("0.000000001", "0.0000009", places=15)


@given(st.dictionaries(st.sampled_from(["input", "output", "cache_read"]), amounts, min_size=1))
def test_every_price_of_a_table_is_kept_exactly(prices: dict[str, Decimal]) -> None:
    fields = {"input": "input_cost_per_token", "output": "output_cost_per_token"}
    entry = {fields.get(name, "cache_read_input_token_cost"): str(value) for name, value in prices.items()}
    table = litellm.read("t", {"m": {"litellm_provider": "p", **entry}}, TODAY)
    assert {name: steps[0][1] for name, steps in table.rows[0].prices.items()} == {
        name: value * 10**12 for name, value in prices.items()
    }


@given(st.decimals("0.000000000001", 100_000, places=12))
def test_rate_is_written_so_that_it_reads_back(number: Decimal) -> None:
    written = plain(number)
    assert "E" not in written.upper()
    assert abs(Decimal(written) - number) <= number * Decimal("1e-12")


def test_lists_that_disagree_are_named_with_both_rates_and_dates(tmp_path: Path, book: PriceBook) -> None:
    small = {
        "gpt-4o": {"litellm_provider": "openai", "input_cost_per_token": 2.51e-06},
        "gpt-4.1": {"litellm_provider": "openai", "input_cost_per_token": 2.03e-06},
        "gpt-4.1-2025-04-14": {"litellm_provider": "openai", "input_cost_per_token": 2.03e-06},
    }
    listed = disagreements(book, [table_of(tmp_path, small)], now_us=TODAY)
    told = [(one.model, one.name, one.book_usd, one.other_usd) for one in listed if one.other == "litellm"]
    assert told == [("gpt-4.1", "input", "2", "2.03")]
    (one,) = [one for one in listed if one.other == "litellm"]
    assert (one.as_of_us, one.source.startswith("genai-prices")) == (TODAY, True)
    library = {(one.model, one.name): one for one in listed if one.other == "genai-prices"}
    assert library["claude-sonnet-4-0", "input"].prompt_above == 200_000


def test_rate_of_the_users_file_that_differs_from_the_list_is_a_disagreement(tmp_path: Path) -> None:
    own = book_from(
        tmp_path,
        "rates:\n  - {provider: openai, model: gpt-4o, input: 2, output: 10}\n"
        "  - {provider: openai, model: gpt-4.1, to: 2025-01-01, input: 1}\n",
    )
    told = [one for one in disagreements(own, [], now_us=TODAY) if one.other == "your price file"]
    assert [(one.model, one.name, one.book_usd, one.other_usd) for one in told] == [("gpt-4o", "input", "2.5", "2")]


@pytest.mark.parametrize(
    ("unit", "written"),
    [
        ("", "3"), ("per 1M tokens", "3"), ("1M", "3"), ("USD/Mtok", "3"), ("1,000,000 tokens", "3"),
        ("per 1K tokens", "0.003"), ("1k", "0.003"), ("1000", "0.003"), ("ktok", "0.003"),
        ("token", "0.000003"), ("per token", "0.000003"), ("1", "0.000003"),
    ],
)  # fmt: skip
def test_csv_says_in_which_unit_its_prices_are(tmp_path: Path, unit: str, written: str) -> None:
    text = f'Provider, Model ,unit,input,web_search\nopenai,made-model,"{unit}",{written},0.01\n'
    (row,) = table_of(tmp_path, text, "t.csv").rows
    assert row.prices == {"input": ((-1, Decimal(3_000_000)),), "web_search": ((-1, Decimal(10**10)),)}


@pytest.mark.parametrize(
    ("columns", "values", "words"),
    [
        ("currency", "EUR", "exchange rate"),
        ("account", "acme", "your own price file"),
        ("weekdays", "mon-fri", "your own price file"),
        ("factor", "0.5", "your own price file"),
        ("unit", "per call", "none of"),
        ("input", "-3", "not negative"),
        ("input", "NaN", "not negative"),
        ("input", "1e400000000", "beyond all measure"),
        ("note", "x,too many", "more values"),
        ("to", "2026-01-01", "not after"),
    ],
)
def test_csv_row_that_means_more_than_a_price_is_refused(tmp_path: Path, columns: str, values: str, words: str) -> None:
    first = "" if columns == "input" else ",3"
    heading = "provider,model,from" + ("" if columns == "input" else ",input") + f",{columns}"
    other = "openai,other,2026-06-01,3" + ("," if first else "")
    text = f"{heading}\nopenai,made-model,2026-06-01{first},{values}\n{other}\n"
    table = table_of(tmp_path, text, "t.csv")
    assert [row.model for row in table.rows] == ["other"]
    (problem,) = table.problems
    assert words in problem.reason
    assert "line 2" in problem.where


@pytest.mark.parametrize("newest_first", [False, True])
def test_dated_rows_of_a_table_hold_by_their_day_whatever_their_order(
    tmp_path: Path, book: PriceBook, newest_first: bool
) -> None:
    lines = ["openai,made-dated,2026-01-01,1\n", "openai,made-dated,2026-06-01,2\n"]
    text = "provider,model,from,input\n" + "".join(reversed(lines) if newest_first else lines)
    imported.apply(tmp_path, compare(book, table_of(tmp_path, text, "t.csv")), now_us=TODAY)
    after = PriceBook.load(None, None, imported.file_in(tmp_path))
    rates = [after.rate("openai", "made-dated", at_us=us(day)) for day in ("2026-03-01", "2026-06-01", "2026-11-01")]
    assert [None if rate is None else rate.rates["r_input"] for rate in rates] == [1_000_000, 2_000_000, 2_000_000]
