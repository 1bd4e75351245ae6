"""What a place in a prompt is worth in tokens: fitted per model to its own billed prompts, with the measured error.

Billed tokens of a prompt are explained by non-negative coefficients of its parts' measures (`text_measures`), of the
number of parts and of a constant. Observations weigh 1/sqrt(tokens): the error of a count grows with its root.
Errors are cross-validated by session: each half is checked with what was fitted to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal
from zlib import crc32

import numpy as np
import polars as pl

from app.analysis.nonnegative import solve
from app.analysis.text_measures import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from app.warehouse.store import Session, Warehouse

Method = Literal["bytes", "classes", "vocabulary"]
Checked = Literal["prompt", "inner", "cached"]

METHODS: Final[tuple[Method, ...]] = ("bytes", "classes", "vocabulary")
MIN_PROMPTS: Final = 30
MIN_PLACES: Final = 30  # known places, before they decide instead of whole prompts
MAX_PROMPTS: Final = 4_000  # of one model; coefficients do not get better with more
_MIN_HALF: Final = 10
_MOST_A_PART: Final = 16.0  # tokens that frame a message: 3 to 5 in every published chat format, more around a tool
_MOST_A_PROMPT: Final = 32.0

_FEATURES: Final = ("vocabulary_tokens", *CLASSES, "parts")
_COEFFICIENTS: Final = (
    "a_vocabulary_token",
    "a_letter",
    "a_digit",
    "a_space",
    "a_newline",
    "a_punctuation",
    "a_high_byte",
    "a_part",
    "a_prompt",
)
_COLUMNS_OF: Final[dict[Method, tuple[int, ...]]] = {
    "bytes": (),
    "classes": tuple(range(1, 9)),
    "vocabulary": tuple(range(9)),
}


@dataclass(frozen=True, slots=True)
class TokenError:
    """Relative errors of one method at `places` known places: median and p95 of |error|, mean of the error."""

    checked: Checked
    method: Method
    places: int
    median: float
    p95: float
    bias: float


@dataclass(frozen=True, slots=True)
class TokenFit:
    """One model: how many different prompts were fitted, the method of its positions (None: too few), its errors."""

    model_id: str
    prompts: int
    method: Method | None
    errors: tuple[TokenError, ...]

    def measured_error(self) -> TokenError | None:
        """The error of the method in use: inside prompts where enough places are known, else at whole prompts."""
        by_kind = {one.checked: one for one in self.errors if one.method == self.method}
        return by_kind.get(_decisive({kind: one.places for kind, one in by_kind.items()}))


def fits(session: Session) -> tuple[TokenFit, ...]:
    """What the last analysis fitted, the model with most prompts first; empty before the first one."""
    errors: dict[str, list[TokenError]] = {}
    for model_id, *rest in session.rows("tokens.errors"):
        errors.setdefault(model_id, []).append(TokenError(*rest))
    return tuple(
        TokenFit(model_id, prompts, method, tuple(errors.get(model_id, ())))
        for model_id, prompts, method in session.rows("tokens.fits")
    )


def fit_of(session: Session, model_id: str | None) -> TokenFit | None:
    """The fit of one model; None where the last analysis saw no prompt of it."""
    return next((one for one in fits(session) if one.model_id == model_id), None)


def fit_tokens(warehouse: Warehouse, from_us: int) -> None:
    """Fit every model's prompts since `from_us` anew and store coefficients and errors."""
    with warehouse.session() as session:
        models = [model for (model,) in session.rows("tokens.prompted_models", from_us=from_us)]
        session.execute("tokens.measured_prompts", from_us=from_us, most=MAX_PROMPTS)
        session.execute("tokens.known_places")
        prompts = session.frame("tokens.prompts").partition_by("model_id", as_dict=True)
        places = session.frame("tokens.places").partition_by("model_id", as_dict=True)
    made: list[tuple[object, ...]] = []
    errors: list[tuple[str, TokenError]] = []
    for model in models:
        known = prompts.get((model,))
        if known is None or len(known) < MIN_PROMPTS:
            made.append((model, 0 if known is None else len(known), None, *(None,) * 10))
            continue
        one = _Prompts.of(known)
        found = list(_errors(one, places.get((model,))))
        method = _least_wrong(found)
        answer = one.fit(method, np.ones(len(one.tokens), dtype=bool))
        density = float((one.measures[:, :-1] @ answer[:-2]).sum() / one.sizes.sum())
        made.append((model, len(known), method, *answer.tolist(), density))
        errors += [(model, error) for error in found]
    _store(warehouse, made, errors)


