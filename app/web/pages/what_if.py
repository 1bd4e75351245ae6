"""What if only a part of the plan is done: findings are ticked off and the rest is priced as one plan again."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.core import view as views
from app.levers import LEVERS
from app.plan.what_if import what_if
from app.web import cells, plans
from app.web import format as show
from app.web.facts import Figure
from app.web.page import Content, Context, Empty, Link, Page, Unusable
from app.web.plans import Scale
from app.web.table import Cell, Column, Table, Tick

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from app.plan.result import Finding
    from app.plan.what_if import WhatIf

PATH: Final = "/savings/what-if"
BACK: Final = "/savings"
TITLE: Final = "What if"
TITLES: Final = {lever.name: lever.title for lever in LEVERS}


@dataclass(frozen=True, slots=True)
class Choice:
    """A part of the plan that can be had with one click."""

    label: str
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Model:
    back: str
    figures: tuple[Figure, ...]
    said: str
    choices: tuple[Choice, ...]
    action: str
    hidden: tuple[tuple[str, str], ...]


def build(context: Context) -> Content:
    """The newest plan without the findings that the address names."""
    asked = dict.fromkeys(part for part in context.keys.get("without", "").split(",") if part)
    found = what_if(context.deps.warehouse, context.deps.control, asked, now_us=context.now_us)
    members = () if found is None else tuple(item for item in found.plan.findings if item.in_joint)
    if found is None or not members:
        return Content(TITLE, empty=_nothing(context, analysed=found is not None))
    known = {item.fingerprint for item in members}
    left = known.intersection(asked)
    scale = Scale(found.plan)
    return Content(
        TITLE,
        unusable=_unusable([key for key in asked if key not in known]),
        model=Model(
            back=context.url(BACK),
            figures=_figures(found, scale, members, left),
            said=_said(found, scale, members, left),
            choices=_choices(context, members, left),
            action=PATH,
            hidden=views.pairs(context.view),
        ),
        tables=(_table(context, found, scale, members),),
    )


def _nothing(context: Context, *, analysed: bool) -> Empty:
    if analysed:
        text = "The newest plan holds no finding that could be left out: nothing counts in its total."
        return Empty("Nothing to choose from", text, (Link("Open Savings", context.url(BACK)),))
    text = "What a part of the plan saves can be asked once there is a plan: Savings makes one of the logs held."
    return Empty("No analysis yet", text, (Link("Open Savings", context.url(BACK)),))


def _unusable(unknown: list[str]) -> tuple[Unusable, ...]:
    if not unknown:
        return ()
    named = ", ".join(key if len(key) <= 20 else f"{key[:19]}…" for key in unknown[:3])
    text = (
        f"The total of the plan holds no such finding: {named}{' and more' if len(unknown) > 3 else ''}. It is passed "
        "over: it may be dismissed, of grade D, or gone since."
    )
    return (Unusable("without", text),)


def _figures(found: WhatIf, scale: Scale, members: tuple[Finding, ...], left: AbstractSet[str]) -> tuple[Figure, ...]:
    plan = found.plan
    before, whole, saved = Decimal(plan.before_usd), Decimal(plan.joint.p50), Decimal(found.joint_usd)
    basis = "paid" if plan.basis == "paid" else "list-price value"
    return (
        Figure(
            f"Saved by this choice {scale.unit}",
            scale.headline(found.joint_usd),
            _interval(found, scale, members, left),
            better=saved > 0,
        ),
        Figure(
            f"Given up {scale.unit}",
            scale.headline(format(whole - saved, "f")),
            f"Of {scale.text(plan.joint.p50)}, with {len(left)} of {show.plural(len(members), 'finding')} left out",
        ),
        Figure(
            f"Left to pay {scale.unit}",
            scale.headline(format(before - saved, "f")),
            f"Of {scale.text(plan.before_usd)} {basis}",
        ),
        Figure("Share saved", show.share(saved, before), "No dollar is counted twice"),
    )


def _interval(found: WhatIf, scale: Scale, members: tuple[Finding, ...], left: AbstractSet[str]) -> str:
    """The interval where one was measured: of the whole plan, and of a finding that is done alone."""
    done = [item for item in members if item.fingerprint not in left]
    if not left:
        return f"P10–P90: {scale.interval(found.plan.joint)}"
    if len(done) == 1 and done[0].standalone.p50 == found.joint_usd:
        return f"P10–P90: {scale.interval(done[0].standalone)}"
    return "" if not done else "P50; the interval of the whole plan does not carry over to a part of it"


def _said(found: WhatIf, scale: Scale, members: tuple[Finding, ...], left: AbstractSet[str]) -> str:
    """Why what is given up is less than what was left out would save alone."""
    if not left:
        return "Tick what you would not do: the rest is priced again as one plan, from the same requests."
    alone = sum((Decimal(item.standalone_usd) for item in members if item.fingerprint in left), Decimal(0))
    lost = Decimal(found.plan.joint.p50) - Decimal(found.joint_usd)
    said = f"Done alone, what is left out would save {scale.text(format(alone, 'f'))}"
    if alone > lost:
        return f"{said}; the plan loses only {scale.text(format(lost, 'f'))}, because others save on the same requests."
    return f"{said}, and that is what the plan loses: nothing else acts on those requests."


def _choices(context: Context, members: tuple[Finding, ...], left: AbstractSet[str]) -> tuple[Choice, ...]:
    """The whole plan, what is sure, what is easy, and each lever alone."""
    levers = dict.fromkeys(item.lever for item in sorted(members, key=lambda item: item.stage))
    parts = [
        ("The whole plan", members),
        ("Only facts (grade A)", tuple(item for item in members if item.grade == "A")),
        ("Only low effort", tuple(item for item in members if item.effort == "low")),
        *((f"Only {TITLES.get(name, name)}", tuple(i for i in members if i.lever == name)) for name in levers),
    ]
    choices, seen = [], set()
    for label, part in parts:
        kept = {item.fingerprint for item in part}
        without = [item.fingerprint for item in members if item.fingerprint not in kept]
        if not part or tuple(without) in seen:
            continue
        seen.add(tuple(without))
        keys = {"without": ",".join(without)} if without else {}
        choices.append(Choice(label, context.url(PATH, keys=keys), set(without) == left))
    return tuple(choices)


def _table(context: Context, found: WhatIf, scale: Scale, members: tuple[Finding, ...]) -> Table:
    return Table(
        "findings",
        "The findings of the plan",
        (
            Column("left_out", "Leave out", width="tight"),
            Column("fingerprint", "Fingerprint", twin_only=True),
            Column("headline", "What to do, and with which lever", width="wide"),
            Column("lever", "Lever", twin_only=True),
            Column("scope", "Where", width="mid"),
            Column("share_usd", "Share of the choice", "number", "Adds up to what the choice saves"),
            Column(
                "counts_usd", "Hangs on it", "number", "Lost without it; of one left out: what it would bring", "label"
            ),
            Column("alone_usd", "Done alone", "number"),
            Column("grade", "Grade"),
            Column("effort", "Effort", width="tight", minor=True),
        ),
        tuple(_row(context, found, scale, item) for item in members),
        total=(
            *(cells.text("Together"), cells.text(""), cells.text(""), cells.text(""), cells.text("")),
            scale.cell(found.joint_usd),
            *(cells.text("") for _ in range(4)),
        ),
        frame_note=f"Amounts {scale.unit}. Grade D and dismissed findings take no part.",
        stacked=True,
        first=len(members),
    )


def _row(context: Context, found: WhatIf, scale: Scale, item: Finding) -> tuple[Cell, ...]:
    out = item.fingerprint not in found.shares
    counts = scale.cell(found.counts[item.fingerprint], note="would bring" if out else "")
    return (
        Cell(out, "", tick=Tick("without", item.fingerprint, f"Leave out: {item.headline}", out)),
        cells.text(item.fingerprint),
        cells.text(item.headline, href=context.url(f"{BACK}/{item.fingerprint}"), note=item.title),
        Cell(item.lever, item.title),
        Cell(item.scope, plans.where(item)),
        Cell(None, "left out", tone="muted") if out else scale.cell(found.shares[item.fingerprint]),
        counts,
        scale.cell(item.standalone_usd),
        Cell(item.grade, item.grade),
        cells.text(item.effort),
    )


PAGE = Page(
    name="what_if",
    path=PATH,
    twin=PATH,
    nav="",
    build=build,
    keys=frozenset({"without"}),
    many=frozenset({"without"}),
    uses_view=False,
    kept=True,
    section="savings",
)
