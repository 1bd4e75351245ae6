"""Made records of agents that keep logs on their own machine."""

from __future__ import annotations

from typing import Any, Final

from tests.formats.made_answers import CLAUDE, two


def codex(session: int) -> list[dict[str, Any]]:
    name = f"019c5000-0000-7000-8000-{session:012d}"
    place = {"id": name, "timestamp": "2026-03-02T10:00:00Z", "cwd": "/home/dev/shop"}
    lines: list[dict[str, Any]] = [
        {"timestamp": "2026-03-02T10:00:00Z", "type": "session_meta", "payload": place},
        {"timestamp": "2026-03-02T10:00:01Z", "type": "turn_context", "payload": {"model": "gpt-5", "cwd": "/x"}},
    ]
    for number in (1, 2, 2, 3):
        total = {"input_tokens": 1000 * number, "cached_input_tokens": 400 * number, "output_tokens": 90 * number,
                 "reasoning_output_tokens": 10 * number, "total_tokens": 1090 * number}  # fmt: skip
        last = {"input_tokens": 1000, "cached_input_tokens": 400, "output_tokens": 90,
                "reasoning_output_tokens": 10, "total_tokens": 1090}  # fmt: skip
        info = {"total_token_usage": total, "last_token_usage": last}
        payload = {"type": "token_count", "info": info}
        lines.append({"timestamp": f"2026-03-02T10:00:{10 * number}Z", "type": "event_msg", "payload": payload})
    return lines


AGENTS: Final[dict[str, list[list[Any]]]] = {
    "claude_code": two(
        lambda n: {
            "parentUuid": "p",
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/shop",
            "sessionId": "s-claude",
            "version": "2.4.1",
            "type": "assistant",
            "uuid": f"u-{n}",
            "timestamp": "2026-03-02T10:00:00Z",
            "requestId": f"req_{n}",
            "message": {**CLAUDE, "id": f"msg_code{n:024d}"},
        }
    ),
    "codex_cli": [codex(1), codex(2)],
    "gemini_cli": two(
        lambda n: {
            "id": f"m-{n}",
            "timestamp": "2026-03-02T10:00:00Z",
            "type": "gemini",
            "content": "Yes",
            "model": "gemini-2.5-flash",
            "tokens": {"input": 900, "output": 20, "cached": 500, "thoughts": 70, "tool": 0, "total": 990},
        }
    ),
    "pi_sessions": two(
        lambda n: {
            "type": "message",
            "id": f"pi-{n}",
            "timestamp": "2026-03-02T10:00:00Z",
            "message": {
                "role": "assistant",
                "provider": "anthropic",
                "model": "claude-sonnet-4-5",
                "stopReason": "stop",
                "content": [{"type": "text", "text": "Yes"}],
                "usage": {"input": 12, "output": 44, "cacheRead": 4000, "cacheWrite": 900, "totalTokens": 4956},
            },
        }
    ),
    "swe_agent": two(
        lambda n: {
            "instance_id": f"repo__issue-{n}",
            "trajectory": [{"action": "ls"}],
            "history": [],
            "info": {"exit_status": "submitted",
                     "model_stats": {"instance_cost": 0.3, "tokens_sent": 9000, "tokens_received": 70, "api_calls": 4}},
        }
    ),
}  # fmt: skip