@dataclass(frozen=True, slots=True)
class _Prompts:
    """The prompts of one model: measures (n x _FEATURES), bytes, billed tokens, and the half that each belongs to."""

    measures: NDArray[np.float64]
    sizes: NDArray[np.float64]
    tokens: NDArray[np.float64]
    half: NDArray[np.bool_]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> _Prompts:
        half = _half(frame)
        if min(half.sum(), (~half).sum()) < _MIN_HALF:  # a few long sessions: their prompts have to be told apart
            half = np.arange(len(frame)) % 2 == 0
        return cls(_numbers(frame, _FEATURES), _numbers(frame, ("bytes",))[:, 0], _column(frame, "tokens"), half)

    def fit(self, method: Method, of: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The nine coefficients, the constant last, fitted to the prompts `of`."""
        root = 1 / np.sqrt(self.tokens[of])
        answer = np.zeros(len(_COEFFICIENTS))
        if method == "bytes":
            [ratio] = solve((self.sizes[of] * root)[:, None], self.tokens[of] * root)
            answer[1:7] = ratio
            return answer
        full = np.column_stack((self.measures[of], np.ones(int(of.sum())))) * root[:, None]
        return _bounded(full, self.tokens[of] * root, _COLUMNS_OF[method])


def _bounded(matrix: NDArray[np.float64], wanted: NDArray[np.float64], columns: tuple[int, ...]) -> NDArray[np.float64]:
    """Coefficients of `columns` (the others 0), those of the frame set to their bound where they would exceed it.

    Text that all prompts of a log have in common looks like a constant; it must not be taken for their frame, which
    stands elsewhere.
    """
    bounds = {7: _MOST_A_PART, 8: _MOST_A_PROMPT}
    answer = np.zeros(matrix.shape[1])
    free = list(columns)
    while True:
        answer[free] = solve(matrix[:, free], wanted)
        over = [column for column in free if answer[column] > bounds.get(column, np.inf)]
        if not over:
            return answer
        for column in over:
            answer[column] = bounds[column]
            wanted = wanted - matrix[:, column] * bounds[column]
            free.remove(column)


def _errors(prompts: _Prompts, places: pl.DataFrame | None) -> Iterable[TokenError]:
    """Errors of every method at whole prompts and at each kind of known place; each half by the fit of the other."""
    halves = (prompts.half, ~prompts.half)
    known_places = {} if places is None else places.partition_by("checked", as_dict=True)
    for method in METHODS:
        answers = [prompts.fit(method, ~half) for half in halves]
        told = [
            (prompts.measures[half] @ answer[:-1] + answer[-1]) / prompts.tokens[half] - 1
            for half, answer in zip(halves, answers, strict=True)
        ]
        yield _error("prompt", method, np.concatenate(told))
        for (checked,), known in known_places.items():
            half = _half(known)
            told = [
                _off(known.filter(pl.Series(one)), answer) for one, answer in zip((half, ~half), answers, strict=True)
            ]
            yield _error(checked, method, np.concatenate(told))


def _off(places: pl.DataFrame, answer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative errors at places: the prompt's billed tokens by the share of weight, against what is known."""
    before = _numbers(places, _FEATURES) @ answer[:-1]
    whole = _numbers(places, tuple(f"whole_{name}" for name in _FEATURES)) @ answer[:-1]
    share = np.divide(before, whole, out=_column(places, "bytes") / _column(places, "whole_bytes"), where=whole > 0)
    off: NDArray[np.float64] = _column(places, "whole_tokens") * share / _column(places, "tokens") - 1
    return off


def _error(checked: Checked, method: Method, off: NDArray[np.float64]) -> TokenError:
    size = np.abs(off)
    return TokenError(
        checked, method, len(off), float(np.median(size)), float(np.quantile(size, 0.95)), float(off.mean())
    )


def _least_wrong(errors: list[TokenError]) -> Method:
    """The method with the smallest median error where positions are known, else at whole prompts.

    Share of bytes stands unless another is better in the median and no worse in the 95th percentile.
    """
    decides = _decisive({one.checked: one.places for one in errors})
    by_method = {one.method: one for one in errors if one.checked == decides}
    plain = by_method["bytes"]
    better = [one for one in by_method.values() if one.median < plain.median and one.p95 <= plain.p95]
    return min(better, key=lambda one: one.median, default=plain).method


def _decisive(places: dict[Checked, int]) -> Checked:
    """The kind of known place that errors are judged at: inside prompts where enough are known."""
    inside = [kind for kind, count in places.items() if kind != "prompt" and count >= MIN_PLACES]
    return max(inside, key=lambda kind: places[kind], default="prompt")


def _half(frame: pl.DataFrame) -> NDArray[np.bool_]:
    return np.array([crc32(session.encode()) & 1 == 1 for session in frame["session_id"]], dtype=bool)


def _numbers(frame: pl.DataFrame, names: tuple[str, ...]) -> NDArray[np.float64]:
    return frame.select(pl.col(names).cast(pl.Float64)).to_numpy()


def _column(frame: pl.DataFrame, name: str) -> NDArray[np.float64]:
    return frame[name].cast(pl.Float64).to_numpy()


def _store(warehouse: Warehouse, made: list[tuple[object, ...]], errors: list[tuple[str, TokenError]]) -> None:
    schema: dict[str, type[pl.DataType]] = {"model_id": pl.String, "prompts": pl.Int64, "method": pl.String}
    schema |= dict.fromkeys((*_COEFFICIENTS, "a_byte"), pl.Float64)
    rows = [(model, one.checked, one.method, one.places, one.median, one.p95, one.bias) for model, one in errors]
    named: dict[str, type[pl.DataType]] = dict.fromkeys(("model_id", "checked", "method"), pl.String)
    named |= {"places": pl.Int64} | dict.fromkeys(("median_error", "p95_error", "bias"), pl.Float64)
    with warehouse.writing() as session:
        session.execute("tokens.forget")
        session.register("new_fits", pl.DataFrame(made, schema=schema, orient="row"))
        session.execute("tokens.insert_fits", {"fits": "new_fits"})
        session.unregister("new_fits")
        session.register("new_errors", pl.DataFrame(rows, schema=named, orient="row"))
        session.execute("tokens.insert_errors", {"errors": "new_errors"})
        session.unregister("new_errors")
