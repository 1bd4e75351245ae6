"""What a bill charges in a currency without an exchange rate is in no dollar sum, and said wherever the sum stands."""

from __future__ import annotations

import csv
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from app.web.format import native_money
from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from pathlib import Path

RATE = "currencies:\n  - {currency: EUR, usd: 1.08}\n"
BOTH = RATE + "  - {currency: SEK, usd: 0.1}\n"


def bill(path: Path) -> Path:
    """One day in euro, one in krona, both for a model and without counts of tokens."""
    rows = [
        {
            "BilledCost": cost, "EffectiveCost": cost, "ListCost": cost, "BillingCurrency": currency,
            "BillingAccountId": "acc-1", "ChargeCategory": "Usage", "ChargePeriodStart": f"2026-11-{day}T00:00:00Z",
            "ChargePeriodEnd": f"2026-11-{day + 1}T00:00:00Z", "ProviderName": "Microsoft", "SkuId": sku,
            "ServiceName": "Azure OpenAI Service", "ServiceCategory": "AI and Machine Learning",
            "ChargeDescription": "tokens", "InvoiceIssuerName": "Microsoft",
        }
        for day, cost, currency, sku in (
            (24, "12.50", "EUR", "gpt-4.1 Inp glbl Tokens"), (25, "7000.25", "SEK", "gpt-4.1 Outp glbl Tokens"),
        )
    ]  # fmt: skip
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def prices(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_analysis_says_what_of_a_bill_is_in_no_sum(tmp_path: Path) -> None:
    given = (bill(tmp_path / "bill.csv"), "--prices", prices(tmp_path / "prices.yml", RATE))
    document = inside(tmp_path / "home", "analyze", "--json", *given).json
    assert document["cost_usd"] == "13.5"
    assert [(one["currency"], Decimal(one["amount"])) for one in document["without_rate"]] == [
        ("SEK", Decimal("7000.25"))
    ]
    said = " ".join(inside(tmp_path / "home", "analyze", *given).out.split())
    assert "In no sum: bills charge 7,000.25 SEK, for which there is no exchange rate." in said


def test_with_every_rate_the_sum_is_whole_and_nothing_is_said(tmp_path: Path) -> None:
    given = (bill(tmp_path / "bill.csv"), "--prices", prices(tmp_path / "prices.yml", BOTH))
    document = inside(tmp_path / "home", "analyze", "--json", *given).json
    assert document["cost_usd"] == "713.525"
    assert document["without_rate"] == []


@pytest.mark.parametrize("week", ["2026-W48", "2026-W47"])
def test_the_weekly_report_says_it_in_the_week_of_the_bill(tmp_path: Path, week: str) -> None:
    home = tmp_path / "home"
    assert inside(home, "ingest", bill(tmp_path / "bill.csv")).code == 0
    text = " ".join(inside(home, "report", "show", "--week", week).out.split())
    named = "Bills charge 12.50 EUR and 7,000.25 SEK besides, for which there is no exchange rate" in text
    assert named == (week == "2026-W48")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("1204.1", "1,204.10 EUR"),
        ("-3", "−3.00 EUR"),
        ("0.000120", "0.00012 EUR"),
        ("7000.250000000000", "7,000.25 EUR"),
    ],
)
def test_an_amount_in_its_own_currency_keeps_every_digit(amount: str, text: str) -> None:
    assert native_money(Decimal(amount), "EUR") == text
