"""Sums of token classes, which queries name as `{{prompt_tokens}}` or, of a relation, `{{prompt_tokens of r}}`.

They are made of the one list of classes, so that a new class is in all of them.
"""

from __future__ import annotations

import re
from typing import Final

from app.core.errors import UsageError
from app.core.usage import INPUT_CLASSES, OUTPUT_CLASSES, TOKEN_CLASSES

_PLACE: Final = re.compile(r"\{\{([a-z_]+)(?: of ([a-z]+))?\}\}")
_SUMS: Final[dict[str, tuple[str, ...]]] = {
    "input_tokens": tuple(name for name in INPUT_CLASSES if name.startswith("tok_input")),
    "cache_read_tokens": tuple(name for name in INPUT_CLASSES if name.startswith("tok_cache_read")),
    "cache_write_tokens": tuple(name for name in INPUT_CLASSES if name.startswith("tok_cache_write")),
    "prompt_tokens": INPUT_CLASSES,
    "answer_tokens": OUTPUT_CLASSES,
    "all_tokens": TOKEN_CLASSES,
}


def filled(sql: str) -> str:
    """The text with each `{{sum}}` written out: what is known of its classes, 0 where nothing is; `{{any_sum}}` is the
    first of them that is known, so NULL where none is.

    Raises:
        UsageError: there is no sum of that name.
    """
    return _PLACE.sub(_written, sql)


def _written(match: re.Match[str]) -> str:
    name, alias = match.group(1), match.group(2)
    classes = _SUMS.get(name.removeprefix("any_"))
    if classes is None:
        raise UsageError(f"There is no sum of tokens called {name!r}; there are {', '.join(_SUMS)}.")
    columns = [column if alias is None else f"{alias}.{column}" for column in classes]
    if name.startswith("any_"):
        return f"coalesce({', '.join(columns)})"
    return "(" + " + ".join(f"coalesce({column}, 0)" for column in columns) + ")"
