"""Laws of the residuals, whatever the two sides say: they add up exactly, name every dollar, and repeat themselves."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from made_bills import FIRST, RATES, Bill, Books, Call, charged, month

from app.analysis.bill_cells import CHARGES, TOKEN_GROUPS, Cell, CellKey
from app.analysis.residual_groups import grouped
from app.analysis.residuals import DAY_US, KINDS, Doubles, explained

if TYPE_CHECKING:
    from app.analysis.residuals import Residual

LARGE, SMALL = sorted(RATES)
NOON = 20_000 * DAY_US + DAY_US // 2
TOKENS = st.one_of(st.none(), st.integers(0, 10**9))
DOLLARS = st.integers(0, 10**15)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Cell], dict[CellKey, Doubles]]:
    """Cells of a few days, models and classes, and some of what was logged twice."""
    cells, doubles = [], {}
    for day in range(draw(st.integers(1, 4))):
        for model in ("a", "b"):
            for group in (*TOKEN_GROUPS, "other", "credit"):
                if draw(st.booleans()):
                    continue
                key = CellKey(NOON + day * DAY_US, "p", "", model, group)
                logged = draw(TOKENS) if group in TOKEN_GROUPS else None
                cells.append(
                    Cell(
                        key,
                        bill_pusd=draw(st.one_of(st.none(), st.integers(-(10**15), 10**15))),
                        bill_quantity=draw(TOKENS) if group in TOKEN_GROUPS else None,
                        logged_pusd=0 if group == "credit" else draw(DOLLARS),
                        logged_quantity=logged,
                        unpriced_quantity=0 if not logged else draw(st.integers(0, logged)),
                    )
                )
                if draw(st.booleans()):
                    doubles[key] = Doubles(draw(st.integers(0, 10**9)), draw(DOLLARS), 1, ("one", "other"))
    return cells, doubles


@settings(max_examples=150, deadline=None)
@given(world=worlds())
def test_residuals_add_up_to_the_difference_of_each_cell(world: tuple[list[Cell], dict[CellKey, Doubles]]) -> None:
    cells, doubles = world
    found = explained(cells, doubles)
    sums: dict[CellKey, int] = defaultdict(int)
    for item in found:
        assert item.kind in KINDS
        assert type(item.amount_pusd) is int
        sums[item.key] += item.amount_pusd
    for cell in cells:
        assert sums[cell.key] == (cell.difference or 0)
    assert explained(cells, doubles) == found
    by_group = sum(group.amount_pusd for group in grouped(found))
    assert by_group == sum(item.amount_pusd for item in found)


@settings(max_examples=100, deadline=None)
@given(world=worlds())
def test_only_charges_are_credits_and_only_what_was_seen_twice_is_double(
    world: tuple[list[Cell], dict[CellKey, Doubles]],
) -> None:
    cells, doubles = world
    tokens: dict[CellKey, int] = defaultdict(int)
    for item in explained(cells, doubles):
        assert (item.kind == "credit or fee") == (item.key.usage_class in CHARGES)
        if item.kind == "double" and item.quantity is not None:
            tokens[item.key] -= item.quantity
    assert all(quantity <= doubles[key].quantity for key, quantity in tokens.items())


def kinds(items: tuple[Residual, ...]) -> set[str]:
    return {item.kind for item in items if item.kind != "rounding"}


def with_accounts(page: dict[str, Any], account: str) -> dict[str, Any]:
    for bucket in page["data"]:
        for result in bucket["results"]:
            result["project_id"] = account
    return page


def test_accounts_are_told_apart_where_both_sides_name_them(books: Books) -> None:
    calls = month(days=2)
    for number, account in enumerate(("proj_a", "proj_b")):
        own = calls[number::2]
        books.read(
            f"{account}.jsonl", *({"account": account, "response": call.logged()} for call in own), source="calls"
        )
    first, second = Bill(charged(calls[0::2])), Bill(charged(calls[1::2][1:]))
    page = with_accounts(first.costs_page(), "proj_a")
    for bucket, more in zip(page["data"], with_accounts(second.costs_page(), "proj_b")["data"], strict=True):
        bucket["results"] += more["results"]
    books.read("costs.jsonl", page)
    result = books.reconciled()
    assert {cell.key.account for cell in result.cells} == {"proj_a", "proj_b"}
    assert {item.key.account for item in result.residuals} == {"proj_b"}


def test_accounts_that_the_logs_do_not_name_are_compared_together(books: Books) -> None:
    calls = month(days=2)
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("costs.jsonl", with_accounts(Bill(charged(calls)).costs_page(), "proj_a"))
    result = books.reconciled()
    assert result.residuals == ()
    assert {cell.key.account for cell in result.cells} == {""}


def test_a_bill_without_classes_is_compared_over_all_of_them(books: Books) -> None:
    calls = month(days=2)
    page = Bill(charged(calls)).costs_page()
    for bucket in page["data"]:
        sums: dict[str, float] = defaultdict(float)
        for result in bucket["results"]:
            sums[result["line_item"].partition(",")[0]] += result["amount"]["value"]
        bucket["results"] = [
            bucket["results"][0] | {"line_item": model, "amount": {"value": value, "currency": "usd"}}
            for model, value in sums.items()
        ]
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("costs.jsonl", page)
    result = books.reconciled()
    assert kinds(result.residuals) == set()
    assert {cell.key.usage_class for cell in result.cells} == {"tokens"}


def test_a_bill_without_models_is_compared_over_all_of_them(books: Books) -> None:
    calls = month(days=2)
    page = Bill(charged(calls)).usage_page()
    for bucket in page["data"]:
        one, *more = bucket["results"]
        for other in more:
            for name, value in other.items():
                if type(value) is int:
                    one[name] += value
        bucket["results"] = [one | {"model": None}]
    books.read("calls.jsonl", *(call.logged() for call in calls[1:]))
    books.read("usage.jsonl", page)
    result = books.reconciled()
    assert kinds(result.residuals) == {"not logged"}
    assert {cell.key.model for cell in result.cells} == {""}
    assert sum(item.quantity or 0 for item in result.residuals) == sum(calls[0].tokens.values())


def test_the_same_model_under_two_spellings_is_one(books: Books) -> None:
    call = Call(1, "claude-sonnet-4-5-20250929", FIRST + timedelta(hours=3), 1_000, 0, 100)
    books.read(
        "calls.jsonl",
        {
            "timestamp": call.at.isoformat(),
            "response": {
                "id": "msg_01AbCdEfGhIjKlMnOpQrStUv",
                "type": "message",
                "role": "assistant",
                "model": call.model,
                "content": [],
                "usage": {"input_tokens": call.prompt, "output_tokens": call.answer},
            },
        },
    )
    day = {"starting_at": "2026-03-02T00:00:00Z", "ending_at": "2026-03-03T00:00:00Z"}
    result = {"model": "claude-sonnet-4-5", "currency": "USD", "workspace_id": None}
    page = {
        "data": [
            day
            | {
                "results": [
                    result | {"amount": "0.3", "token_type": "uncached_input_tokens"},
                    result | {"amount": "0.15", "token_type": "output_tokens"},
                ]
            }
        ],
        "has_more": False,
    }
    books.read("costs.jsonl", page)
    found = books.reconciled()
    assert kinds(found.residuals) == set()
    assert found.share == 1


def volumes(*left: int) -> list[Cell]:
    """Cells of neighbouring days: what the bill has more than the 1,000 logged tokens of each."""
    return [
        Cell(
            CellKey(NOON + day * DAY_US, "p", "", "a", "output"),
            bill_pusd=(1_000 + more) * 10**6,
            bill_quantity=1_000 + more,
            logged_pusd=10**9,
            logged_quantity=1_000,
        )
        for day, more in enumerate(left)
    ]


def test_a_year_in_which_every_day_misses_something_is_not_logged() -> None:
    found = explained(volumes(*range(1, 366)), {})
    assert {item.kind for item in found} == {"not logged"}
    assert sum(item.quantity or 0 for item in found) == sum(range(1, 366))


@settings(max_examples=200, deadline=None)
@given(left=st.lists(st.integers(-400, 400).filter(bool), min_size=1, max_size=9))
def test_mis_dated_is_the_longest_stretch_that_cancels_and_no_other(left: list[int]) -> None:
    expected: set[int] = set()
    first = 0
    while first < len(left):
        for last in range(len(left) - 1, first, -1):
            run = left[first : last + 1]
            if max(run) > 0 and abs(sum(run)) * 100 <= sum(map(abs, run)):
                expected.update(range(first, last + 1))
                first = last
                break
        first += 1
    found = explained(volumes(*left), {})
    assert {(item.key.at_us - NOON) // DAY_US for item in found if item.kind == "mis-dated"} == expected
