"""A small made company for the dashboard's tests: sixty days of requests written straight into the fact tables.

Names are hostile on purpose: whoever shows them must escape them.
"""

from __future__ import annotations

import json
import logging
import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from app.auth.access import first_token
from app.control import database, schedules
from app.control import findings as control_findings
from app.core.errors import UnavailableError
from app.core.money import usd_text
from app.core.view import zone_info
from app.jobs import Clockwork, Job, Run, parse
from app.plan import store
from app.plan.assemble import lever_totals
from app.plan.outcomes import Player, Players
from app.plan.result import Evidence, Finding, PlanResult, Range
from app.plan.shares import ScopeGame
from app.warehouse.migrate import migrate
from app.warehouse.rollup import rebuild
from app.warehouse.store import Session, Warehouse
from app.web.commands import Commands, JobDesk, Progress
from app.web.deps import Deps

if TYPE_CHECKING:
    from collections.abc import Callable

NOW_US = int(datetime(2026, 11, 18, 11, 6, 40, tzinfo=UTC).timestamp()) * 1_000_000
DAY_US = 86_400_000_000
HOUR_US = 3_600_000_000
ZONE = "Europe/Berlin"

MARKUP = '<img src=x onerror="document.title=1">'
FORMULA = '=HYPERLINK("http://evil.example","x")'


@dataclass(frozen=True)
class Kind:
    feature: str
    model: str
    provider: str
    a_day: int
    tokens_in: int
    cached: float
    written: float
    tokens_out: int
    reasoning: int
    input_rate: int | None
    output_rate: int | None
    source: str = "litellm"
    growth: float = 0.0
    rule: str = "tag"


KINDS = (
    Kind("support-chat", "gpt-5", "openai", 14, 5200, 0.2, 0.0, 420, 210, 1_250_000, 10_000_000, growth=0.012),
    Kind("coding-agent", "claude-sonnet-4-5", "anthropic", 9, 41_000, 0.62, 0.12, 900, 0, 3_000_000, 15_000_000),
    Kind("invoice-extract", "gpt-5", "openai", 10, 3900, 0.0, 0.0, 260, 600, 1_250_000, 10_000_000),
    Kind("docs-search", "gpt-5-mini", "openai", 24, 6100, 0.1, 0.0, 240, 0, 250_000, 2_000_000),
    Kind("ticket-classify", "gpt-5-mini", "openai", 30, 900, 0.0, 0.0, 20, 0, 250_000, 2_000_000),
    Kind("newsletter", "claude-haiku-4-5", "anthropic", 3, 700, 0.0, 0.0, 800, 0, 1_000_000, 5_000_000),
    Kind("unassigned", "gpt-5-mini", "openai", 5, 1500, 0.0, 0.0, 300, 0, 250_000, 2_000_000, rule="none"),
    Kind(MARKUP, "gpt-5-mini", "openai", 2, 800, 0.0, 0.0, 90, 0, 250_000, 2_000_000),
    Kind(FORMULA, "in-house-tune", "openai", 2, 800, 0.0, 0.0, 90, 0, None, None, source=f"logs {MARKUP}"),
)


