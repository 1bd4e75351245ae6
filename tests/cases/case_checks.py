"""What each key of a case's `expected` demands of the outcome."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from driven import BUCKETS, UNITS, Outcome, input_by_day

from app.analysis import spend
from app.core.view import View

if TYPE_CHECKING:
    from collections.abc import Callable


def same(found: Any, value: Any) -> None:
    assert found == value


def check_buckets(outcome: Outcome, buckets: dict[str, int], row: dict[str, Any] | None = None) -> None:
    units = {UNITS[name]: count for name, count in buckets.items() if name in UNITS}
    assert [one["units"] for one in (outcome.requests if row is None else [row]) if one["units"]] == [units] * bool(
        units
    )
    expected = {name: count for name, count in buckets.items() if count and name not in UNITS}
    found = dict(outcome.tokens(row))
    by_bucket = {bucket: sum(found.pop(name, 0) for name in names) for bucket, names in BUCKETS.items()}
    assert {bucket: count for bucket, count in by_bucket.items() if count} == expected
    assert found == {}, "tokens in a class that the case does not name"


def check_cost(outcome: Outcome, value: str | None) -> None:
    if value is None:
        assert outcome.cost is None
        assert outcome.shown_cost is None
        return
    assert outcome.cost == Decimal(value)
    assert outcome.shown_cost is not None
    assert Decimal(outcome.shown_cost) == Decimal(value)


def check_status(outcome: Outcome, value: str) -> None:
    assert [row["cost_state"] for row in outcome.requests] == [value.split("_", maxsplit=1)[0]] * len(outcome.requests)


def check_rejected(outcome: Outcome, wrong: list[str]) -> None:
    costs = {Decimal(row["cost_usd"]) for row in outcome.requests if row["cost_usd"] is not None}
    for value in wrong:
        figure = Decimal(value.split()[0])
        assert outcome.cost != figure
        assert figure not in costs or "(" in value, "a remark says that the wrong value is a total"


def check_wrong_totals(outcome: Outcome, wrong: list[Any]) -> None:
    totals = {sum(outcome.tokens().values()), *outcome.tokens().values()}
    for value in wrong:
        assert value not in totals
        figure = str(value).split()[-1]
        assert not figure.isdecimal() or int(figure) not in totals


def check_records(outcome: Outcome, rows: list[dict[str, Any]]) -> None:
    assert len(outcome.requests) == len(rows)
    # Several requests of one line stand in no order of their own.
    placed = sorted(outcome.requests, key=lambda one: (one["origin"]["line"], one["source_record"] or ""))
    for request, row in zip(placed, rows, strict=True):
        if "buckets" in row:
            check_buckets(outcome, row["buckets"], request)
            assert request["cost_state"] == "priced"
            assert Decimal(request["cost_usd"]) == Decimal(row["cost_usd"])
        elif row["cost_usd"][0].isdigit():
            assert Decimal(request["cost_usd"]) == Decimal(row["cost_usd"]) == Decimal(request["cost_reported_usd"])
            assert row.get("flag", "") == " ".join(request["warnings"])
        else:
            assert request["cost_state"] == "unpriced"


def input_of(row: dict[str, Any]) -> int:
    return sum(count or 0 for name, count in row["tokens"].items() if not name.startswith(("output", "reasoning")))


def everything(row: dict[str, Any]) -> int:
    return sum(count or 0 for count in row["tokens"].values())


def check_gap(outcome: Outcome, value: int) -> None:
    same(sum(row["cost_state"] in ("unknown", "unpriced", "partly") for row in outcome.requests), value)


def check_flag(outcome: Outcome, value: str) -> None:
    assert [row["warnings"] for row in outcome.requests] == [[value]]


def check_sessions(outcome: Outcome, value: dict[str, int]) -> None:
    sessions = [row["session_id"].split("-")[0] for row in outcome.requests]
    same({name: sessions.count(name) for name in sessions}, value)


def check_origins(outcome: Outcome, value: dict[str, int]) -> None:
    agents = [row["tags"]["agent"] for row in outcome.requests]
    same({name: agents.count(name) for name in agents}, value)


def check_models_of_parts(outcome: Outcome, value: dict[str, str]) -> None:
    with outcome.warehouse.session() as session:
        rows = session.rows("requests.parts", request_key=int(outcome.requests[0]["request_key"]))
    costs = {row[2]: Decimal(row[-2]).scaleb(-12) for row in rows}
    same(costs, {model: Decimal(cost) for model, cost in value.items()})


def check_lines(outcome: Outcome, value: list[int]) -> None:
    same([row["origin"]["line"] for row in outcome.rejected if row["origin"]["line"]], value)


def check_days(outcome: Outcome, value: dict[str, dict[str, int]], zone: str = "UTC") -> None:
    same(input_by_day(outcome, zone), {day: counts["input"] for day, counts in value.items()})


def check_priced(outcome: Outcome, value: list[str]) -> None:
    same([row["source_record"] for row in outcome.requests if row["cost_state"] == "priced"], value)


def check_unknown(outcome: Outcome, value: list[str]) -> None:
    unpriced = [row for row in outcome.requests if row["cost_usd"] is None]
    same([row["source_record"] for row in unpriced], value)


def check_flagged(outcome: Outcome, value: dict[str, str]) -> None:
    flagged = [row["source_record"] for row in outcome.requests if "bad_time:created" in row["warnings"]]
    same(flagged, list(value))
    same([row["start"] for row in outcome.requests if row["source_record"] in value], [None] * len(value))


def check_no_nul(outcome: Outcome, _value: bool) -> None:
    assert "\\u0000" not in json.dumps(outcome.requests)
    with outcome.warehouse.session() as session:
        view = View(spend.whole_period(session, "UTC"))
        features = [row.name for row in spend.ranking(session, view, by="feature").rows]
    same(features, ["ab"])


def check_unmatched(outcome: Outcome, value: list[str]) -> None:
    same([row["model"] for row in outcome.requests if "unknown_model" in row["warnings"]], value)


CHECKS: dict[str, Callable[[Outcome, Any], None]] = {
    "buckets": check_buckets,
    "cost_usd": check_cost,
    "total_cost_usd": check_cost,
    "cost_status": check_status,
    "wrong_values_to_reject": check_rejected,
    "wrong_token_totals_to_reject": check_wrong_totals,
    "per_record": check_records,
    "tokens": lambda outcome, value: same(
        [any(row["tokens"].values()) for row in outcome.requests], [value is not None]
    ),
    "requests": lambda outcome, value: same(len(outcome.requests), value),
    "requests_minimum": lambda outcome, value: same(len(outcome.requests) >= value, True),
    "input_tokens_total": lambda outcome, value: same(sum(map(input_of, outcome.requests)), value),
    "input_tokens": lambda outcome, value: same(sum(map(input_of, outcome.requests)), value),
    "total_tokens": lambda outcome, value: same(sum(map(everything, outcome.requests)), value),
    "reasoning_tokens": lambda outcome, value: same(outcome.tokens().get("reasoning", 0), value),
    "uncached_input_tokens": lambda outcome, value: same(outcome.tokens().get("input", 0), value),
    "service_tier": lambda outcome, value: same({row["service_tier"] for row in outcome.requests}, {value}),
    "pricing_mode": lambda outcome, value: same({row["is_batch"] for row in outcome.requests}, {value == "batch"}),
    "counts_toward_coverage_gap": check_gap,
    "must_not_show": lambda outcome, _value: same(outcome.shown_cost, None),
    "flag": check_flag,
    "reported_cost_usd": lambda outcome, value: same([row["cost_reported_usd"] for row in outcome.requests], [value]),
    "cost_usd_minimum": lambda outcome, value: same(outcome.cost is not None and outcome.cost >= Decimal(value), True),
    "resolved_model": lambda outcome, value: same({row["model_id"] for row in outcome.requests}, {value}),
    "models": lambda outcome, value: same(sorted({row["model"] for row in outcome.requests}), sorted(value)),
    "unmatched_models": check_unmatched,
    "client_side_errors": lambda outcome, _value: same(outcome.rejected, []),
    "feature": lambda outcome, value: same([row["feature"] for row in outcome.requests], [value]),
    "served_model": lambda outcome, value: same([row["model"] for row in outcome.requests], [value]),
    "requested_model": lambda outcome, value: same(
        [row["tags"]["requested_model"] for row in outcome.requests], [value]
    ),
    "failed_requests": lambda outcome, value: same(sum(row["status"] != "ok" for row in outcome.requests), value),
    "tokens_billed": lambda outcome, value: same(
        sum(everything(row) for row in outcome.requests if row["cost_state"] != "not_billed"), value
    ),
    "tokens_served_from_cache": lambda outcome, value: same(
        sum(everything(row) for row in outcome.requests if row["cost_state"] == "not_billed"), value
    ),
    "by_session": check_sessions,
    "by_origin": check_origins,
    "by_model": check_models_of_parts,
    "quarantined_lines": check_lines,
    "same_data_in_UTC": check_days,
    "by_day_utc": check_days,
    "priced": check_priced,
    "unknown_or_flagged": check_unknown,
    "flagged": check_flagged,
    "stored_text_has_no_nul": check_no_nul,
}
