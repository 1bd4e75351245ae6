"""Azure deployments: the caller's own names for models, mapped in the price file or else priced only where exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.pricing.own_book import book_from

if TYPE_CHECKING:
    from app.pricing.book import PriceBook


def test_an_unmapped_deployment_whose_answer_says_only_the_family_has_no_price(book: PriceBook) -> None:
    assert book.matcher.find("azure", "gpt-4", deployment="team-chat-prod") is None
    assert book.matcher.find("azure", "gpt-4o", deployment="gpt-4o") is None


def test_an_answer_with_its_version_is_exact_whatever_the_deployment_is_called(book: PriceBook) -> None:
    for model in ("gpt-4o-2024-08-06", "gpt-4.1-20250414"):
        assert book.matcher.find("azure", model, deployment="anything") is not None


def test_a_base_model_that_the_log_names_is_believed(book: PriceBook) -> None:
    match = book.matcher.find("azure", "gpt-4", "gpt-4o", deployment="team-chat-prod")
    assert match is not None
    assert match.price_model == "gpt-4o"


@pytest.mark.parametrize("kind", ["GlobalStandard", "DataZoneStandard", "standard"])
def test_a_deployment_type_is_nobodys_name(book: PriceBook, kind: str) -> None:
    assert book.matcher.find("azure", "gpt-4o", deployment=kind) is not None


def test_deployments_of_other_providers_decide_nothing(book: PriceBook) -> None:
    assert book.matcher.find("openai", "gpt-4o", deployment="blue") is not None


def test_what_is_not_mapped_is_listed_under_the_deployments_name(tmp_path) -> None:
    pairs = pl.DataFrame(
        {
            "provider": ["azure"], "model": ["gpt-4"], "service_tier": [""], "is_batch": [False], "region": [""],
            "price_context": ['{"deployment":"team-chat-prod"}'], "account": [""],
        }
    )  # fmt: skip
    (unmapped,) = book_from(tmp_path, "rates: []\n").resolve(pairs).iter_rows(named=True)
    assert (unmapped["model_id"], unmapped["rate_key"]) == ("team-chat-prod", None)
    own = book_from(tmp_path, "aliases:\n  - {provider: azure, name: team-chat-prod, model: openai/gpt-4o}\n")
    (mapped,) = own.resolve(pairs).iter_rows(named=True)
    assert mapped["model_id"] == "gpt-4o"
    assert mapped["rate_key"] is not None
