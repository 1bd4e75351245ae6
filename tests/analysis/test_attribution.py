"""Features come from tags, then rules, then templates; versions stand beside each other; nothing is guessed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from app.analysis.attribution import attribute
from app.analysis.rules import load
from app.core.errors import InputError
from tests.analysis.facts import add_prompts, add_requests, open_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from app.warehouse.store import Session

RULES = load()


def latest(session: Session) -> dict[int, tuple[str, str, str, int | None, str]]:
    rows = session.connection.execute(
        "SELECT request_key, feature, team, environment, template, rule FROM attribution_latest"
    ).fetchall()
    return {row[0]: row[1:] for row in rows}


def written_rules(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "rules.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_feature_tag_wins_over_every_rule_and_says_so() -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(
            session,
            [
                {"tags": '{"feature": "search", "project": "site", "team": "web", "environment": "prod"}'},
                {"tags": '{"project": "site"}', "api_key_alias": "ci"},
                {"api_key_alias": "ci"},
                {"api_key_alias": "…1a2b"},
                {"tags": '{"feature": ""}'},
            ],
        )
        done = attribute(session, RULES, now_us=1)
        assert latest(session) == {
            1: ("search", "web", "prod", None, "tag"),
            2: ("site", "unassigned", "unassigned", None, "rule:agent project"),
            3: ("ci", "unassigned", "unassigned", None, "rule:key alias"),
            4: ("unassigned", "unassigned", "unassigned", None, "none"),
            5: ("unassigned", "unassigned", "unassigned", None, "none"),
        }
        assert done.by == {"none": 2, "rule": 2, "tag": 1}


def test_rules_of_a_file_match_patterns_lists_and_parts_of_a_text(tmp_path: Path) -> None:
    path = written_rules(
        tmp_path,
        """
rules:
  - name: by folder
    priority: 1
    when: {file: "logs/*", model: ["gpt-*", "o_"]}
    feature: {from: file, extract: 'logs/([a-z]+)/'}
    team: data
  - name: rest
    priority: 2
    when: {source: "!test*"}
    feature: "{tag.my app}"
    environment: production
