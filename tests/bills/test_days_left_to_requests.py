"""A day of a bill whose account may be the logged one is left to the requests: a gap shows, a doubled dollar not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_bill_exports import NOV_27, bucket

from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from pathlib import Path


def cost(project: str | None, usd: str) -> dict[str, Any]:
    amount = {"value": usd, "currency": "usd"}
    item = "gpt-4o-2024-08-06, input"
    return {"object": "organization.costs.result", "line_item": item, "amount": amount, "project_id": project}


def call(account: str | None) -> dict[str, Any]:
    """A call that costs $2.50."""
    row = {"timestamp": NOV_27 + 3600, "provider": "openai", "model": "gpt-4o", "input_tokens": 10**6}
    return {**row, "output_tokens": 0, **({} if account is None else {"account": account})}


@pytest.mark.parametrize(
    ("billed", "logged", "from_bill"),
    [
        ([("proj_1", "5")], None, None),  # the log names no account: it may be this one
        ([("proj_1", "5"), (None, "1")], None, None),  # so it is where some lines of the bill name none either
        ([(None, "5")], "proj_1", None),  # the bill names none: it may be the logged one
        ([("proj_1", "5"), (None, "1")], "proj_1", None),
        ([("proj_1", "5"), ("proj_2", "3")], "proj_1", "3"),  # only the account that was logged is left out
        (
            [("proj_1", "5"), ("proj_2", "3")],
            "another",
            None,
        ),  # an account that the bill does not know may be any of them
    ],
)
def test_what_a_bill_adds_to_a_logged_day(
    tmp_path: Path, billed: list[tuple[str | None, str]], logged: str | None, from_bill: str | None
) -> None:
    (tmp_path / "costs.json").write_text(json.dumps(bucket(*(cost(*one) for one in billed))), encoding="utf-8")
    (tmp_path / "log.jsonl").write_text(json.dumps(call(logged)), encoding="utf-8")
    found = inside(tmp_path / "data", "analyze", tmp_path / "costs.json", tmp_path / "log.jsonl", "--json").json
    assert found["coverage"]["from_bills_usd"] == from_bill
    assert found["cost_usd"] == ("2.5" if from_bill is None else "5.5")
