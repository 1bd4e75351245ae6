"""The change behind a finding of the lever `batch`, ready to paste, and what it has saved so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from app.analysis.request_detail import model_sent
from app.core.view import UNASSIGNED
from app.web import batch_words as words
from app.web import format as show
from app.web.batch_ways import way

if TYPE_CHECKING:
    from app.analysis.batch_worth import Worth
    from app.plan.result import Finding
    from app.web.batch_desk import BatchDesk
    from app.web.page import Context

LEVER: Final = "batch"
CLOUDS: Final = ("aws", "azure", "google")
CLIENT: Final = """client = OpenAI(
    base_url="{address}/v1",
    api_key={key},
)"""


@dataclass(frozen=True, slots=True)
class BatchOffer:
    """What to paste, where to hand a file in, and what came of it.

    `upload` is empty where the page Batch does not take the file, `saved` until a job's answers are back, `saved_note`
    where Halve does not send the job.
    """

    heading: str
    lead: str
    code: str
    upload: str
    saved: str
    saved_note: str


def offer(context: Context, item: Finding) -> BatchOffer | None:
    """The offer for a finding; None for other levers, or where this Halve moves no batches."""
    desk = context.deps.commands.batch
    if desk is None or item.lever != LEVER:
        return None
    found = way(item.provider, item.model_id, item.feature, client=_client(context, desk), named=_named(context, item))
    worth = desk.worth_of_feature(context.session, item.feature)
    return BatchOffer(
        heading=found.heading,
        lead=found.lead,
        code=found.code,
        upload=_upload(item.feature) if found.upload else "",
        saved="" if not worth.requests else show.unit_money(worth.saved_pusd),
        saved_note=_note(worth) if found.followed or worth.requests else "",
    )


def _upload(feature: str) -> str:
    return "/batch" if feature == UNASSIGNED else f"/batch?{urlencode({'feature': feature})}"


def _named(context: Context, item: Finding) -> str:
    """The model as requests at a cloud name it; empty elsewhere. Its deployment or version is not in the priced id."""
    if item.provider not in CLOUDS or not item.evidence:
        return ""
    sent = model_sent(context.session, item.evidence[0].request_key) or ""
    return sent if sent.startswith("arn:") else sent.rpartition("/")[2]


def _client(context: Context, desk: BatchDesk) -> str:
    """An OpenAI client of the API here; empty where its batches go to another provider or server."""
    first = desk.upstreams[0]
    if first.provider not in ("openai", "demo") or first.base_url is not None:
        return ""
    key = '"any"' if context.deps.no_access_control else 'os.environ["HALVE_KEY"]'
    return CLIENT.format(address=context.deps.address, key=key)


def _note(worth: Worth) -> str:
    if not worth.requests:
        return "No batch job of this feature has come back yet."
    asked = show.plural(worth.requests, "request")
    if worth.saved_pusd is None:
        return f"{asked} came back, of which {show.count(worth.unpriced)} have no price to compare."
    return (
        f"{asked} were charged {show.unit_money(worth.charged_pusd)}; the same tokens cost "
        f"{show.unit_money(worth.realtime_pusd)} in real time ({words.discount_share(worth)})."
    )
