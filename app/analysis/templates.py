"""Templates by line frequency: the line of a prompt that most requests of its feature, account and model share.

A line that changes with every request (a timestamp, a name) is shared by none, wherever in the prompt it stands, so
prompts that begin with something volatile still have one template. Requests without text or hashes have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.warehouse.store import Session

MIN_REQUESTS = 3
MIN_SHARE = 0.01
MIN_BYTES = 8


def find_templates(session: Session) -> None:
    """Fill the temporary table `chosen`(request_key, grp, template) from `pending` and `ruled`.

    A line names a template when at least three requests and one in a hundred of its group carry it.
    """
    session.execute("attribution.template_groups")
    session.execute("attribution.heads")
    session.execute("attribution.part_lines", min_bytes=MIN_BYTES)
    session.execute("attribution.line_ranks", min_requests=MIN_REQUESTS, min_share=MIN_SHARE)
    session.execute("attribution.choose_templates")
    session.execute("attribution.keep_templates")


def template_name(template: int) -> str:
    """How a template is called where nothing else names a feature."""
    return f"template {template & 0xFFFFFFFFFFFFFFFF:016x}"[: len("template ") + 8]
