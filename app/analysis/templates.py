"""Templates by line frequency: the line of a prompt that most requests of its feature, account and model share.

A line that changes with every request (a timestamp, a name) is shared by none, wherever in the prompt it stands, so
prompts that begin with something volatile still have one template. Several prompts that share a common line are told
apart by the lines that only each of them has. Requests without text or hashes have no template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.warehouse.store import Session

MIN_REQUESTS: Final = 3
MIN_SHARE: Final = 0.01
MIN_BYTES: Final = 8
MAX_SPLITS: Final = 3
SPLIT: Final = {
    "min_requests": MIN_REQUESTS,
    "least": 0.05,  # a line that could split a template stands in one of twenty of its requests
    "constant": 0.9,  # and a line in nine of ten is part of the template itself
    "pure": 0.95,
    "cover": 0.9,
    "own": 0.3,
}
"""When a template is split; the query attribution.split says what each number decides."""


def find_templates(session: Session) -> None:
    """Fill the temporary table `chosen`(request_key, grp, line_hash) from `pending` and `ruled`.

    A line names a template when at least three requests and one in a hundred of its group carry it.
    """
    session.execute("attribution.template_groups")
    session.execute("attribution.heads")
    _lines(session, "heads", "part_lines")
    session.execute("attribution.line_ranks", min_requests=MIN_REQUESTS, min_share=MIN_SHARE)
    _choose(session, heads="heads", lines="part_lines", ranks="line_ranks", into="chosen")
    for _ in range(MAX_SPLITS):
        if not _split(session):
            break
    session.execute("attribution.keep_templates")


def template_name(template: int) -> str:
    """How a template is called where nothing else names a feature."""
    return f"template {template & 0xFFFFFFFFFFFFFFFF:016x}"[: len("template ") + 8]


def _split(session: Session) -> bool:
    """Split every template that is several prompts; false where there was none."""
    session.execute("attribution.split_nodes", None, **SPLIT)
    if not session.rows("attribution.any_split_nodes"):
        return False
    before = session.rows("attribution.count_chosen")
    session.execute("attribution.node_heads")
    _lines(session, "node_heads", "node_lines")
    session.execute("attribution.node_ranks", None, **SPLIT)
    _choose(session, heads="node_heads", lines="node_lines", ranks="node_ranks", into="children")
    session.execute("attribution.child_heads")
    _lines(session, "child_heads", "child_lines")
    session.execute("attribution.split", None, **SPLIT)
    return session.rows("attribution.count_chosen") != before


def _lines(session: Session, heads: str, into: str) -> None:
    session.execute("attribution.part_lines", {"heads": heads, "into": into}, min_bytes=MIN_BYTES)


def _choose(session: Session, *, heads: str, lines: str, ranks: str, into: str) -> None:
    session.execute("attribution.choose_lines", {"heads": heads, "lines": lines, "ranks": ranks, "into": into})
