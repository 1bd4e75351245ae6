"""Which feature, team and environment each request serves: rules first, then the prompt's template, else unassigned.

Facts never change. New requests join the standing version; applying rules again writes a new one, and the version
before stays so that the difference can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.analysis.rules import CompiledRules, Rule, compile_rules
from app.analysis.templates import find_templates, template_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.warehouse.store import Session


PENDING: Final = "pending"
"""The temporary table of what a run attributed: request_key, start_us."""
PENDING_ATTRIBUTION: Final = "pending_attribution"
"""The temporary view of what it said of them, in the columns of the table attribution."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """What one run did: the version it wrote, how many requests, and how many of them by tag, rule, template, none."""

    version: int
    requests: int
    by: Mapping[str, int]


def attribute(session: Session, rules: tuple[Rule, ...], *, now_us: int, again: bool = False) -> Attributed:
    """Attribute what is not attributed yet; with `again`, or when the rules are other ones, everything anew.

    Call inside `Warehouse.writing()`, before the roll-ups are filled.
    """
    compiled = compile_rules(rules)
    standing = session.rows("attribution.state")
    version = int(standing[0][0]) if standing else 0
    anew = again or not standing or standing[0][1] != compiled.version
    if anew:
        version += 1
        session.execute("attribution.pending_all")
        session.execute("attribution.forget_templates")
    else:
        _find_new(session, version)
    _apply_rules(session, compiled)
    find_templates(session)
    _write(session, version)
    session.execute("attribution.clear_queue")
    if anew:
        session.execute("attribution.prune", version=version)
        session.execute("attribution.set_state", version=version, rules=compiled.version, applied_us=now_us)
    by = {str(kind): int(count) for kind, count in session.rows("attribution.outcome")}
    return Attributed(version, sum(by.values()), by)


def _find_new(session: Session, version: int) -> None:
    """Fill `pending` with what is named as new, or by comparison where the names do not account for every request."""
    session.execute("attribution.pending_queued")
    if session.rows("attribution.unqueued", version=version)[0][0] != 0:
        session.execute("attribution.pending_new", version=version)


def _apply_rules(session: Session, compiled: CompiledRules) -> None:
    session.register("rule_fields", compiled.fields)
    session.register("rule_conditions", compiled.conditions)
    session.register("rule_outputs", compiled.outputs)
    session.register("rule_list", compiled.rules)
    session.execute("attribution.ruled")


def _write(session: Session, version: int) -> None:
    templates = [int(row[0]) for row in session.rows("attribution.template_list")]
    session.register(
        "template_names",
        pl.DataFrame(
            {"template": templates, "name": [template_name(item) for item in templates]},
            schema={"template": pl.Int64, "name": pl.String},
        ),
    )
    session.execute("attribution.decide")
    session.execute("attribution.write", version=version)
