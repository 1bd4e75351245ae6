"""Money is an int of pico-USD inside and decimal USD text at the borders; a float never touches it.

1 USD = 10**12 pico-USD, so a rate of $1 per million tokens is 1,000,000 pico-USD a token and exact.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

PICO_PER_USD = 10**12


def usd(pico: int) -> Decimal:
    """Exact USD of an amount in pico-USD."""
    with localcontext() as context:
        context.prec = 60
        return Decimal(pico) / PICO_PER_USD


def usd_text(pico: int | None) -> str | None:
    """Plain decimal text of an amount (`11.00438155`); None stays None, because unknown is never 0."""
    if pico is None:
        return None
    text = format(usd(pico), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def pico(amount_usd: str | Decimal | int) -> int:
    """Pico-USD of a decimal USD amount, half-even at the twelfth digit.

    Raises:
        decimal.InvalidOperation: the text is not a number.
    """
    with localcontext() as context:
        context.prec = 60
        return int((Decimal(amount_usd) * PICO_PER_USD).to_integral_value(rounding="ROUND_HALF_EVEN"))
