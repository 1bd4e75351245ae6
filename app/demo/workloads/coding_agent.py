"""Coding agent whose context grows with every step. Flaw: no cache marks, so each step pays for all steps before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from app.demo import prose
from app.demo.clock import MINUTE, OFFICE, SECOND, WORKDAYS, arrivals
from app.demo.company import STAFF, Caller, between, pick
from app.demo.provider import Block, MarkedCache
from app.demo.tokens import MESSAGE_TOKENS, count
from app.demo.wire import ANTHROPIC, PACES, Line, anthropic_response, pair
from app.demo.workload import Scene, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

MODEL = "claude-sonnet-4-5"
MARK = {"type": "ephemeral"}
STEPS = (6, 20)  # shortest and longest session
SYSTEM = (
    "You are the coding agent of Harbourline. You work in the repository of the freight platform, a Python service "
    "with a TypeScript front end. Read before you write. Keep changes small, keep the style of the file you are in, "
    "and add a test that fails without your change. Run the tests of the package after every change. Never touch "
    "generated files, lock files or migrations that have been released. Do not print secrets. When something is "
    "unclear, choose the reading that changes less and say so at the end. Finish with a summary of what changed and "
    "why, in at most six sentences. Money is kept in whole cents, times in UTC, weights in grams. Public functions "
    "have types and a docstring. Errors name what happened and what to do. Prefer the standard library to a new "
    "dependency."
)
_TOOL_WORDS = {
    "read_file": "Read a text file of the repository and return its lines with their numbers.",
    "search": "Search the repository for a regular expression and return the matching lines with their files.",
    "edit_file": "Replace one exact piece of text in a file by another; fails where the piece is not unique.",
    "create_file": "Create a file with the given content; fails where the file exists.",
    "run_tests": "Run the tests below a folder and return the names of failed tests with their messages.",
    "list_folder": "List the files and folders below a folder, at most two levels deep.",
    "git_log": "Show the last changes of a file with author, date and message.",
    "run_check": "Run the formatter, the linter and the type checker on a folder and return their findings.",
}
TOOLS = [
    {
        "name": name,
        "description": f"{text} Paths are relative to the root of the repository. Output is cut after 400 lines; ask "
        "for a range when you need more. The call has no effect on files outside the repository.",
        "input_schema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File or folder, relative to the root of the repository."},
                "query": {"type": "string", "description": "What to look for, or the new text where the tool writes."},
                "first": {"type": "integer", "description": "First line of the range, counted from one."},
                "last": {"type": "integer", "description": "Last line of the range, included."},
            },
            "required": ["path"],
        },
    }
    for name, text in _TOOL_WORDS.items()
]
_PATHS = (
    "rates/export.py",
    "yard/slots.py",
    "hooks/sender.py",
    "customs/dates.py",
    "weights/views.py",
    "core/money.py",
)


@dataclass(slots=True)
class _Session:
    """The conversation so far: its messages, and the chain hash and tokens at the end of each."""

    caller: Caller
    messages: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[tuple[int, int]] = field(default_factory=list)

    def add(self, role: str, content: list[dict[str, Any]], text: str) -> None:
        chain, tokens = self.blocks[-1]
        self.messages.append({"role": role, "content": content})
        self.blocks.append((hash((chain, text)), tokens + count(text) + MESSAGE_TOKENS))


def _schedule(scene: Scene) -> list[tuple[int, int, int]]:
    """(start, session, step) of every call in the order of their start."""
    rng = scene.rng("arrivals")
    average = sum(STEPS) / 2
    openings = arrivals(rng, scene.span, max(1, round(scene.requests / average)), OFFICE, WORKDAYS)
    calls: list[tuple[int, int, int]] = []
    for session, opening in enumerate(openings):
        at = opening
        for step in range(between(rng, *STEPS)):
            if at >= scene.span.end_us:
                break
            calls.append((at, session, step))
            away = rng.random() < 0.03  # the developer reads, or has lunch
            at += between(rng, 7 * MINUTE, 40 * MINUTE) if away else between(rng, 18 * SECOND, 75 * SECOND)
    return sorted(calls)


def _open(rng: Random, number: int) -> _Session:
    caller = Caller("coding-agent", "platform", "development", "dev-agents", pick(rng, STAFF), f"agent-{number:05d}")
    fixed = msgspec.json.encode(TOOLS).decode()
    chain = hash((0, fixed))
    tools_end = (chain, count(fixed))
    system_end = (hash((chain, SYSTEM)), tools_end[1] + count(SYSTEM) + MESSAGE_TOKENS)
    session = _Session(caller, [], [tools_end, system_end])
    task = f"{pick(rng, prose.CODE_TASKS)} Branch {number}-{rng.getrandbits(24):06x}."
    session.add("user", [{"type": "text", "text": task}], task)
    return session


def _request(session: _Session, flaw: bool) -> dict[str, Any]:
    """The call as sent; without the flaw the system block and the last message carry a mark."""
    if flaw:
        return _body([{"type": "text", "text": SYSTEM}], session.messages)
    last = session.messages[-1]
    marked = {"role": last["role"], "content": [*last["content"][:-1], {**last["content"][-1], "cache_control": MARK}]}
    system = [{"type": "text", "text": SYSTEM, "cache_control": MARK}]
    return _body(system, [*session.messages[:-1], marked])


def _body(system: list[dict[str, Any]], messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "model": MODEL, "max_tokens": 4096, "system": system, "tools": TOOLS, "messages": messages, "stream": True,
    }  # fmt: skip


def _tool_result(rng: Random) -> str:
    first = between(rng, 1, 400)
    lines = between(rng, 14, 46)
    return "\n".join([f"{first + i:4d}  {pick(rng, prose.CODE_LINES)}" for i in range(lines)])


def make(scene: Scene) -> Iterator[Line]:
    load, cache = scene.rng("load"), MarkedCache(minimum=1024)
    sessions: dict[int, _Session] = {}
    talks: dict[int, Random] = {}
    calls = _schedule(scene)
    last_step = {number: step for _, number, step in calls}
    for start, number, step in calls:
        if step == 0:
            talks[number] = scene.rng(f"session {number}")
            sessions[number] = _open(talks[number], number)
        session, rng = sessions[number], talks[number]
        marks = () if scene.flaw else (1, len(session.blocks) - 1)
        blocks = [Block(chain, tokens, i in marks) for i, (chain, tokens) in enumerate(session.blocks)]
        swing = 0.8 + 0.5 * load.random()
        use = cache.lookup(blocks, start, start + SECOND)
        thought = " ".join(pick(rng, prose.CODE_THOUGHTS) for _ in range(between(rng, 1, 3)))
        done = step == last_step[number]
        content: list[dict[str, Any]] = [{"type": "text", "text": thought}]
        said = thought
        tool_id = f"toolu_01{rng.getrandbits(88):022x}"
        if not done:
            call = {"path": pick(rng, _PATHS), "query": pick(rng, prose.CODE_LINES).strip(), "first": step * 20 + 1}
            content.append({"type": "tool_use", "id": tool_id, "name": pick(rng, list(_TOOL_WORDS)), "input": call})
            said = f"{thought} {msgspec.json.encode(call).decode()}"
        written = count(said) + between(rng, 60, 420)
        response = anthropic_response(
            f"{rng.getrandbits(88):022x}", MODEL, content, use, written, stop="end_turn" if done else "tool_use"
        )
        times = PACES[MODEL].times(start, use.uncached + use.written, written, swing)
        yield pair(ANTHROPIC, scene.name, times, session.caller, _request(session, scene.flaw), response)
        if done:
            del sessions[number], talks[number]
            continue
        session.add("assistant", content, said)
        result = _tool_result(rng)
        session.add("user", [{"type": "tool_result", "tool_use_id": tool_id, "content": result}], result)


WORKLOAD = Workload("coding-agent", 0.013, "no cache marks on a context that grows with every step", make)