""",
    )
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(
            session,
            [
                {"origin_file": "logs/chat/a.jsonl", "model_id": "gpt-5"},
                {"origin_file": "logs/chat/a.jsonl", "model_id": "o3"},
                {"origin_file": "logs/chat/a.jsonl", "model_id": "claude", "tags": '{"my app": "crm"}'},
                {"source": "test 1", "tags": '{"my app": "crm"}'},
                {"origin_file": "logs/UPPER/a.jsonl", "model_id": "gpt-5", "tags": '{"my app": "crm"}'},
            ],
        )
        attribute(session, load(path), now_us=1)
        found = {key: row[:3] for key, row in latest(session).items()}
    assert found == {
        1: ("chat", "data", "production"),
        # an underscore of a pattern is itself, no wildcard
        2: ("unassigned", "unassigned", "production"),
        3: ("crm", "unassigned", "production"),
        4: ("unassigned", "unassigned", "unassigned"),
        # a rule that matches but gives no text leaves the output to the next one
        5: ("crm", "data", "production"),
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules: [{name: a, when: {colour: red}, feature: x}]", "'colour'"),
        ("rules: [{name: a, when: {}, feature: x}]", "no conditions"),
        ("rules: [{name: a, when: {model: x}}]", "gives nothing"),
        ("rules: [{name: a, when: {model: x}, feature: {from: file, extract: '('}}]", "no regular expression"),
        ("rules: [{name: a, when: {model: x}, feature: y}, {name: a, when: {model: z}, feature: y}]", "two rules"),
        ("rules: 3", "no list"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_name_and_reason(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        load(written_rules(tmp_path, text))


STABLE = "\n".join(f"Rule {number}: always do the thing numbered {number}." for number in range(20))


def planted(seed: int, n: int) -> tuple[list[dict[str, object]], dict[int, list[tuple[str, str]]], dict[int, int]]:
    """Six prompts, half of them with something volatile at the head, shuffled over accounts without any tag."""
    rng = random.Random(seed)
    rows, prompts, truth = [], {}, {}
    for key in range(1, n + 1):
        kind = rng.randrange(6)
        body = "\n".join(f"Template {kind} says {line}" for line in STABLE.split("\n"))
        head = f"Time: 2026-11-03 {rng.random()}\nUser: {rng.randrange(10**9)}\n" if kind % 2 else ""
        user = f"A question about {rng.random()}\nthat nobody asked before {rng.random()}"
        rows.append({"request_key": key, "exact_key": key, "model_id": f"m{kind % 3}", "account": "org"})
        parts = [("system", head + body), ("user", user)]
        prompts[key] = parts if kind < 4 else [("user", head + body + "\n" + user)]
        truth[key] = kind
    return rows, prompts, truth


def test_planted_templates_are_found_with_the_volatile_part_at_the_head() -> None:
    rows, prompts, truth = planted(1, 400)
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows)
        add_prompts(session, prompts)
        attribute(session, RULES, now_us=1)
        found = latest(session)
    by_kind: dict[int, set[int | None]] = {}
    for key, kind in truth.items():
        by_kind.setdefault(kind, set()).add(found[key][3])
    assert all(len(templates) == 1 for templates in by_kind.values())
    assert len({template for templates in by_kind.values() for template in templates}) == 6
    assert None not in {template for templates in by_kind.values() for template in templates}


def test_untagged_requests_are_named_by_their_template_and_stay_untagged() -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, [{"request_key": key, "exact_key": key} for key in range(1, 7)] + [{"request_key": 7}])
        same = ("system", "Clean this address and answer in one line.")
        add_prompts(
            session,
            {key: [same, ("user", f"address number {key}")] for key in range(1, 6)}
            | {6: [("user", "something else entirely")]},
        )
        done = attribute(session, RULES, now_us=1)
        found = latest(session)
    assert len({found[key][0] for key in range(1, 6)}) == 1
    assert found[1][0].startswith("template ")
    assert found[1][4] == "template"
    assert found[6] == ("unassigned", "unassigned", "unassigned", None, "none")
    assert found[7][3] is None
    assert done.by == {"none": 2, "template": 5}


def test_new_requests_join_the_standing_version_and_its_templates() -> None:
    rows, prompts, _ = planted(2, 300)
    whole, grown = open_warehouse(), open_warehouse()
    with whole.writing() as session:
        add_requests(session, rows)
        add_prompts(session, prompts)
        attribute(session, RULES, now_us=1)
        expected = latest(session)
    with grown.writing() as session:
        for part in (rows[:200], rows[200:]):
            add_requests(session, part)
            add_prompts(session, {row["request_key"]: prompts[row["request_key"]] for row in part})
            done = attribute(session, RULES, now_us=1)
        assert done.version == 1
        assert done.requests == 100
        assert latest(session) == expected
        assert attribute(session, RULES, now_us=1).requests == 0


def test_applying_other_rules_writes_a_new_version_and_keeps_the_one_before(tmp_path: Path) -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(
            session,
            [{"tags": '{"feature": "a"}', "cost_pusd": 5}, {"tags": '{"feature": "b"}', "cost_pusd": 7}],
        )
        assert attribute(session, RULES, now_us=1).version == 1
        other = load(written_rules(tmp_path, "rules: [{name: merge, when: {tag.feature: [a, b]}, feature: b}]"))
        assert attribute(session, other, now_us=2).version == 2
        assert {row[0] for row in latest(session).values()} == {"b"}
        before = session.connection.execute("SELECT feature FROM attribution WHERE version = 1 ORDER BY 1").fetchall()
        assert before == [("a",), ("b",)]
        assert attribute(session, other, now_us=3, again=True).version == 3
        versions = session.connection.execute("SELECT DISTINCT version FROM attribution ORDER BY 1").fetchall()
        assert versions == [(2,), (3,)]


def templates_of(prompts: dict[int, list[tuple[str, str]]]) -> dict[int, int | None]:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, [{"request_key": key, "exact_key": key, "model_id": "m"} for key in prompts])
        add_prompts(session, prompts)
        attribute(session, RULES, now_us=1)
        return {key: row[3] for key, row in latest(session).items()}


def test_prompts_that_share_a_common_line_are_told_apart() -> None:
    common = "You are a helpful assistant."
    prompts = {}
    for key in range(1, 201):
        body = "\n".join(f"Instruction {line} of script {key % 4}, to be followed." for line in range(12))
        prompts[key] = [("system", common), ("user", f"{body}\nInput number {key}")]
    found = templates_of(prompts)
    by_script = {script: {found[key] for key in found if key % 4 == script} for script in range(4)}
    assert all(len(templates) == 1 for templates in by_script.values())
    assert len(set.union(*by_script.values())) == 4


def test_a_field_with_few_values_does_not_split_a_template() -> None:
    prompts = {
        key: [("system", f"Language: {('German', 'English')[key % 2]}\n{STABLE}"), ("user", f"Input number {key}")]
        for key in range(1, 201)
    }
    assert len(set(templates_of(prompts).values())) == 1


def test_popular_documents_of_a_search_do_not_split_a_template() -> None:
    rng = random.Random(5)
    documents = [f"Document {n} says " + "very much about this " * 8 for n in range(12)]
    weights = [1 / (n + 1) for n in range(12)]
    prompts = {
        key: [("system", STABLE), ("user", "\n".join(rng.choices(documents, weights, k=3)) + f"\nQuestion {key}")]
        for key in range(1, 401)
    }
    assert len(set(templates_of(prompts).values())) == 1
