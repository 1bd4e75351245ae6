"""What `halve doctor` says of token positions: per model, how far off they are as used and by each other way."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from app.analysis.token_fits import METHODS, MIN_PROMPTS, fits

if TYPE_CHECKING:
    from app.analysis.token_fits import Checked, TokenError, TokenFit
    from app.warehouse.store import Session

METHOD_NAMES: Final = {
    "bytes": "share of bytes",
    "classes": "byte classes",
    "vocabulary": "vocabulary and byte classes",
}
CHECKED_AT: Final[dict[Checked, str]] = {
    "inner": "prompts that begin another one",
    "cached": "prefixes billed as cached",
    "prompt": "whole prompts",
}


def checks(session: Session) -> list[dict[str, Any]]:
    """One check {name, ok, message, prompts, method, errors} a model; `errors` are those of `TokenError`, as shares."""
    found = fits(session)
    if not found:
        message = "no prompts were analysed yet; `halve analyze` or the nightly analysis measures them"
        return [{"name": "token positions", "ok": True, "message": message}]
    return [
        {
            "name": f"token positions, {one.model_id}",
            "ok": True,
            "message": _said(one),
            "prompts": one.prompts,
            "method": one.method or "bytes",
            "errors": [asdict(error) for error in one.errors],
        }
        for one in found
    ]


def _said(fit: TokenFit) -> str:
    if fit.method is None:
        return (
            f"by share of bytes; not enough text to measure the error: {fit.prompts} different prompts whose texts are "
            f"kept, {MIN_PROMPTS} are needed"
        )
    told = [_at(checked, fit) for checked in CHECKED_AT]
    return f"by {METHOD_NAMES[fit.method]}, fitted to {fit.prompts:,} prompts. " + " ".join(
        part for part in told if part
    )


def _at(checked: Checked, fit: TokenFit) -> str:
    by_method = {one.method: one for one in fit.errors if one.checked == checked}
    if not by_method:
        return ""
    places = by_method["bytes"].places
    each = "; ".join(f"{METHOD_NAMES[method]} {off(by_method[method])}" for method in METHODS)
    return f"Off at {places:,} {CHECKED_AT[checked]}: {each}."


def placed(fit: TokenFit | None) -> str:
    """How places in a model's prompts are found and how far off that was measured to be: for a reader of one prompt."""
    error = None if fit is None else fit.measured_error()
    if fit is None or fit.method is None or error is None:
        return "Tokens are placed by share of bytes. How far off that is was not measured: too few texts are kept."
    return (
        f"Tokens are placed by {METHOD_NAMES[fit.method]}. Measured at {error.places:,} {CHECKED_AT[error.checked]}, "
        f"half of the places are off by at most {error.median:.1%} and 95 in 100 by at most {error.p95:.1%}."
    )


def off(error: TokenError) -> str:
    """An error in words: the median of its size, its 95th percentile, its bias."""
    return f"{error.median:.1%} (p95 {error.p95:.1%}, bias {error.bias:+.1%})"
