"""An independent bill: adds up tokens times list price per feature of a log folder. Imports nothing of ours."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

USD_PER_MTOK = {  # input, cached input, cache write, output
    "gpt-4.1": ("2", "0.5", "0", "8"),
    "gpt-4.1-mini": ("0.4", "0.1", "0", "1.6"),
    "gpt-5": ("1.25", "0.125", "0", "10"),
    "gpt-5-mini": ("0.25", "0.025", "0", "2"),
    "gpt-5-nano": ("0.05", "0.005", "0", "0.4"),
    "claude-sonnet-4-5": ("3", "0.3", "3.75", "15"),
}


def bill(logs: Path) -> dict[str, Decimal]:
    total: Counter[str] = Counter()
    for record in (json.loads(line) for file in logs.rglob("*.jsonl") for line in file.read_bytes().splitlines()):
        row = "spend" in record
        get = (json.loads(record["metadata"])["usage_object"] if row else record["response"].get("usage", {})).get
        tags = dict(tag.split(":") for tag in json.loads(record["request_tags"])) if row else record.get("metadata", {})
        read = get("cache_read_input_tokens", get("prompt_tokens_details", {}).get("cached_tokens", 0))
        fresh = get("input_tokens", get("prompt_tokens", 0) - read)
        written, out = get("cache_creation_input_tokens", 0), get("output_tokens", 0) + get("completion_tokens", 0)
        rates = USD_PER_MTOK.get(record["model"] if row else record["request"]["model"], "0000")
        usd = sum(n * Decimal(rate) for n, rate in zip((fresh, read, written, out), rates, strict=True)) / 1_000_000
        total[tags.get("feature", "untagged")] += usd / 2 if get("service_tier") == "batch" else usd
    return dict(total)
