"""One call that three sources count differently: the fullest count stands, whichever is read first."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from made_logs import call, make_store

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

ONE = "chatcmpl-CVgXbYwT3pLk9QmZr5HsAdEfGjN2u"
DETAILED = {
    "prompt_tokens": 100,
    "completion_tokens": 40,
    "total_tokens": 140,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 10},
}
MORE = {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340}
LESS = {"prompt_tokens": 90, "completion_tokens": 30, "total_tokens": 120}
USAGE = "SELECT tok_input, tok_cache_read, tok_output, tok_reasoning, tok_total_reported, warnings FROM requests"


def told(usage: dict[str, Any], **more: Any) -> str:
    return json.dumps(call(1, response_id=ONE, usage=usage, **more)) + "\n"


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=lambda order: "".join(map(str, order)))
@pytest.mark.parametrize("together", [True, False], ids=["at once", "one by one"])
def test_more_classes_come_before_more_tokens_in_any_order(
    store: Store, tmp_path: Path, order: tuple[int, ...], *, together: bool
) -> None:
    """What says more of the classes stands; classes of two snapshots are never mixed."""
    files = []
    for number in order:
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text(told((DETAILED, MORE, LESS)[number]))
    if together:
        store.ingest(*files)
    else:
        for file in files:
            store.ingest(file, source=file.stem)
    assert store.rows(USAGE) == [(40, 60, 30, 10, 140, None)]


def test_of_equally_full_counts_the_same_one_stands_in_any_order(tmp_path: Path) -> None:
    """Equal classes and sums, other splits: the records' own bytes decide, not who came first."""
    splits = [{"prompt_tokens": 100 + n, "completion_tokens": 40 - n, "total_tokens": 140} for n in range(3)]
    standing = set()
    for order in permutations(range(3)):
        store = make_store(tmp_path / "".join(map(str, order)))
        for number in order:
            (tmp_path / f"{number}.jsonl").write_text(told(splits[number]))
            store.ingest(tmp_path / f"{number}.jsonl", source=str(number))
        standing |= set(store.rows(USAGE))
        store.warehouse.close()
    assert len(standing) == 1
    ((prompt, _, answer, _, total, _),) = standing
    assert prompt + answer == total == 140
