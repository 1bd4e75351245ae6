"""Damage to records: types swapped, fields removed, impossible numbers, deep nesting, odd text."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from app.core.billed import BilledLine
from app.core.usage import TOKEN_CLASSES, Rejected, SpanLink, UsageEvent, tokens_in, tokens_out

ODD_TEXT = [
    "", " ", "\x00", "\ud800", "\u202e", "é" * 300, "💥", "null", "NaN", "1e400", "-1", "{}", "[]", '{"a":1}', "true",
    "2026-03-02T10:00:00Z", "0000-00-00", "9" * 60, "data: {}", "<script>", "=1+1", "../../x", "a\nb",
]  # fmt: skip
ODD_NUMBERS = [
    0, 1, -1, 2**31, 2**53 + 1, 2**63, 10**40, -(10**40), 0.5, -0.0, 1e-320, 1e308,
    float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(ODD_NUMBERS),
    st.integers(-5, 10**7),
    st.sampled_from(ODD_TEXT),
    st.text(max_size=6),
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "usage", "a", ""]), inner, max_size=3)
    ),
    max_leaves=6,
)
FLAGS = ("sum_mismatch", "inconsistent_usage", "bad_number", "unknown_class", "counter_disagrees", "convention_assumed")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of every value inside a record, itself included."""
    found = [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        found += places(one, (*path, key))
    return found


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def swapped(value: Any) -> Any:
    """The same value as another type."""
    if isinstance(value, bool) or value is None:
        return "yes"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return {str(index): one for index, one in enumerate(value)}
    return [[key, one] for key, one in value.items()]


@st.composite
def damaged(draw: st.DrawFn, record: Any) -> Any:
    """A copy of a record with one to three of its places damaged."""
    changed = copy.deepcopy(record)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(changed)))
        how = draw(st.sampled_from(["replace", "remove", "swap", "nest", "repeat"]))
        if not path:
            if how == "replace":
                changed = draw(ANYTHING)
            continue
        holder = changed
        for step in path[:-1]:
            holder = holder[step]
        key = path[-1]
        if how == "remove":
            del holder[key]
        elif how == "swap":
            holder[key] = swapped(holder[key])
        elif how == "nest":
            holder[key] = nested(draw(st.sampled_from([3, 40])))
        elif how == "repeat" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = draw(ANYTHING)
    return changed


def check_item(item: Any) -> None:
    """What holds for whatever a format makes of any record."""
    assert isinstance(item, UsageEvent | Rejected | SpanLink | BilledLine), item
    if isinstance(item, Rejected):
        assert item.reason
    elif isinstance(item, BilledLine):
        for amount in (item.quantity, item.cost, item.effective_cost, item.list_cost):
            assert amount is None or (isinstance(amount, Decimal) and amount.is_finite())
    elif isinstance(item, UsageEvent):
        _check_event(item)


def _check_event(event: UsageEvent) -> None:
    for name in TOKEN_CLASSES:
        value = getattr(event, name)
        assert value is None or (type(value) is int and value >= 0), (name, value)
    for name in ("start_us", "end_us", "first_token_us", "max_tokens", "n", "seed", "http_status", "attempt"):
        value = getattr(event, name)
        assert value is None or (type(value) is int and -(2**63) <= value < 2**63), (name, value)
    for name in ("model", "provider", "source_record", "provider_response_id", "session_id", "trace_id", "user"):
        assert getattr(event, name) is None or type(getattr(event, name)) is str, name
    assert all(type(key) is str and type(value) is str for key, value in (event.tags or {}).items())
    assert all(value >= 0 for value in (event.units or {}).values())
    warnings = event.warnings or []
    assert all(warning and " " not in warning for warning in warnings)
    total = event.tok_total_reported
    if total is not None and tokens_in(event) is not None and not any(one.startswith(FLAGS) for one in warnings):
        assert (tokens_in(event) or 0) + (tokens_out(event) or 0) == total
