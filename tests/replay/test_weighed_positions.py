"""Prompts cut by fitted weight: the same laws as by bytes, and reads that are nearer to what was billed."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from splintr import Tokenizer

from app.analysis.text_measures import MEASURES, measured
from app.demo.provider import AutomaticCache
from app.replay.capture import Capture, Captures
from app.replay.layout import evaluate, prepare
from app.replay.plans import Plan
from app.warehouse.store import Session, Warehouse
from tests.analysis.mixed_texts import KINDS, chinese, code, document, numbers, prose
from tests.replay.replay_facts import Facts

SECOND = 10**6
T0 = 1_795_000_000 * SECOND
EXACT = Captures({("openai",): Capture(1.0, 1.0, 1.0, 1)})
COEFFICIENTS = (
    "a_vocabulary_token", "a_letter", "a_digit", "a_space", "a_newline", "a_punctuation", "a_high_byte", "a_part",
    "a_prompt", "a_byte",
)  # fmt: skip
BYTES = (0.0, *(1.0,) * 6, 0.0, 0.0, 1.0)
VOCABULARY = (1.0, *(0.0,) * 8, 0.25)


@pytest.fixture(scope="module")
def session():
    warehouse = Warehouse(None, threads=1)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


def weigh(
    session: Session, facts: Facts, coefficients: tuple[float, ...], *, method: str | None, unmeasured: int = 0
) -> None:
    """Measure all texts but the first `unmeasured` ones, and let `coefficients` be the fit of gpt-4.1."""
    known = [(key, *measured(text)) for key, text in list(facts.texts.items())[unmeasured:]]
    fit = [("gpt-4.1", 99, method, *coefficients)]
    for name, rows, schema in (
        ("text_measures", known, dict.fromkeys(("seg_hash", *MEASURES), pl.Int64)),
        (
            "token_fits",
            fit,
            {"model_id": pl.String, "prompts": pl.Int64, "method": pl.String} | dict.fromkeys(COEFFICIENTS, pl.Float64),
        ),
    ):
        session.register("made", pl.DataFrame(rows, schema=schema, orient="row"))
        session.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM made")


def shares(session: Session, facts: Facts) -> list[tuple[int, int, int, int, int, float]]:
    facts.load(session)
    prepare(session, "stream")
    return session.connection.execute(
        "SELECT request_key, layout, pos, ordinal, from_end, share FROM layout_bounds ORDER BY ALL"
    ).fetchall()


def mixed(seed: int, requests: int = 12) -> Facts:
    """Prompts of three to five parts of any kind, some long enough to have blocks."""
    rng, facts = Random(seed), Facts()
    for number in range(requests):
        parts = [("system", rng.choice(KINDS)(Random(seed), 700))]
        parts += [("user", rng.choice(KINDS)(rng, rng.randrange(1, 900))) for _ in range(rng.randrange(2, 5))]
        facts.add(T0 + number * SECOND, parts, {"tok_input": 5_000})
    return facts


def test_weights_that_are_bytes_place_everything_as_bytes_do(session) -> None:
    facts = mixed(1)
    weigh(session, facts, BYTES, method="bytes")
    plain = shares(session, facts)
    assert any(row[3] == 0 for row in plain), "blocks inside parts are among them"
    weigh(session, facts, BYTES, method="classes", unmeasured=3)
    weighed = shares(session, facts)
    assert [row[:5] for row in weighed] == [row[:5] for row in plain]
    assert [row[5] for row in weighed] == pytest.approx([row[5] for row in plain], abs=1e-3)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 1000),
    st.lists(st.floats(0, 3), min_size=10, max_size=10).filter(lambda found: max(found[1:7]) > 0.01),
    st.integers(0, 9),
)
def test_positions_never_fall_and_end_at_the_whole_prompt(session: Session, seed, coefficients, unmeasured) -> None:
    facts = mixed(seed, 4)
    weigh(session, facts, tuple(coefficients), method="vocabulary", unmeasured=unmeasured)
    found = [row for row in shares(session, facts) if row[1] == 0]
    for key in {row[0] for row in found}:
        placed = [row[5] for row in sorted(found, key=lambda row: row[2]) if row[0] == key]
        assert placed == sorted(placed)
        assert 0 <= placed[0] <= placed[-1] == 1.0


def replayed(session: Session, facts: Facts) -> int:
    """Tokens that the replay would have read from the cache, the prompts as they were sent."""
    facts.load(session)
    [scope] = prepare(session, "stream").scopes
    assert scope.rule is not None
    plan = Plan(0, scope.scope_id, "openai", "gpt-4.1", scope.rule, 0, "all", scope.rule.lifetimes[0].name, (), False)
    evaluate(session, [plan], EXACT, "split")
    [(found,)] = session.connection.execute("SELECT sum(replayed) FROM split").fetchall()
    return int(found)


@pytest.mark.parametrize("kind", [chinese, code, document, numbers])
def test_reads_are_nearer_to_the_billed_ones_where_parts_differ_in_tokens_a_byte(session, kind) -> None:
    vocabulary, rng, cache, facts, billed = (
        Tokenizer.from_pretrained("o200k_base"),
        Random(4),
        AutomaticCache(),
        Facts(),
        0,
    )
    instruction = kind(rng, 2500)
    head = vocabulary.encode_ordinary(instruction)
    for number in range(150):
        at = T0 + number * 20 * SECOND
        question = prose(rng, 700)
        tokens = (*head, *vocabulary.encode_ordinary(question))
        cached = cache.lookup("gpt-4.1", tokens, at, at)
        billed += cached
        parts = [("system", instruction), ("user", question)]
        facts.add(at, parts, {"tok_input": len(tokens) - cached, "tok_cache_read": cached})
    weigh(session, facts, BYTES, method="bytes")
    by_bytes = abs(replayed(session, facts) / billed - 1)
    weigh(session, facts, VOCABULARY, method="vocabulary")
    by_weight = abs(replayed(session, facts) / billed - 1)
    assert billed > 150 * 1024
    assert by_weight < 0.02 < by_bytes


def test_a_model_without_a_fit_is_cut_by_bytes_beside_one_that_has_one(session) -> None:
    facts = Facts()
    parts = [("system", "1234 " * 400), ("user", "word " * 400)]
    for model in ("gpt-4.1", "gpt-4o"):
        facts.add(T0, parts, {"tok_input": 3_000}, model_id=model)
    digits = (0.0, 0.0, 1.0, *(0.0,) * 7)
    weigh(session, facts, digits, method="classes")
    ends = {row[0]: row[5] for row in shares(session, facts) if row[1] == 0 and row[4] == 1}
    assert ends == {1: 1.0, 2: 0.5}
