"""A bill for services that are no models is in no sum of `halve analyze`, and named with its amount."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from tests.cli.halve_command import inside
from tests.ingest.made_logs import lines

if TYPE_CHECKING:
    from pathlib import Path

ROW = {
    "BilledCost": "12.5",
    "EffectiveCost": "12.5",
    "ListCost": "12.5",
    "ContractedCost": "12.5",
    "BillingCurrency": "USD",
    "BillingAccountId": "1",
    "BillingPeriodStart": "2026-11-01T00:00:00Z",
    "BillingPeriodEnd": "2026-12-01T00:00:00Z",
    "ChargePeriodStart": "2026-11-02T00:00:00Z",
    "ChargePeriodEnd": "2026-11-03T00:00:00Z",
    "ChargeCategory": "Usage",
    "ChargeDescription": "Storage of a month",
    "ServiceName": "Amazon S3",
    "ServiceCategory": "Storage",
    "ProviderName": "AWS",
    "PublisherName": "AWS",
    "InvoiceIssuerName": "AWS",
    "SkuId": "S3-1",
    "PricingQuantity": "1",
    "PricingUnit": "GB",
    "ConsumedQuantity": "1",
    "ConsumedUnit": "GB",
}


def bill(path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ROW)
        writer.writeheader()
        writer.writerow(ROW)
    return path


@pytest.mark.parametrize("logged", [False, True])
def test_services_that_are_no_models_are_named_and_in_no_sum(tmp_path: Path, logged: bool) -> None:
    paths = [bill(tmp_path / "focus.csv")]
    if logged:
        paths.append(tmp_path / "calls.jsonl")
        paths[-1].write_text(lines(range(5)), encoding="utf-8")
    document = inside(tmp_path / "home", "analyze", "--json", *paths).json
    assert document["other_services"] == [{"provider": "aws", "cost_usd": "12.5"}]
    assert document["requests"] == (5 if logged else 0)
    assert document["basis"] == ("paid" if logged else None), "nothing of a model was paid"
    assert document["cost_usd"] is None or float(document["cost_usd"]) < 1
    assert "Kept apart: a bill of $12.50 for services that are no models (aws $12.50)." in " ".join(
        inside(tmp_path / "home", "analyze", *paths).out.split()
    )


@pytest.mark.data
def test_the_public_focus_sample_is_said_to_be_kept_apart(tmp_path: Path, data_dir: Path) -> None:
    assert "Kept apart: a bill of $20.52" in inside(tmp_path, "analyze", data_dir / "focus").out
