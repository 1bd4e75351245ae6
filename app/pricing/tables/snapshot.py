"""`snapshot.json` of model-prices (MIT): first-party prices as dated timelines, USD per million tokens.

Each entry of a timeline holds until the next one starts. Source: https://github.com/wakamex/model-prices
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from app.pricing.rates import FOREVER_US, per_mtok
from app.pricing.rules import Entry
from app.pricing.tables.table import PriceTable, Problem, TableRow, UnreadableError, amount, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from app.pricing.rates import Prices

KIND: Final = "model-prices"

_CLASSES: Final = ("input", "output", "cache_read", "cache_write")
_LONG_WRITE: Final = "cache_write_1h_multiple"
"""The longer of a provider's two lifetimes as a multiple of the input price: an hour, but twelve at OpenAI."""
_CONTEXTS: Final = {"standard": "", "batch": "batch", "flex": "flex", "priority": "priority"}
"""Its `fast` is another thing at each provider (a tier, a speed), so it is not taken."""
_OUTPUT_IS_ANOTHER_UNIT: Final = ("image", "video", "veo", "imagen", "tts", "audio", "live", "lyria", "realtime")
"""It keeps one output rate; for models that answer in pictures or sound that is not the rate of a text token."""


def recognised(content: Any) -> bool:
    """Whether decoded JSON is such a snapshot."""
    return isinstance(content, dict) and {"prices", "schema", "updated_at"} <= content.keys()


def read(name: str, content: Any, as_of_us: int) -> PriceTable:
    """The table of decoded JSON; every row is dated, its own `updated_at` counts in place of `as_of_us`."""
    rows: list[TableRow] = []
    problems: list[Problem] = []
    unread: dict[str, int] = defaultdict(int)
    for provider, models in content["prices"].items():
        for model, timelines in models.items():
            where = f"{provider}/{model}"
            try:
                rows += _rows(provider, model, timelines or {}, where, unread)
            except UnreadableError as error:
                problems.append(Problem(where, f"{error}; nothing of this model is taken"))
    said = Entry({"updated_at": str(content["updated_at"])}, name).time_us("updated_at", as_of_us)
    return PriceTable(
        kind=KIND, name=name, as_of_us=said, rows=rows, problems=problems, unread=dict(unread), whole=False
    )


def _rows(
    provider: str, model: str, timelines: dict[str, Any], where: str, unread: dict[str, int]
) -> Iterator[TableRow]:
    if any(word in model.lower() for word in _OUTPUT_IS_ANOTHER_UNIT):
        unread["models of pictures or sound"] += 1
        return
    for context, entries in timelines.items():
        if context not in _CONTEXTS:
            unread[f"timeline {context!r}"] += 1
            continue
        starts = [_time(where, entry.get("start")) for entry in entries]
        for index, entry in enumerate(entries):
            rates = entry.get("rates")
            if not isinstance(rates, dict):
                continue
            yield TableRow(
                provider=_PROVIDERS.get(provider, provider),
                model=model,
                ctx=_CONTEXTS[context],
                prices=_prices(provider, rates),
                from_us=starts[index],
                to_us=(starts[index + 1] or FOREVER_US) if index + 1 < len(starts) else FOREVER_US,
                where=where,
                source=str(rates.get("source") or ""),
            )


_PROVIDERS: Final = {"amazon-bedrock": "aws", "xai": "x-ai"}


def _prices(provider: str, rates: dict[str, Any]) -> Prices:
    steps: dict[str, dict[int, Decimal]] = defaultdict(dict)
    levels = [(-1, rates), *((int(tier["above"]), tier) for tier in rates.get("tiers") or ())]
    for above, level in levels:
        for name in _CLASSES:
            # it writes a cache write that is not billed as 0; what is billed then is the plain input
            if level.get(name) is not None and not (name == "cache_write" and not level[name]):
                steps[name][above] = per_mtok(amount(name, level[name]))
        if rates.get(_LONG_WRITE) is not None and "cache_write" in steps and level.get("input") is not None:
            name = "cache_write_12h" if provider == "openai" else "cache_write_1h"
            steps[name][above] = per_mtok(amount("input", level["input"]) * amount(_LONG_WRITE, rates[_LONG_WRITE]))
    return ordered(steps)


def _time(where: str, text: Any) -> int | None:
    if text is None:
        return None
    return Entry({"start": str(text)}, where).time_us("start", 0)
