"""The change behind a finding of the lever `batch`, ready to paste, and what it has saved so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from app.web import batch_words as words
from app.web import format as show

if TYPE_CHECKING:
    from app.analysis.batch_worth import Worth
    from app.plan.result import Finding
    from app.web.page import Context

LEVER: Final = "batch"
OPENAI: Final = """client = OpenAI(
    base_url="{address}/v1",
    api_key={key},
)
file = client.files.create(
    file=open("{stem}.jsonl", "rb"), purpose="batch"
)
batch = client.batches.create(
    input_file_id=file.id,
    endpoint="/v1/chat/completions",
    completion_window="24h",
    metadata={{"feature": {feature}}},
)"""
ANTHROPIC: Final = """# {stem}.jsonl, one line a request
{{"custom_id": "1", "params": {{"model": {model},
  "max_tokens": 1024, "messages": [...]}}}}

halve batch submit {stem}.jsonl --provider anthropic \\
  --feature {feature} --at 02:00"""


@dataclass(frozen=True, slots=True)
class BatchOffer:
    """What to paste, where to hand a file in, and what came of it; `saved` is empty until a job's answers are back."""

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
    worth = desk.worth_of_feature(context.session, item.feature)
    return BatchOffer(
        *_change(context, item),
        upload=f"/batch?{urlencode({'feature': item.feature})}",
        saved="" if not worth.requests else show.unit_money(worth.saved_pusd),
        saved_note=_note(worth),
    )


def _change(context: Context, item: Finding) -> tuple[str, str]:
    stem = "".join(character if character.isalnum() else "-" for character in item.feature.lower())[:40] or "jobs"
    if item.provider == "anthropic":
        lead = "Write the requests into a file instead of sending them, and hand it in: here, or where the job runs."
        code = ANTHROPIC.format(stem=stem, model=_quoted(item.model_id), feature=_quoted(item.feature))
    else:
        lead = "Point the client of this job at Halve. Nothing else of it changes; it polls and downloads as before."
        key = '"any"' if context.deps.no_access_control else 'os.environ["HALVE_KEY"]'
        code = OPENAI.format(address=context.deps.address, key=key, stem=stem, feature=_quoted(item.feature))
    return lead, code


def _quoted(text: str) -> str:
    """Text as a literal that Python, JSON and a shell read alike: what none of them may run is left out."""
    return '"' + "".join(character for character in text if character.isprintable() and character not in '"\\$`!') + '"'


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
