"""Token positions on prompts that agents really sent, billed by vocabularies that ship with the library."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from splintr import Tokenizer

from app.analysis.text_measures import measure_texts
from app.analysis.token_fits import fit_tokens, fits
from tests.analysis.facts import open_warehouse
from tests.analysis.mixed_texts import Prompts

MESSAGE = re.compile(r"(?m)^(?=(?:user|assistant|system|tool): )")
LONGEST = 60_000


def prompts_of(folder: Path, bill) -> Prompts:
    prompts = Prompts(bill)
    for file in sorted(folder.glob("*/*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            text = json.loads(line).get("input") or ""
            parts = [part.strip() for part in MESSAGE.split(text) if part.strip()]
            if len(parts) > 1 and len(text) < LONGEST:
                prompts.add(parts, session=file.name)
    return prompts


@pytest.mark.data
@pytest.mark.parametrize("name", ["llama3", "deepseek_v3"])
def test_real_prompts_are_counted_several_times_better_than_by_bytes(name: str) -> None:
    vocabulary, known = Tokenizer.from_pretrained(name), {}

    def bill(text: str) -> int:
        if text not in known:
            known[text] = len(vocabulary.encode_raw(text)) + 4
        return known[text]

    warehouse = open_warehouse()
    prompts_of(Path(os.environ["HALVE_DATA"]) / "lmcache", bill).load(warehouse)
    measure_texts(warehouse)
    fit_tokens(warehouse, 0)
    with warehouse.session() as session:
        (fit,) = fits(session)
    whole = {one.method: one for one in fit.errors if one.checked == "prompt"}
    assert whole["bytes"].places > 100
    assert fit.method == "vocabulary"
    assert whole["classes"].median < whole["bytes"].median / 2
    assert whole["vocabulary"].median < 0.02 < whole["bytes"].median / 3
    assert whole["vocabulary"].p95 < whole["bytes"].p95 / 3