def _request(kind: Kind, start_us: int, rng: random.Random) -> dict[str, Any]:
    tokens_in = round(kind.tokens_in * rng.uniform(0.7, 1.4))
    read = round(tokens_in * kind.cached * rng.uniform(0.6, 1.2))
    written = round(tokens_in * kind.written)
    fresh = tokens_in - read - written
    out = max(1, round(kind.tokens_out * rng.uniform(0.5, 1.6)))
    thought = round(kind.reasoning * rng.uniform(0.5, 1.5)) if kind.reasoning else None
    status = rng.choices(["ok", "error", "timeout"], [96, 3, 1])[0]
    first = 250_000 + fresh * 40 + rng.randrange(200_000)
    row: dict[str, Any] = {
        "source": kind.source,
        "provider": kind.provider,
        "model": kind.model,
        "model_id": kind.model,
        "operation": "chat",
        "is_batch": False,
        "api_key_alias": rng.choice(["prod-1", "prod-2"]),
        "user_hash": rng.randrange(40),
        "session_id": f"s{start_us // 1_800_000_000}",
        "start_us": start_us,
        "first_token_us": start_us + first,
        "end_us": start_us + first + (out + (thought or 0)) * 14_000,
        "status": status,
        "http_status": {"ok": 200, "error": 500, "timeout": 504}[status],
        "tok_input": fresh,
        "tok_cache_read": read or None,
        "tok_cache_write_5m": written or None,
        "tok_output": out,
        "tok_reasoning": thought,
        "cost_state": "unpriced",
        "origin_file": "made.jsonl",
        "tags": json.dumps({"feature": kind.feature, "ticket": f"{MARKUP}\u202egpj.exe"}),
        "error": None if status == "ok" else f"upstream said {MARKUP}",
        "fullness": 1,
    }
    if kind.input_rate is not None and kind.output_rate is not None:
        parts = {
            "input_pusd": fresh * kind.input_rate,
            "cache_read_pusd": read * kind.input_rate // 10 if read else None,
            "cache_write_pusd": written * kind.input_rate * 5 // 4 if written else None,
            "output_pusd": out * kind.output_rate,
            "reasoning_pusd": thought * kind.output_rate if thought else None,
        }
        row |= parts
        row["cost_pusd"] = row["cost_list_pusd"] = sum(value for value in parts.values() if value)
        row |= {"cost_state": "priced", "price_row": f"{kind.provider}/{kind.model}", "price_book": "made-1"}
    return row


