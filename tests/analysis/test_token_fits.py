"""Token positions: fitted to what was billed, checked where the provider said the answer, used only where better."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import TYPE_CHECKING

import pytest
from splintr import Tokenizer

from app.analysis import token_checks
from app.analysis.request_detail import request_detail
from app.analysis.text_measures import measure_texts
from app.analysis.token_fits import MIN_PROMPTS, fit_of, fit_tokens, fits
from tests.analysis.facts import open_warehouse
from tests.analysis.mixed_texts import Prompts, chinese, code, conversations, numbers, prose

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.analysis.token_fits import TokenFit
    from app.warehouse.store import Warehouse


@cache
def vocabulary(name: str) -> Tokenizer:
    return Tokenizer.from_pretrained(name)


def billed_by(name: str) -> Callable[[str], int]:
    return lambda text: len(vocabulary(name).encode_raw(text)) + 4


def fitted(prompts: Prompts) -> Warehouse:
    warehouse = open_warehouse()
    prompts.load(warehouse)
    measure_texts(warehouse)
    fit_tokens(warehouse, 0)
    return warehouse


def only_fit(warehouse: Warehouse) -> TokenFit:
    with warehouse.session() as session:
        (fit,) = fits(session)
    return fit


def errors(fit: TokenFit, checked: str) -> dict[str, float]:
    return {one.method: one.median for one in fit.errors if one.checked == checked}


@pytest.mark.parametrize("name", ["llama3", "deepseek_v3", "qwen3"])
def test_another_models_tokens_are_placed_better_by_the_vocabulary_than_by_bytes(name: str) -> None:
    fit = only_fit(fitted(conversations(billed_by(name))))
    inner = errors(fit, "inner")
    assert fit.prompts == 120
    assert next(one.places for one in fit.errors if one.checked == "inner") == 80, "two of three prompts begin another"
    assert fit.method == "vocabulary"
    assert inner["vocabulary"] < inner["bytes"] / 2
    assert inner["vocabulary"] < 0.05 < inner["bytes"]
    assert errors(fit, "prompt")["vocabulary"] < 0.1 < errors(fit, "prompt")["bytes"]
    assert fit.measured_error() == next(
        one for one in fit.errors if (one.checked, one.method) == ("inner", "vocabulary")
    )


def test_the_models_own_vocabulary_places_tokens_almost_exactly() -> None:
    fit = only_fit(fitted(conversations(billed_by("o200k_base"))))
    assert errors(fit, "inner")["vocabulary"] < 0.005


def test_bytes_stay_in_use_where_nothing_is_better() -> None:
    fit = only_fit(fitted(conversations(lambda text: len(text.encode()))))
    assert fit.method == "bytes"
    assert errors(fit, "inner")["bytes"] < 0.01


def test_a_bill_that_the_features_explain_is_explained() -> None:
    def bill(text: str) -> int:
        return sum(character.isdigit() for character in text) + 2 * text.count("\n") + 7

    warehouse = fitted(conversations(bill))
    with warehouse.session() as session:
        query = "SELECT a_vocabulary_token, a_letter, a_digit, a_newline, a_part, a_prompt FROM token_fits"
        (row,) = session.connection.execute(query).fetchall()
    assert row == pytest.approx((0, 0, 1, 2, 7, 3), abs=0.02)


def test_too_few_prompts_are_no_fit_and_said_so() -> None:
    rng, prompts = Random(1), Prompts(len)
    for _ in range(MIN_PROMPTS - 1):
        prompts.add([prose(rng, 40), code(rng, 40)])
    warehouse = fitted(prompts)
    assert only_fit(warehouse).method is None
    with warehouse.session() as session:
        (check,) = token_checks.checks(session)
        assert check["ok"]
        assert "not enough text" in check["message"]
        assert f"{MIN_PROMPTS - 1} different prompts" in check["message"]
        assert check["method"] == "bytes"
        assert "not measured" in token_checks.placed(fit_of(session, "made-model"))


def test_prompts_that_cannot_be_compared_are_not_fitted() -> None:
    rng, prompts = Random(2), Prompts(len)
    for _ in range(40):
        prompts.add([prose(rng, 30)])
    same = prompts.add([prose(rng, 30)])
    for _ in range(5):
        prompts.requests.append({**prompts.requests[same - 1], "request_key": len(prompts.requests) + 1})
        prompts.segments += [(len(prompts.requests), *row[1:]) for row in prompts.segments if row[0] == same]
    for _ in range(40):
        prompts.add([prose(rng, 30)], kept=False)  # no text
        prompts.add([prose(rng, 30)], kind="image")  # billed by its pixels
    redacted = [prose(rng, 30) for _ in range(40)]
    for text in redacted:
        prompts.add([text])
    prompts.texts = {key: "[redacted]" if text in redacted else text for key, text in prompts.texts.items()}
    assert only_fit(fitted(prompts)).prompts == 41, "equal prompts count once, the others not at all"


def test_a_prefix_that_was_billed_as_cached_is_a_known_place() -> None:
    rng, bill = Random(3), billed_by("llama3")
    prompts = Prompts(bill)
    instructions = [chinese(rng, 900), code(rng, 700), prose(rng, 1500)]
    for number in range(60):
        instruction = instructions[number % 3]
        prompts.add([instruction, prose(rng, rng.randrange(50, 300))], cached=bill(instruction))
    fit = only_fit(fitted(prompts))
    cached = {one.method: one for one in fit.errors if one.checked == "cached"}
    assert cached["vocabulary"].places == 3, "each instruction once"
    assert cached["vocabulary"].median < 0.02 < cached["bytes"].p95


def test_reads_in_steps_are_no_known_places() -> None:
    rng, prompts = Random(3), Prompts(billed_by("llama3"))
    for _ in range(60):
        prompts.add([prose(Random(1), 900), prose(rng, 100)], cached=1024)
    assert {one.checked for one in only_fit(fitted(prompts)).errors} == {"prompt"}


def test_a_new_analysis_replaces_the_fits() -> None:
    warehouse = fitted(conversations(billed_by("llama3")))
    before = only_fit(warehouse)
    fit_tokens(warehouse, 0)
    assert only_fit(warehouse) == before
    fit_tokens(warehouse, 10**18)
    with warehouse.session() as session:
        assert fits(session) == ()
        assert "no prompts were analysed" in token_checks.checks(session)[0]["message"]


def test_a_request_shows_its_places_as_they_were_fitted() -> None:
    prompts = conversations(billed_by("llama3"))
    warehouse = fitted(prompts)
    with warehouse.session() as session:
        details = [request_detail(session, key) for key in range(3, 120, 3)]
    for detail in details:
        whole = int(detail.facts["tok_input"])
        alone = int(prompts.requests[detail.row.request_key - 2]["tok_input"])
        placed = [segment.tokens_upto for segment in detail.segments]
        assert placed == sorted(placed)
        assert placed[-1] == whole
        assert placed[-2] == pytest.approx(alone, rel=0.15)
    by_bytes = [abs(row[8] / tokens - 1) for row, tokens in known_ends(prompts)]
    by_fit = [
        abs(detail.segments[-2].tokens_upto / int(prompts.requests[detail.row.request_key - 2]["tok_input"]) - 1)
        for detail in details
    ]
    assert sum(by_fit) / len(by_fit) < sum(by_bytes) / len(by_bytes) / 2
    said = token_checks.placed(details[0].token_fit)
    error = details[0].token_fit.measured_error()
    assert said.startswith(
        "Tokens are placed by vocabulary and byte classes. Measured at 80 prompts that begin another"
    )
    assert f"at most {error.median:.1%} and 95 in 100 by at most {error.p95:.1%}" in said


def known_ends(prompts: Prompts) -> list[tuple[tuple, int]]:
    """The last part but one of each third prompt, and what the prompt that ends there was billed."""
    ends = []
    for key in range(3, 120, 3):
        rows = [row for row in prompts.segments if row[0] == key]
        ends.append((rows[-2], int(prompts.requests[key - 2]["tok_input"])))
    return ends


def test_doctor_tells_each_way_with_its_error() -> None:
    warehouse = fitted(conversations(billed_by("qwen3")))
    with warehouse.session() as session:
        (check,) = token_checks.checks(session)
    assert check["name"] == "token positions, made-model"
    assert json.loads(json.dumps(check["errors"]))[0].keys() == {"checked", "method", "places", "median", "p95", "bias"}
    for words in ("share of bytes", "byte classes", "vocabulary and byte classes", "80 prompts that begin another one"):
        assert words in check["message"]


@pytest.mark.parametrize("kind", [chinese, numbers, code])
def test_what_every_prompt_has_in_common_is_placed_where_it_stands(kind: Callable[[Random, int], str]) -> None:
    """One instruction in all prompts is a constant of the log; its tokens still stand in the instruction."""
    rng, bill = Random(9), billed_by("llama3")
    instruction = kind(rng, 2000)
    prompts = Prompts(bill)
    for _ in range(200):
        prompts.add([instruction, prose(rng, rng.randrange(100, 900))])
    warehouse = fitted(prompts)
    with warehouse.session() as session:
        places = [request_detail(session, key).segments[0].tokens_upto for key in range(1, 201, 10)]
    off = [abs(place / bill(instruction) - 1) for place in places]
    by_bytes = [abs(row[8] / bill(instruction) - 1) for row in prompts.segments if row[1] == 0]
    assert only_fit(warehouse).method != "bytes"
    assert max(off) < 0.05 < max(by_bytes)


def test_a_constant_of_the_log_is_no_frame_of_a_message() -> None:
    rng, words = Random(9), vocabulary("o200k_base")
    instruction = prose(rng, 1500)

    def bill(text: str) -> int:  # an instruction that this vocabulary counts too low
        return round(len(words.encode_raw(text)) * (1.3 if text == instruction else 1))

    prompts = Prompts(bill)
    for _ in range(100):
        prompts.add([instruction, prose(rng, rng.randrange(300, 2000))])
    warehouse = fitted(prompts)
    with warehouse.session() as session:
        [(part, prompt)] = session.connection.execute("SELECT a_part, a_prompt FROM token_fits").fetchall()
        place = request_detail(session, 1).segments[0].tokens_upto
    assert part <= 16
    assert prompt <= 32
    assert place == pytest.approx(bill(instruction), rel=0.2)
