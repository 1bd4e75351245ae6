"""The Prices page: rates of what the logs name, any model by search, what is unpriced with an entry, fees, twins."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from dashboard_company import company
from price_office import with_prices
from starlette.testclient import TestClient

from app.core.errors import InputError
from app.pricing.book import PriceBook
from app.web.price_fees import _amount
from app.web.server import create_app
from tests.pricing.own_book import book_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with TestClient(create_app(with_prices(tmp_path_factory.mktemp("data"))), base_url="http://127.0.0.1") as reader:
        yield reader


def rows(client: TestClient, table: str, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/prices.json?table={table}{query}")
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["rows"]
    return found


def test_the_page_shows_todays_rates_of_the_models_in_the_logs(client: TestClient) -> None:
    found = rows(client, "rates")
    assert found
    assert {row["valid_to"] for row in found} == {None}
    assert {row["currency"] for row in found} == {"USD"}
    assert {row["model"] for row in found} == {
        "openai/gpt-5", "openai/gpt-5-mini", "anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"
    }  # fmt: skip
    mini = [row for row in found if row["model"] == "openai/gpt-5-mini"]
    assert [(row["context"], row["input_usd_per_mtok"]) for row in mini] == [("contract", "0.125")]
    assert "Rates now of the models in your logs" in client.get("/prices").text


def test_search_finds_every_dated_row_of_a_model_with_its_source_and_length(client: TestClient) -> None:
    found = rows(client, "rates", "&q=gpt-4.1")
    exact = [row for row in found if row["model"] == "openai/gpt-4.1" and row["context"] == "standard"]
    assert [(row["valid_from"], row["valid_to"], row["input_usd_per_mtok"]) for row in exact] == [
        (None, "2026-11-01T00:00:00Z", "2"), ("2026-11-01T00:00:00Z", None, "2.5")
    ]  # fmt: skip
    assert "litellm of 2026-11-01, first observed 2026-11-01" in exact[1]["source"]
    long = [row for row in rows(client, "rates", "&q=gemini-2.5-pro") if row["model"] == "google/gemini-2.5-pro"]
    assert {row["prompt_above"] for row in long} == {None, 200_000}
    hours = [row["hours_utc"] for row in rows(client, "rates", "&q=deepseek-v4-pro")]
    assert "Mon to Fri, 01:00 to 04:00" in hours


def test_name_as_logs_write_it_is_found(client: TestClient) -> None:
    arn = "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
    found = rows(client, "rates", f"&q={arn}")
    assert {row["model"] for row in found} == {"aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0"}


def test_rate_in_another_currency_names_its_native_amount(client: TestClient) -> None:
    (mini, *_) = [row for row in rows(client, "rates", "&q=gpt-5-mini") if row["context"] == "contract"]
    assert (mini["input_usd_per_mtok"], mini["output_usd_per_mtok"]) == ("0.125", "0.5")
    assert "EUR input 0.1, output 0.4; 1 EUR = 1.25 USD" in mini["source"]


def test_search_without_an_answer_says_so_and_harms_nothing(client: TestClient) -> None:
    page = client.get("/prices", params={"q": "<script>alert(1)</script>"}).text
    assert "<script>alert" not in page
    assert "Nothing in the book matches" in page


def test_unpriced_models_come_with_an_entry_that_prices_them_once_it_is_filled_in(
    client: TestClient, tmp_path: Path
) -> None:
    found = rows(client, "unpriced")
    assert found
    page = client.get("/prices").text
    shown = re.search(r'<pre class="wrapped" tabindex="0" aria-label="Price file">(.*?)</pre>', page, re.DOTALL)
    assert shown is not None
    text = shown.group(1).replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    text = text.replace("&#39;", "'")
    with pytest.raises(InputError, match=r"line 2.*FILL_IN"):
        book_from(tmp_path, text)
    filled = text.replace("input: FILL_IN", "input: 1").replace("output: FILL_IN", "output: 2")
    book = book_from(tmp_path, filled)
    for row in found:
        assert row["price_file_entry"] in text
        (entry,) = yaml.safe_load(row["price_file_entry"])
        rate = book.rate(row["provider"], row["model"], at_us=0)
        assert rate is not None
        assert (entry["model"], rate.rates["r_output"]) == (row["model"], 2_000_000)


def test_disagreement_of_an_imported_table_is_shown_with_both_rates(client: TestClient) -> None:
    found = [row for row in rows(client, "disagreements", "&q=gpt-4.1") if row["model"] == "openai/gpt-4.1"]
    assert ("input", "2.5", "2026-11-01", "2", "genai-prices") in [
        (row["class"], row["book_usd"], row["since"], row["other_usd"], row["other"]) for row in found
    ]


def test_fee_stands_beside_the_list_value_of_what_it_pays_for(client: TestClient) -> None:
    seats, capacity = rows(client, "fees")
    # 19 October to 17 November 2026: 13 of October's 31 days, 17 of November's 30
    assert float(seats["usd"]) == pytest.approx(120 * (13 / 31 + 17 / 30), abs=1e-9)
    assert float(seats["list_value_usd"]) > 0
    assert (capacity["usd"], capacity["currency"], capacity["list_value_usd"]) == ("9000", "EUR", None)


def test_fee_that_contradicts_how_its_logs_are_counted_says_so(client: TestClient) -> None:
    page = client.get("/prices").text
    assert re.search(r'href="/sources">litellm</a>\s*<small>counted as \w+: tell us on Sources', page)


def test_every_table_has_its_csv(client: TestClient) -> None:
    for table in ("rates", "unpriced", "disagreements", "fees"):
        answer = client.get(f"/prices.csv?table={table}")
        heading = next(csv.reader(io.StringIO(answer.text)))
        assert heading == list(rows(client, table)[0] if rows(client, table) else heading)


def test_version_and_lists_are_named(client: TestClient) -> None:
    page = client.get("/prices").text
    assert "genai-prices" in page
    assert "litellm of 2026-11-01" in re.sub(r"<[^>]+>", "", page)
    assert "own.yml" in page
    assert 'aria-current="page"' in page


def test_service_without_a_book_says_so() -> None:
    made = company(no_access_control=True, demo=True)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        assert "No price book here" in reader.get("/prices").text


def test_book_knows_every_model_that_it_prices() -> None:
    book = PriceBook.load(None)
    models = book.models()
    assert ("openai", "gpt-4o") in models
    assert ("alibaba", "qwen3-max") in models
    assert len(models) == len(set(models)) > 2_500


def test_store_without_requests_claims_nothing_about_its_models(tmp_path: Path) -> None:
    deps = with_prices(tmp_path)
    with deps.warehouse.writing() as session:
        for table in ("requests", "spend_hour"):
            session.connection.execute(f"DELETE FROM {table}")
    with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:
        page = reader.get("/prices").text
    assert "No request was read yet." in page
    assert "Every model in the logs has a price" not in page
    assert "The lists agree on the models above" not in page


def test_amount_of_a_fee_has_no_zeros_that_multiplying_left(tmp_path: Path) -> None:
    text = "fees: [{name: PTU, billing: provisioned, amount: 1.50, seats: 50, per: hour}]"
    (fee,) = book_from(tmp_path, text).fees
    cell = _amount(fee)
    assert (cell.value, cell.text, cell.note) == ("75", "75", "50 × 1.50")
