"""SWE-agent trajectories: one file a run of the agent, whose `model_stats` count all of its calls together.

Nothing of a run says what each call used or when, so a run is one record of operation `agent_run` that sums its calls,
with the agent's own figure as reported cost. It has no time, and so a list price only where its model has had one ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import providers
from ingest.formats.fields import calls_counted, count, integer, table, text, usd_text
from ingest.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_FAILED: Final = ("error", "exit_error", "early_exit", "exit_api")


def detect(record: Any) -> float:
    if type(record) is not dict or type(record.get("trajectory")) is not list:
        return 0.0
    return 1.0 if "info" in record or "history" in record else 0.0


def parse(record: Any, origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The run of a trajectory."""
    if type(record) is not dict or type(record.get("trajectory")) is not list:
        yield Rejected("no SWE-agent trajectory: it has no list of steps")
        return
    info = table(record.get("info"))
    stats = info.get("model_stats")
    if type(stats) is not dict:
        yield Rejected("a SWE-agent trajectory without model_stats")
        return
    warnings: list[str] = []
    model = _model(record)
    name = origin.file.replace("\\", "/").rpartition("/")[2].removesuffix(".traj")
    event = UsageEvent(
        operation="agent_run",
        source_record=text(record.get("instance_id")) or name or None,
        session_id=name or None,
        provider=providers.from_model(model),
        model=model,
        finish_reason=text(info.get("exit_status")),
        tok_input=count(stats.get("tokens_sent"), "input", warnings),
        tok_output=count(stats.get("tokens_received"), "output", warnings),
        cost_reported_usd=usd_text(_rounded(stats.get("instance_cost")), "instance_cost", warnings),
    )
    if event.tok_input:
        warnings.append("cache_not_logged")
    calls = integer(stats.get("api_calls"))
    event.calls_summed = None if calls == 1 else calls_counted(calls) or 0
    if any(word in (event.finish_reason or "") for word in _FAILED):
        event.status = "error"
    event.tags = {"agent": "swe_agent", **({} if model is None else {"requested_model": model})}
    event.warnings = warnings or None
    yield event


def _rounded(cost: Any) -> Any:
    """The sum of many costs without the digits that binary addition left behind."""
    return round(cost, 9) if type(cost) is float else cost


def _model(record: dict[str, Any]) -> str | None:
    """The model that a run's configuration names; older trajectories do not say it."""
    config = table(record.get("replay_config"))
    model = table(table(config.get("agent")).get("model"))
    named = text(model.get("name"))
    return None if named in (None, "replay", "instant_empty_submit", "human") else named


FORMAT: Final = Format(
    name="swe_agent",
    title="SWE-agent trajectories",
    convention="tokens_sent and tokens_received of a run's calls together; what of them was cached is not known.",
    billing="unknown",
    detect=detect,
    parse=parse,
)
