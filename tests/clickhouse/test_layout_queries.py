"""Prompt layouts replayed on ClickHouse: every step's table and every plan's split are those of DuckDB."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from app.replay.capture import Captures
from app.replay.layout import evaluate, prepare
from app.replay.plans import Plan
from app.warehouse.dialect import CLICKHOUSE_SETTINGS
from app.warehouse.store import Warehouse
from tests.clickhouse.click_session import ClickSession, copied
from tests.replay.replay_facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.replay.plans import Prepared

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

STARTED = 1_795 * 10**12
FRAME = "\n".join(f"a line of the instruction, number {number}" for number in range(60))
COPIED = ("segments", "lines", "contents", "stream")
SPLIT = """
SELECT plan, request_key, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_1h FROM split
ORDER BY plan, request_key
"""
BOUNDS = "SELECT request_key, layout, pos, round(share, 9) FROM layout_bounds ORDER BY request_key, layout, pos"


def made() -> Facts:
    """Prompts whose system text has a part that changes in front of what stays, tools in any order, conversations."""
    rng = random.Random(5)
    facts = Facts()
    tools = [("tools", f"tool {name}: " + "it looks up a thing " * 20) for name in "abc"]
    for number in range(60):
        provider, model = (("openai", "gpt-4.1"), ("anthropic", "claude-sonnet-4-5"))[number % 2]
        rng.shuffle(tools)
        system = [("system", f"It is {number}.\n{FRAME}"), ("system", FRAME)]
        turns = [
            (role, f"{role} {number % 7} {turn} " * 30) for turn in range(number % 4) for role in ("user", "assistant")
        ]
        parts = [*tools, *system, *turns, ("user", f"question {number}")]
        size = sum(len(text) for _, text in parts)
        tokens = {"tok_input": size // 4 - 200 * (number % 3), "tok_cache_read": 200 * (number % 3)}
        facts.add(
            STARTED + number * 40 * 10**6, parts, tokens, provider=provider, model_id=model, template=1 + number % 3,
            session_id=f"s{number % 5}" if number % 3 == 0 else None,
        )  # fmt: skip
    return facts


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, ClickSession]]:
    warehouse = Warehouse(None, threads=1)
    client = clickhouse_connect.get_client(
        dsn=f"chdb://{tmp_path_factory.mktemp('clickhouse')}", settings=CLICKHOUSE_SETTINGS
    )
    try:
        with warehouse.session() as session:
            made().load(session)
            click = ClickSession(client)
            copied(click, session, COPIED)
            yield session, click
    finally:
        client.close()
        warehouse.close()


def plans(prepared: Prepared) -> list[Plan]:
    found: list[Plan] = []
    for scope in prepared.scopes:
        if scope.rule is None:
            continue
        marking = "marks" if scope.rule.marked else "all"
        for layout in (0, 1, 2):
            for life in scope.rule.lifetimes:
                for marks, last in (((), True), ((1, 2), False)):
                    found.append(
                        Plan(
                            len(found),
                            scope.scope_id,
                            scope.provider,
                            scope.model_id,
                            scope.rule,
                            layout,
                            marking,
                            life.name,
                            marks,
                            last,
                        )
                    )
    return found


def test_layouts_are_prepared_and_replayed_equally_on_both_engines(engines: tuple[Any, ClickSession]) -> None:
    duck, click = engines
    expected, found = prepare(duck, "stream"), prepare(click, "stream")  # type: ignore[arg-type]
    assert found == expected
    assert [scope for scope in expected.scopes if scope.rule is not None]
    assert expected.breaks, "some prompts have a changing part in front"
    bounds = [tuple(row) for row in click.client.query(BOUNDS).result_rows]
    assert bounds == duck.connection.execute(BOUNDS).fetchall()
    for engine in engines:
        evaluate(engine, plans(expected), Captures({}), "split")  # type: ignore[arg-type]
    split = [tuple(row) for row in click.client.query(SPLIT).result_rows]
    assert split == duck.connection.execute(SPLIT).fetchall()
    assert len({row[0] for row in split}) == len(plans(expected))
