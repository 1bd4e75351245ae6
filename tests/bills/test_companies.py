"""The companies that FOCUS exports name are the providers that logs name, however they sign."""

from __future__ import annotations

import pytest

from app.core.billed import BilledLine
from ingest.formats.bills.focus import FORMAT
from ingest.formats.format import Origin

ROW = {
    "BilledCost": "1",
    "BillingAccountId": "1",
    "ChargeCategory": "Usage",
    "ChargePeriodStart": "2026-03-02T00:00:00Z",
    "ServiceSubcategory": "Generative AI",
}


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("AWS", "aws"),
        ("Amazon Web Services, Inc.", "aws"),
        ("Microsoft Azure", "azure"),
        ("Microsoft Corporation", "azure"),
        ("Google Cloud Platform", "google"),
        ("Google LLC", "google"),
        ("OpenAI, L.L.C.", "openai"),
        ("OpenAI Ireland Ltd.", "openai"),
        ("Anthropic, PBC", "anthropic"),
        ("Mistral AI", "mistral"),
        ("Azurite Gems", "azurite gems"),
    ],
)
@pytest.mark.parametrize("column", ["ProviderName", "ServiceProviderName", "InvoiceIssuerName"])
def test_a_company_is_the_provider_of_the_logs(column: str, name: str, provider: str) -> None:
    (line,) = list(FORMAT.parse(ROW | {column: name}, Origin("bills", "bill.csv", 1)))
    assert isinstance(line, BilledLine)
    assert line.provider == provider
