"""What batch jobs were charged beside real time: both sides of the same requests, unknown is never nothing."""

from __future__ import annotations

import json
from typing import Any

from batch_office import book

from app.analysis.batch_worth import Worth, of_jobs, together
from tests.analysis.facts import add_requests, open_warehouse

AT = 1_795_000_000_000_000
BATCH_IN, BATCH_OUT = 125_000, 1_000_000  # pico-USD a token of gpt-5-mini in a batch


def request(key: int, job: str | None, **given: Any) -> dict[str, Any]:
    tokens_in, tokens_out = given.get("tok_input", 1000), given.get("tok_output", 100)
    return {
        "request_key": key,
        "source": "batch-openai",
        "provider": "openai",
        "model_id": "gpt-5-mini",
        "is_batch": True,
        "start_us": AT + key * 1_000_000,
        "status": "ok",
        "tok_input": tokens_in,
        "tok_output": tokens_out,
        "cost_pusd": tokens_in * BATCH_IN + tokens_out * BATCH_OUT,
        "cost_state": "priced",
        "tags": None if job is None else json.dumps({"batch_job": job, "feature": "x"}),
        **given,
    }


def worth_of(*rows: dict[str, Any], since_us: int = 0) -> dict[str, Worth]:
    warehouse = open_warehouse()
    try:
        with warehouse.writing() as session:
            add_requests(session, list(rows))
        with warehouse.session() as session:
            return of_jobs(session, book(), since_us=since_us)
    finally:
        warehouse.close()


def test_half_of_the_real_time_price_is_saved() -> None:
    found = worth_of(request(1, "a"), request(2, "a", tok_output=500), request(3, "b"))
    assert found["a"].requests == 2
    assert found["a"].charged_pusd == 2000 * BATCH_IN + 600 * BATCH_OUT
    assert found["a"].realtime_pusd == 2 * found["a"].charged_pusd
    assert found["a"].saved_pusd == found["a"].charged_pusd
    assert found["b"].requests == 1


def test_requests_outside_of_jobs_and_before_the_moment_are_left_out() -> None:
    rows = (request(1, None), request(2, "a", is_batch=False), request(3, "a"), request(4, "a"))
    assert worth_of(*rows, since_us=AT + 4_000_000) == {"a": worth_of(request(4, "a"))["a"]}


def test_a_request_without_a_price_makes_the_saving_unknown() -> None:
    free = request(2, "a", model_id="in-house", cost_pusd=None, cost_state="unpriced")
    found = worth_of(request(1, "a"), free)["a"]
    assert (found.requests, found.unpriced, found.saved_pusd) == (2, 1, None)
    assert found.charged_pusd == worth_of(request(1, "a"))["a"].charged_pusd


def test_a_charge_without_a_real_time_price_is_not_called_free() -> None:
    found = worth_of(request(1, "a", model_id="in-house-tune", provider="nobody"))["a"]
    assert (found.unpriced, found.realtime_pusd, found.saved_pusd) == (1, None, None)


def test_requests_that_were_not_billed_cost_nothing_on_either_side() -> None:
    nothing = {"tok_input": None, "tok_output": None, "cost_pusd": 0, "cost_state": "not_billed", "status": "error"}
    refused = request(2, "a") | nothing
    alone = worth_of(request(1, "a"))["a"]
    found = worth_of(request(1, "a"), refused)["a"]
    assert (found.requests, found.unpriced) == (2, 0)
    assert (found.charged_pusd, found.realtime_pusd) == (alone.charged_pusd, alone.realtime_pusd)


def test_fees_are_no_dearer_in_real_time() -> None:
    alone, search = worth_of(request(1, "a"))["a"], 10_000_000_000
    charged = alone.charged_pusd or 0
    found = worth_of(request(1, "a", other_pusd=search, cost_pusd=charged + search))["a"]
    assert (found.charged_pusd, found.realtime_pusd) == (charged + search, 2 * charged + search)
    assert found.saved_pusd == alone.saved_pusd


def test_prompts_on_both_sides_of_a_price_tier_are_priced_apart() -> None:
    long, short = 300_000, 1_000
    model = {"model_id": "gemini-2.5-pro", "provider": "google"}
    rate = book().rate("google", "gemini-2.5-pro", at_us=AT, prompt_tokens=long)
    less = book().rate("google", "gemini-2.5-pro", at_us=AT, prompt_tokens=short)
    assert rate is not None
    assert less is not None
    assert rate.rates["r_input"] != less.rates["r_input"]
    found = worth_of(
        request(1, "a", **model, tok_input=long, tok_output=0), request(2, "a", **model, tok_input=short, tok_output=0)
    )["a"]
    assert found.realtime_pusd == int(rate.rates["r_input"] * long + less.rates["r_input"] * short)  # type: ignore[operator]


def test_jobs_together_are_the_sum_of_each() -> None:
    found = worth_of(request(1, "a"), request(2, "b"))
    both = together(found.values())
    assert (both.requests, both.saved_pusd) == (2, 2 * (found["a"].saved_pusd or 0))
    assert together([]) == Worth()
    assert Worth().saved_pusd is None
