"""On the demo company's logs, through the real ingest: a layout is predicted as the flawless logs were billed."""

from __future__ import annotations

import json
import time
from datetime import date

import pytest

from app.analysis import rules
from app.analysis.attribution import attribute
from app.demo.generate import generate
from app.levers.prompt_caching import LEVER
from app.plan.window import load
from app.replay.choice import cost_of
from app.replay.layout import apply_layout
from app.replay.plans import SPLIT_CLASSES
from app.replay.rules import load_rules
from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths

FEATURES = frozenset({"support-chat", "coding-agent"})
LAST_DAY = date(2026, 11, 28)


def billed(logs) -> dict[str, list[int]]:
    """Input tokens, cache reads and cache writes of each feature's logs, read without any code of ours."""
    sums = {name: [0, 0, 0] for name in FEATURES}
    for path in logs.rglob("*.jsonl"):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            usage = (record.get("response") or {}).get("usage")
            if usage is None:
                continue
            if "prompt_tokens" in usage:
                cached = usage["prompt_tokens_details"]["cached_tokens"]
                counts = (usage["prompt_tokens"] - cached, cached, 0)
                name = "support-chat"
            else:
                counts = (usage["input_tokens"], usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"])
                name = "coding-agent"
            sums[name] = [have + more for have, more in zip(sums[name], counts, strict=True)]
    return sums


@pytest.fixture(scope="module")
def replayed(tmp_path_factory) -> tuple[dict, dict, dict, dict]:
    """Candidates and their splits by feature on the flawed logs, beside what both kinds of logs were billed."""
    folder = tmp_path_factory.mktemp("demo")
    for name, flaws in (("flawed", None), ("clean", frozenset())):
        generate(folder / name, requests=40_000, last_day=LAST_DAY, flaws=flaws, only=FEATURES)
    warehouse = Warehouse(folder)
    migrate(warehouse)
    ingest_paths([folder / "flawed" / "logs"], warehouse=warehouse, pricer=Unpriced(), data_dir=folder, workers=1)
    with warehouse.writing() as session:
        attribute(session, rules.load(), now_us=time.time_ns() // 1000)
    with warehouse.session() as session:
        load(session, 0, 2 * 10**15, "UTC")
        candidates = LEVER.detect(session)
        apply_layout(session, "stream", "split", candidates)
        columns = ", ".join(f"sum(p.{name})::BIGINT" for name in SPLIT_CLASSES)
        rows = session.connection.execute(
            f"SELECT s.feature, {columns} FROM split AS p JOIN stream AS s USING (request_key) GROUP BY s.feature"
        ).fetchall()
    warehouse.close()
    return (
        {one.scope.feature: one for one in candidates},
        {feature: tokens for feature, *tokens in rows},
        billed(folder / "flawed" / "logs"),
        billed(folder / "clean" / "logs"),
    )


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_the_saving_of_a_planted_flaw_is_found_within_ten_percent(replayed, feature: str) -> None:
    candidates, splits, flawed, clean = replayed
    scope = candidates[feature].scope
    rule = load_rules().at(scope.provider, scope.model_id, None)

    def cost(tokens: list[int]) -> float:
        return cost_of([*tokens, 0, 0, 0], rule)

    truth = cost(flawed[feature]) - cost(clean[feature])
    found = cost(flawed[feature]) - cost_of(splits[feature], rule)
    assert truth > 0
    assert found == pytest.approx(truth, rel=0.1)


def test_the_changing_value_is_named_from_the_kept_text(replayed) -> None:
    breaker = replayed[0]["support-chat"].params["breaker"]
    assert (breaker["kind"], breaker["line"]) == ("time", 1)
    assert breaker["examples"][0].startswith("Current time: ")


def test_only_the_flawed_features_get_a_proposal(replayed) -> None:
    assert set(replayed[0]) == FEATURES
