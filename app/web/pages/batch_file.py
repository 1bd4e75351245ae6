"""A file that was handed in: what is wrong with it line by line, or what it will cost and when to send it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.control import batch_files
from app.core.errors import NotFoundError
from app.web import batch_words as words
from app.web import cells
from app.web import format as show
from app.web.facts import Figure
from app.web.page import Content, Context, Page
from app.web.table import Column, Table

if TYPE_CHECKING:
    from app.batch.preview import Preview
    from app.web.batch_desk import BatchDesk, Upstream

TONIGHT: Final = "02:00"


@dataclass(frozen=True, slots=True)
class Choice:
    label: str
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Model:
    file_id: str
    lead: str
    figures: tuple[Figure, ...]
    providers: tuple[Choice, ...]
    provider: str
    good: bool
    verdict: str
    note: str
    missing: str
    name: str
    feature: str
    at: str
    zone: str


def build(context: Context) -> Content:
    """The file whose id stands in the address, read as the lines of one provider."""
    desk = context.deps.commands.batch
    if desk is None:
        raise NotFoundError("This Halve was started without batches.")
    file = batch_files.file(context.deps.control, context.path["file"])
    upstream = desk.upstream(context.keys.get("provider") or desk.spoken(file.id))
    found = desk.preview(file.id, upstream)
    good = not found.wrong and found.items > 0
    stem = file.name.rpartition(".")[0] or file.name
    return Content(
        f"Check {file.name}",
        model=Model(
            file_id=file.id,
            lead=f"{show.plural(file.bytes, 'byte')}, not sent to anybody yet. The file is kept for 30 days.",
            figures=_figures(found, upstream) if good else (),
            providers=_providers(context, desk, file.id, upstream),
            provider=upstream.provider,
            good=good,
            verdict=_verdict(found, upstream),
            note=str(found.estimate.document()["note"]),
            missing=desk.missing(upstream),
            name=stem,
            feature=context.keys.get("feature", ""),
            at=TONIGHT,
            zone=context.deps.zone,
        ),
        tables=(_estimate_table(found),) if good else (_problem_table(found),),
    )


def _verdict(found: Preview, upstream: Upstream) -> str:
    if not found.items and not found.wrong:
        return "The file holds no request. Write one JSON object a line."
    if found.wrong:
        lines = show.plural(found.wrong, "line")
        return (
            f"{lines} of {show.count(found.items + found.wrong)} cannot be part of a batch of {upstream.title}, so "
            "nothing can be sent. Correct the file and hand it in again."
        )
    return ""


def _figures(found: Preview, upstream: Upstream) -> tuple[Figure, ...]:
    document = found.estimate.document()
    cost = words.estimated(document)
    return (
        Figure("Requests", show.count(found.items), f"{upstream.title}, {', '.join(found.endpoints)}"),
        Figure("Prompt tokens", show.short_count(document["tokens_in"]), "Estimated from bytes"),
        Figure("Estimated cost", cost.text, cost.note or "as a batch"),
        Figure("Saves", *_saves(found)),
    )


def _saves(found: Preview) -> tuple[str, str]:
    """What the batch price takes off the same estimate in real time."""
    document = found.estimate.document()
    batch, realtime = (document[f"{side}_input_usd"] for side in ("batch", "realtime"))
    if batch is None or realtime is None:
        return show.UNKNOWN, "A price of one of the models is not known"
    batch, realtime, of = Decimal(batch), Decimal(realtime), "The same"
    answers = [document[f"{side}_output_cap_usd"] for side in ("batch", "realtime")]
    if None in answers:
        of = "On the prompts alone; they"
    else:
        batch, realtime = batch + Decimal(answers[0]), realtime + Decimal(answers[1])
    return show.unit_money(realtime - batch), f"{of} in real time: {show.unit_money(realtime)}"


def _providers(context: Context, desk: BatchDesk, file_id: str, chosen: Upstream) -> tuple[Choice, ...]:
    if len(desk.upstreams) == 1:
        return ()
    path = f"/batch/files/{file_id}"
    return tuple(
        Choice(one.title, context.url(path, keys={**context.keys, "provider": one.provider}), one == chosen)
        for one in desk.upstreams
    )


def _estimate_table(found: Preview) -> Table:
    rows = tuple(
        (
            cells.text(line["model"]),
            cells.count(line["items"]),
            cells.tokens(line["tokens_in"]),
            cells.tokens(line["tokens_out_cap"]),
            cells.unit_usd(line["batch_input_usd"]),
            cells.unit_usd(line["batch_output_cap_usd"]),
            cells.unit_usd(line["realtime_input_usd"]),
            cells.unit_usd(line["realtime_output_cap_usd"]),
            cells.text(line["price_row"]),
        )
        for line in found.estimate.document()["models"]
    )
    return Table(
        "estimate",
        "Estimate by model",
        (
            Column("model", "Model", width="tight"),
            Column("items", "Requests", "number"),
            Column("tokens_in", "Prompt tokens", "number", "Estimated from bytes"),
            Column(
                "tokens_out_cap", "Answer tokens, at most", "number", "The sum of the caps; unknown where one has none"
            ),
            Column("batch_input_usd", "Prompts", "number", "At the batch price"),
            Column("batch_output_cap_usd", "Answers, at most", "number", "At the batch price"),
            Column("realtime_input_usd", "Prompts in real time", "number"),
            Column("realtime_output_cap_usd", "Answers in real time", "number"),
            Column("price_row", "Price", width="address"),
        ),
        rows,
        stacked=True,
    )


def _problem_table(found: Preview) -> Table:
    return Table(
        "problems",
        "What is wrong",
        (Column("line", "Line", width="tight"), Column("reason", "Why it cannot be sent", width="wide")),
        tuple((cells.count(one.line), cells.text(one.reason)) for one in found.problems),
        frame_note=f"The first {len(found.problems)} of {show.count(found.wrong)}."
        if found.wrong > len(found.problems)
        else "",
        empty="The file holds no request.",
    )


PAGE = Page(
    name="batch_file",
    path="/batch/files/{file}",
    twin="/batch/files/{file}",
    nav="",
    build=build,
    keys=frozenset({"provider", "feature"}),
    uses_view=False,
    section="batch",
)
