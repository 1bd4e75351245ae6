"""Price tables of others as files: each reader is strange to the rest, `read` finds the one that knows the file."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.core.errors import InputError
from app.pricing.tables import csv_rows, genai, litellm, snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from app.pricing.tables.table import PriceTable

MAX_BYTES: Final = 64 << 20


def read(path: Path, as_of_us: int) -> PriceTable:
    """The price table in a file; `as_of_us` dates rates that carry no date of their own.

    Raises:
        InputError: it cannot be read, or no reader knows its layout.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 20} MiB, so it is no price table. Check the path.")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"The price table {path} cannot be read: {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error.reason}). Save it as UTF-8.") from error
    if path.suffix.lower() == ".csv":
        return csv_rows.read(path.name, text, as_of_us)
    try:
        content = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no valid JSON ({error}). A price table is JSON, or CSV in a .csv file.") from error
    if litellm.recognised(content):
        return litellm.read(path.name, content, as_of_us)
    if genai.recognised(content):
        return genai.read(path.name, json.loads(text), as_of_us)  # the library reads floats itself
    if snapshot.recognised(content):
        return snapshot.read(path.name, content, as_of_us)
    raise InputError(
        f"{path}: no price table that Halve knows. It reads LiteLLM's model_prices_and_context_window.json, data of "
        "genai-prices, the snapshot of model-prices, and CSV with the columns of a price file."
    )
