"""Tokens that provisioned throughput served: worth the list price beside their fixed fee, never counted as paid."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from app.main import offline
from app.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def call(number: int, traffic: str) -> dict[str, Any]:
    usage = {
        "promptTokenCount": 1_000_000,
        "candidatesTokenCount": 0,
        "totalTokenCount": 1_000_000,
        "trafficType": traffic,
    }
    return {
        "responseId": f"bought-capacity-{number}-0123456789abcdef",
        "modelVersion": "gemini-2.5-flash",
        "createTime": f"2026-10-0{number}T12:00:00Z",
        "candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
    }


@pytest.mark.parametrize(
    ("traffics", "cost", "paid", "basis"),
    [
        (("ON_DEMAND", "PROVISIONED_THROUGHPUT", "PROVISIONED_THROUGHPUT"), "0.9", "0.3", "mixed"),
        (("PROVISIONED_THROUGHPUT",), "0.3", "0", "list-price value"),
        (("ON_DEMAND",), "0.3", "0.3", "paid"),
    ],
)
def test_provisioned_tokens_are_valued_and_not_paid(
    tmp_path: Path, traffics: tuple[str, ...], cost: str, paid: str, basis: str
) -> None:
    log = tmp_path / "gemini.jsonl"
    lines = [json.dumps(call(number, traffic)) + "\n" for number, traffic in enumerate(traffics, start=1)]
    log.write_text("".join(lines), encoding="utf-8")
    found = offline.analyze([str(log)], Settings(data_dir=tmp_path / "none"))
    assert (found.cost_usd, found.paid_usd, found.basis) == (cost, paid, basis)
