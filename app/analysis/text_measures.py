"""What a kept text is made of: bytes by class and tokens of a vocabulary, measured once and kept when the text goes.

A measure holds no text. The vocabulary is OpenAI's o200k_base, shipped inside `splintr-rs`: nothing is downloaded.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.warehouse.store import Warehouse

CLASSES: Final = ("letters", "digits", "spaces", "newlines", "punctuation", "high_bytes")
MEASURES: Final = ("bytes", *CLASSES, "vocabulary_tokens")
VOCABULARY: Final = "o200k_base"
_TEXTS_AT_ONCE: Final = 256
_ROWS_A_WRITE: Final = 20_000
_SCHEMA: Final = dict.fromkeys(("seg_hash", *MEASURES), pl.Int64)


def _class_of(byte: int) -> str:
    if byte >= 0x80:
        return "high_bytes"
    letter = chr(byte)
    if letter.isalpha():
        return "letters"
    if letter.isdigit():
        return "digits"
    if letter == "\n":
        return "newlines"
    return "punctuation" if 0x20 < byte < 0x7F else "spaces"


_MEMBERSHIP: Final = np.array([[_class_of(byte) == name for name in CLASSES] for byte in range(256)], dtype=np.int64)


@cache
def _vocabulary() -> Any:
    from splintr import Tokenizer

    return Tokenizer.from_pretrained(VOCABULARY)


def measured(text: str) -> tuple[int, ...]:
    """MEASURES of one text. Text that spells a special token out counts as the ordinary text that it is."""
    data = text.encode()
    histogram = np.bincount(np.frombuffer(data, dtype=np.uint8), minlength=256)
    classes = (histogram @ _MEMBERSHIP).tolist()
    return len(data), *classes, len(_vocabulary().encode_ordinary(text))


def measure_texts(warehouse: Warehouse) -> int:
    """Measure every kept text that has no measure yet; returns how many.

    Texts stream past, so memory is bounded whatever their number; the writer's lock is held only to store rows, and
    what was stored stays when this is interrupted.
    """
    added = 0
    with warehouse.session() as reader:
        waiting: list[tuple[int, ...]] = []
        for texts in reader.batches("tokens.unmeasured", size=_TEXTS_AT_ONCE):
            waiting += _rows(texts)
            if len(waiting) >= _ROWS_A_WRITE:
                added += _store(warehouse, waiting)
                waiting = []
        if waiting:
            added += _store(warehouse, waiting)
    return added


def _rows(texts: Iterable[tuple[Any, ...]]) -> list[tuple[int, ...]]:
    return [(seg_hash, *measured(text)) for seg_hash, text in texts]


def _store(warehouse: Warehouse, rows: list[tuple[int, ...]]) -> int:
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row").unique("seg_hash")
    with warehouse.writing() as session:
        session.register("new_measures", frame)
        session.execute("tokens.insert_measures", {"measures": "new_measures"})
        session.unregister("new_measures")
    return len(frame)
