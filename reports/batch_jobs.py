"""Batch jobs as text for a terminal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from app.web import format as show
from reports.columns import aligned

LONGEST_ID: Final = 40

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def table(jobs: Sequence[Mapping[str, Any]]) -> str:
    """One line a job, newest first, and below it when it starts and how it is called."""
    if not jobs:
        return "No batch jobs yet. `halve batch submit FILE --provider openai` takes one in."
    rows = [("job", "provider", "status", "items", "ok", "not ok", "open")]
    rows += [
        (
            job["id"],
            job["provider"],
            status(job) if job["outcome"] is None else str(job["outcome"]).replace("_", " "),
            f"{job['submitted']:,}",
            f"{job['succeeded']:,}",
            f"{job['failed'] + job['expired'] + job['cancelled']:,}",
            f"{job['open']:,}",
        )
        for job in jobs
    ]
    below = [
        (),
        *((f"    starts {moment(job['start_us'], job['zone'])}  {_clean(job['label'])}".rstrip(),) for job in jobs),
    ]
    return "\n".join(aligned(rows, right={3, 4, 5, 6}, longest=LONGEST_ID, below=below))


def detail(job: Mapping[str, Any]) -> str:
    """One job: where it stands, what it costs, what went wrong, its parts."""
    lines = [
        f"{job['id']}  {_clean(job['label'])}",
        f"  {status(job)}, {job['provider']}, feature {_clean(job['feature'] or 'none')}",
        f"  {job['submitted']:,} submitted = {job['succeeded']:,} succeeded + {job['failed']:,} failed + "
        f"{job['expired']:,} expired + {job['cancelled']:,} cancelled + {job['open']:,} open"
        + (f"; {job['to_retry']:,} of the failed are sent again" if job["to_retry"] else ""),
        f"  starts {moment(job['start_us'], job['zone'])}"
        + (f", needed by {moment(job['needed_by_us'], job['zone'])}" if job["needed_by_us"] else ""),
    ]
    lines += _estimated(job["estimate"], job["provider"])
    lines += [f"  {word}: {_clean(job[word])}" for word in ("warning", "error") if job[word]]
    lines += [f"  part {part['number']}: {_part(part)}" for part in job.get("parts", ())]
    if job["results"]:
        lines.append(f"  results: {job['results']}")
    return "\n".join(lines)


def status(job: Mapping[str, Any]) -> str:
    """The state in one or two words; a settled job by its outcome."""
    said = job["status"] if job["outcome"] is None else f"{job['status']}, {job['outcome']}"
    return str(said).replace("_", " ")


def moment(at_us: int, zone: str) -> str:
    """A time as it reads in the job's zone."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)
    return f"{at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}"


def _estimated(estimate: Mapping[str, Any] | None, provider: str) -> list[str]:
    if estimate is None:
        return []
    prompts, answers = estimate["batch_input_usd"], estimate["batch_output_cap_usd"]
    live, live_answers = estimate["realtime_input_usd"], estimate["realtime_output_cap_usd"]
    if estimate["unpriced"]:
        names = ", ".join(map(_clean, estimate["unpriced"]))
        said = [
            f"  estimate: unknown, because the price book has no batch rate of {provider} for {names}",
            "  see that the model's name and --provider are right; a rate of your own goes into HALVE_PRICES",
        ]
        if live is not None:
            said.append(f"  in real time: prompts {_usd(live)}, answers at most {_usd(live_answers)}")
        return said
    said = [
        f"  estimate: prompts {_usd(prompts)} (between {_usd(estimate['batch_input_low_usd'])} and "
        f"{_usd(estimate['batch_input_high_usd'])}), answers at most {_usd(answers)}; "
        f"in real time {_usd(live)} and {_usd(live_answers)}"
    ]
    if answers is None:
        said.append("  the answers' cost is unknown, because not every request says how long its answer may be")
    return said


def _usd(text: str | None) -> str:
    return "unknown" if text is None else show.money(text)


def _part(part: Mapping[str, Any]) -> str:
    where = f", {part['batch_id']}" if part["batch_id"] else ""
    model = f", {_clean(part['model'])}" if part["model"] else ""
    again = f", attempt {part['attempt']}" if part["attempt"] > 1 else ""
    trouble = f": {_clean(part['error'])}" if part["error"] else ""
    return f"{part['state'].replace('_', ' ')}, {part['items']:,} items{model}{where}{again}{trouble}"


def _clean(text: str) -> str:
    """Text from logs and providers without anything that would move the cursor."""
    return "".join(character if character.isprintable() else " " for character in text)