def requests(days: int = 60, scale: int = 1, seed: int = 7) -> list[dict[str, Any]]:
    """Requests of `days` up to now, `scale` times as many as the kinds say."""
    rng = random.Random(seed)
    rows = []
    for back in range(days, -1, -1):
        midnight = NOW_US - NOW_US % DAY_US - back * DAY_US
        weekend = (midnight // DAY_US + 3) % 7 >= 5
        for kind in KINDS:
            a_day = kind.a_day * scale * (0.45 if weekend else 1) * (1 + kind.growth * (days - back))
            for _ in range(round(a_day)):
                start_us = midnight + round(rng.triangular(5, 23, 14) * 3_600_000_000)
                if start_us < NOW_US:
                    rows.append(_request(kind, start_us, rng) | {"feature": kind.feature, "rule": kind.rule})
    for number, row in enumerate(rows, 1):
        row["request_key"] = (number * 0x9E3779B97F4A7C15) % (1 << 64) - (1 << 63)
    return rows


def fill(session: Session, rows: list[dict[str, Any]]) -> None:
    """Write requests, their attribution and the roll-ups."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    session.register("made", frame)
    columns = ", ".join(name for name in frame.columns if name not in ("feature", "rule"))
    connection = session.connection
    connection.execute(f"INSERT INTO requests ({columns}) SELECT {columns} FROM made")
    connection.execute(
        "INSERT INTO attribution SELECT request_key, feature, 'core', 'production', NULL, rule, 1 FROM made"
    )
    connection.execute("INSERT INTO sources VALUES ('litellm', 'litellm_spend_logs', 'api', 'format')")
    connection.execute(
        "INSERT INTO quarantine (source, file, path, line, reason, head, seen_us) "
        "VALUES ('litellm', ?, '/made', 17, 'no JSON', ?, ?)",
        [f"{MARKUP}.jsonl", f'{{"broken {MARKUP}', NOW_US],
    )
    rebuild(session)


@dataclass
class Deeds:
    """What the pages asked for, and the progress they are told."""

    progress: Progress = field(default_factory=Progress)
    uploads: list[tuple[str, bytes]] = field(default_factory=list)
    analyses: int = 0
    billings: list[tuple[str, str]] = field(default_factory=list)
    overlaps: list[tuple[str, str, str | None]] = field(default_factory=list)


@dataclass
class Company:
    deps: Deps
    deeds: Deeds
    token: str


def company(
    rows: list[dict[str, Any]] | None = None, *, planned: bool = True, no_access_control: bool = False, **given: Any
) -> Company:
    """Stores in memory with the made requests, and commands that work on the control store."""
    warehouse = Warehouse(None)
    migrate(warehouse)
    made = requests() if rows is None else rows
    if made:
        with warehouse.writing() as session:
            fill(session, made)
    control = database.open_control(None)
    database.migrate(control)
    token = first_token(control, NOW_US)
    assert token is not None
    if planned and made:
        plan(warehouse, control, made)
    deeds = Deeds()
    deps = Deps(
        warehouse=warehouse,
        control=control,
        commands=_commands(control, deeds),
        zone=ZONE,
        now=lambda: NOW_US,
        allowed_hosts=frozenset({"127.0.0.1", "localhost"}),
        no_access_control=no_access_control,
        **given,
    )
    return Company(deps, deeds, token)


def _commands(control: Any, deeds: Deeds) -> Commands:
    def moved(status: Any) -> Callable[[str], None]:
        return lambda fingerprint: control_findings.set_status(control, fingerprint, status, now_us=NOW_US)

    def dismiss(fingerprint: str, reason: str, until_us: int | None) -> None:
        control_findings.set_status(control, fingerprint, "dismissed", now_us=NOW_US, reason=reason, until_us=until_us)

    def upload(name: str, stream: BinaryIO) -> str:
        deeds.uploads.append((name, stream.read()))
        return "stored"

    def analyse() -> None:
        deeds.analyses += 1

    return Commands(
        dismiss_finding=dismiss,
        restore_finding=moved("open"),
        start_finding=moved("in_progress"),
        finish_finding=moved("done"),
        assign_finding=lambda fingerprint, owner: control_findings.set_owner(
            control, fingerprint, owner, now_us=NOW_US
        ),
        status=lambda: deeds.progress,
        upload_log=upload,
        run_analysis=analyse,
        set_billing=lambda source, billing: deeds.billings.append((source, billing)),
        decide_overlap=lambda one, other, counted: deeds.overlaps.append((one, other, counted)),
        jobs=_jobs(control),
    )


def _jobs(control: Any) -> JobDesk:
    """Jobs that a clock ran for two weeks: one fails, three days were missed, one is off."""
    clock = [NOW_US - NOW_US % HOUR_US - 14 * DAY_US]

    def pull(run: Run) -> None:
        clock[0] += 1_370_000
        run.say(f"gateway: {MARKUP}")
        raise UnavailableError(f"{FORMULA} answered 503 three times. It is asked again.")

    def analyse(run: Run) -> None:
        clock[0] += 42_600_000
        run.say("4,120 requests of 28 days, $418.20.")
        run.say("6 findings worth $61.40 together.")

    jobs = (
        Job("sources", "Pull sources", "Asks each source for what is new.", "every 6 h", pull),
        Job("analysis", "Analyse", "Prices every lever on the last 30 days.", "daily 03:00", analyse),
        Job("report", "Weekly report", "Sends the report of the week before.", "weekly mon 08:00", lambda run: None),
        Job("month_end", "Month end", "Closes the books of a month.", "monthly 31 23:45", lambda run: None),
    )
    schedules.ensure(control, [(job.name, job.rule) for job in jobs], zone=ZONE, now_us=clock[0])
    schedules.change(control, "month_end", rule="monthly 31 23:45", zone="UTC", enabled=False, now_us=clock[0])
    work = Clockwork(control, {job.name: job for job in jobs}, lambda: clock[0], start=lambda work: work())
    begin = clock[0]
    logging.getLogger("app.jobs.clockwork").disabled = True
    for hour in range(1, 14 * 24):
        if not 200 <= hour < 272:
            clock[0] = begin + hour * HOUR_US
            work.tick()
    logging.getLogger("app.jobs.clockwork").disabled = False

    def change(job: str, rule: str, zone: str, enabled: bool) -> None:
        named = zone_info(zone).key
        schedules.change(control, job, rule=str(parse(rule)), zone=named, enabled=enabled, now_us=NOW_US)

    return JobDesk(jobs, lambda job: schedules.ask(control, job, NOW_US), change)


SAVED_USD = {"support": 4, "search": 0.6, "classify": 0.09, "extract": 1.9}


def plan(warehouse: Warehouse, control: Any, rows: list[dict[str, Any]]) -> None:
    """Store a plan of the last 28 days with three findings in the joint total and one potential."""
    from_us, to_us = NOW_US - NOW_US % DAY_US - 28 * DAY_US, NOW_US - NOW_US % DAY_US
    inside = [row for row in rows if from_us <= row["start_us"] < to_us]
    players = Players(
        (
            Player("prompt_caching", 70, joint=True, indices=frozenset({0})),
            Player("response_cache", 20, joint=True, indices=frozenset({0})),
            Player("batch", 60, joint=True, indices=frozenset({0})),
            Player("smaller_model", 50, joint=False, indices=frozenset({0})),
        )
    )
    made = [
        ("f0support", "prompt_caching", "Prompt caching", "support-chat", "gpt-5", "B", 0, SAVED_USD["support"]),
        ("f1search", "response_cache", "Answer cache", "docs-search", "gpt-5-mini", "A", 1, SAVED_USD["search"]),
        ("f2classify", "batch", "Batch tier", "ticket-classify", "gpt-5-mini", "B", 2, SAVED_USD["classify"]),
        ("f3extract", "smaller_model", "Smaller model", "invoice-extract", "gpt-5", "D", 3, SAVED_USD["extract"]),
    ]
    games, findings = [], []
    for fingerprint, lever, title, feature, model, grade, place, saved_usd in made:
        theirs = [row for row in inside if row["feature"] == feature]
        cost = sum(row["cost_pusd"] for row in theirs)
        saved = int(saved_usd * 10**12)
        games.append(ScopeGame(cost, {place: fingerprint}, {mask: saved * (mask >> place & 1) for mask in range(16)}))
        findings.append(_finding(fingerprint, lever, title, feature, model, grade, cost, saved, theirs))
    findings[0] = replace(findings[0], headline=f"Move the timestamp to the end of the prompt {MARKUP}")
    joint = sum(int(saved * 10**12) for name, saved in SAVED_USD.items() if name != "extract")
    paid = sum(row.get("cost_pusd") or 0 for row in inside)
    result = PlanResult(
        run_id=1,
        computed_us=NOW_US - 3_600_000_000,
        from_us=from_us,
        to_us=to_us,
        zone=ZONE,
        basis="paid",
        price_book="made-1",
        requests=len(inside),
        unpriced_requests=46,
        left_out_requests=0,
        before_usd=usd_text(paid) or "0",
        joint=Range(usd_text(joint * 8 // 10), usd_text(joint) or "0", usd_text(joint * 12 // 10)),
        potential_usd=usd_text(int(SAVED_USD["extract"] * 10**12)) or "0",
        clusters=84,
        days="28",
        per_30_days="1.071429",
        findings=tuple(findings),
        levers=lever_totals(findings),
        levers_data={
            "batch": {"state": "ok", "scopes": 7},
            "response_cache": {"state": "not enough data", "why": "No request carries its prompt.", "do": "Log it."},
        },
    )
    store.save(warehouse, result, games, players)
    control_findings.note_seen(
        control, [(item.fingerprint, item.lever, item.scope) for item in findings], result.computed_us
    )


def _finding(
    fingerprint: str, lever: str, title: str, feature: str, model: str, grade: Any, cost: int, saved: int, rows: Any
) -> Finding:
    amount = usd_text(saved) or "0"
    joint = grade != "D"
    return Finding(
        fingerprint=fingerprint,
        lever=lever,
        title=title,
        stage={"response_cache": 20, "smaller_model": 50, "batch": 60, "prompt_caching": 70}[lever],
        feature=feature,
        template=None,
        provider="openai",
        model_id=model,
        scope=f"feature={feature} model={model}",
        grade=grade,
        in_joint=joint,
        requests=len(rows),
        before_usd=usd_text(cost) or "0",
        standalone_usd=amount,
        last_in_usd=amount,
        allocated_usd=amount if joint else "0",
        standalone=Range(usd_text(saved * 8 // 10), amount, usd_text(saved * 12 // 10)),
        effort="low",
        risk="none",
        reversible=True,
        headline=f"{title} for {feature}",
        steps=("Find where the prompt is built.", "Put what changes on every call behind what stays the same."),
        verify="The share of cached tokens of this feature rises within a day.",
        example='messages = [\n    {"role": "system", "content": STABLE},\n]',
        arithmetic=(f"{len(rows)} requests cost {usd_text(cost)} USD; with the change {usd_text(cost - saved)} USD.",),
        assumptions=("Arrivals stay as they were.",),
        rules=("openai: prefixes from 1,024 tokens",),
        query="levers.made",
        evidence=tuple(
            Evidence(row["request_key"], row["start_us"], usd_text(row["cost_pusd"]) or "0", "0.001", "same prefix")
            for row in rows[-5:]
        ),
    )
