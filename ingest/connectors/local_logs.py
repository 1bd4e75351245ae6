"""Where coding agents keep their logs on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


def claude_code(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The folders of Claude Code's sessions: `projects` under CLAUDE_CONFIG_DIR (a comma list) or its two usual homes.

    Raises:
        UsageError: none of them exists.
    """
    named = [name.strip() for name in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if name.strip()]
    homes = named or ["~/.config/claude", "~/.claude"]
    return _existing("Claude Code", [Path(home) / "projects" for home in homes])


def codex(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The folders of Codex's rollouts under CODEX_HOME: running and archived sessions.

    Raises:
        UsageError: neither of them exists.
    """
    home = Path(environment.get("CODEX_HOME") or "~/.codex")
    return _existing("Codex", [home / "sessions", home / "archived_sessions"])


def _existing(agent: str, folders: list[Path]) -> list[str]:
    found = [str(path) for folder in folders if (path := folder.expanduser()).is_dir()]
    if not found:
        looked = ", ".join(str(folder) for folder in folders)
        raise UsageError(f"No {agent} sessions found: none of {looked} exists. Name the folder as PATH.")
    return found
