"""Fact tables of made requests: segments, lines, texts and the stream, as the pipeline would have written them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from app.core.hashing import hash64

if TYPE_CHECKING:
    from app.warehouse.store import Session

CLASSES = (
    "tok_input",
    "tok_cache_read",
    "tok_cache_write_5m",
    "tok_cache_write_30m",
    "tok_cache_write_1h",
    "tok_cache_write_12h",
)
DAY_US = 86_400_000_000


@dataclass
class Facts:
    segments: list[tuple] = field(default_factory=list)
    lines: dict[int, list[tuple]] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    stream: list[dict] = field(default_factory=list)

    def add(
        self,
        start_us: int,
        parts: list[tuple[str, str]],
        tokens: dict[str, int],
        *,
        provider: str = "openai",
        model_id: str = "gpt-4.1",
        feature: str = "chat",
        template: int | None = 1,
        account: str | None = None,
        session_id: str | None = None,
        first_token_us: int | None = None,
    ) -> int:
        key = len(self.stream) + 1
        total = sum(tokens.values())
        chain = repr((provider, model_id, account)).encode()
        size = sum(len(text.encode()) for _, text in parts)
        upto = pos = 0
        for role, text in parts:
            data = text.encode()
            own = hash64(data)
            for end in range(512, len(data), 512) if len(data) > 4096 else ():
                link = hash64(chain + role.encode() + b"\1" + data[:end])
                block = (own, link, 512, upto + end, round(total * (upto + end) / size), False, start_us)
                self.segments.append((key, pos, role, "block", *block))
                pos += 1
            chain = hash64(chain + role.encode() + b"\0" + str(own).encode()).to_bytes(8, "big", signed=True)
            upto += len(data)
            link = int.from_bytes(chain, "big", signed=True)
            tokens_upto = round(total * upto / size)
            self.segments.append((key, pos, role, "text", own, link, len(data), upto, tokens_upto, True, start_us))
            pos += 1
            self.lines.setdefault(
                own, [(own, i, hash64(line.encode()), len(line.encode())) for i, line in enumerate(text.split("\n"))]
            )
            self.texts.setdefault(own, text)
        row = {
            "request_key": key,
            "start_us": start_us,
            "first_token_us": first_token_us,
            "day": start_us // DAY_US,
            "provider": provider,
            "account": account,
            "model_id": model_id,
            "feature": feature,
            "template": template,
            "session_id": session_id,
            "is_batch": False,
            "service_tier": None,
            "prompt_tokens": total,
            "cost_pusd": total,
            "token_ratio": 1.0,
            "prompt_bytes": size or None,
            "calls_summed": None,
        }
        self.stream.append(row | {name: tokens.get(name) for name in CLASSES})
        return key

    def load(self, session: Session) -> None:
        schemas = {
            "segments": (
                self.segments,
                {
                    "request_key": pl.Int64,
                    "pos": pl.Int32,
                    "role": pl.String,
                    "kind": pl.String,
                    "seg_hash": pl.Int64,
                    "chain_hash": pl.Int64,
                    "bytes": pl.Int64,
                    "bytes_upto": pl.Int64,
                    "tokens_upto": pl.Int64,
                    "is_boundary": pl.Boolean,
                    "start_us": pl.Int64,
                },
            ),
            "lines": (
                [row for rows in self.lines.values() for row in rows],
                {"seg_hash": pl.Int64, "pos": pl.Int32, "line_hash": pl.Int64, "bytes": pl.Int64},
            ),
            "contents": (
                [(key, text, 0) for key, text in self.texts.items()],
                {"hash": pl.Int64, "text": pl.String, "seen_us": pl.Int64},
            ),
        }
        for name, (rows, schema) in schemas.items():
            session.register("made", pl.DataFrame(rows, schema=schema, orient="row"))
            session.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM made")
        types = dict.fromkeys(
            ("request_key", "start_us", "first_token_us", "day", "template", "prompt_tokens", *CLASSES), pl.Int64
        )
        types |= {"account": pl.String, "session_id": pl.String, "service_tier": pl.String, "calls_summed": pl.Int32}
        session.register("made", pl.DataFrame(self.stream, schema_overrides=types, infer_schema_length=None))
        session.connection.execute("CREATE OR REPLACE TEMP TABLE stream AS SELECT * FROM made")
