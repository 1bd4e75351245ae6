"""Data files of genai-prices (`prices/new_data/v2/data.json`, MIT), read by the installed library's own reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.errors import InputError
from app.pricing import context as ctx_of
from app.pricing import listprices
from app.pricing.tables.table import PriceTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.pricing.listprices import ListModel

KIND: Final = "genai-prices"


def recognised(content: Any) -> bool:
    """Whether decoded JSON is a list of providers with models in that layout."""
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and {"id", "models"} <= first.keys()


def read(name: str, content: Any, as_of_us: int) -> PriceTable:
    """The table of decoded JSON.

    Raises:
        InputError: the installed library does not know this layout.
    """
    from genai_prices import types

    try:
        providers = types._providers_from_raw(content)  # noqa: SLF001 - the library offers no public reader of a file
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{name}: the installed genai-prices {listprices.library_version()} cannot read this data ({error}). "
            "Upgrade the package, or take a data file of its own release."
        ) from error
    return of_models(listprices.of_providers(providers).models, name, as_of_us)


def of_models(models: Iterable[ListModel], name: str, as_of_us: int) -> PriceTable:
    """The rates of a list at one moment: standard prices and every variant."""
    rows = [row for model in models for row in _rows(model, as_of_us)]
    return PriceTable(kind=KIND, name=name, as_of_us=as_of_us, rows=rows)


def _rows(model: ListModel, at_us: int) -> Iterator[TableRow]:
    if any(dated.minute_from is not None for dated in model.standard):
        return  # prices by the hour have no rate of one moment
    standard = next((dated for dated in reversed(model.standard) if dated.active(at_us, 0)), None)
    where = f"{model.provider}/{model.model}"
    if standard is None:
        return
    if standard.prices:
        yield TableRow(
            provider=model.provider,
            model=model.model,
            prices=standard.prices,
            from_us=standard.start_us,
            where=where,
        )
    for variant in model.variants:
        if variant.prices and (variant.start_us or 0) <= at_us:
            yield TableRow(
                provider=model.provider,
                model=model.model,
                ctx=ctx_of.text(dict(variant.when)),
                prices=variant.prices,
                from_us=variant.start_us,
                where=where,
            )
