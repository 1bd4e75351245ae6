"""Answer with a smaller model. Without evidence from the team's own traffic it is a prior: grade D, not in the total.

Hard gates first, by request: context, answer length, tools, images, JSON schema; a capability that is not known is a
closed gate. Every priced model that passes and is at least 30 % cheaper on the template's own tokens (converted between
tokenizers) is listed. Proposed is the smallest step: the nearest smaller class of the same provider, because that is
the first one worth a shadow run. A model of the smallest class has no step below it; another provider is only listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.routing import Option, choose, weigh
from app.core.usage import INPUT_CLASSES, OUTPUT_CLASSES
from app.levers.lever import SCOPE, Candidate, Change, Draw, Lever, Scope, accepted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.warehouse.store import Session

MIN_SPEND_SHARE: Final = 0.005
MIN_CHEAPER: Final = 0.30
LISTED: Final = 12
_QUERY: Final = "levers_smaller_model.scopes"
_GATES: Final = ("context_window", "max_output", "tools", "vision", "json_schema")
_Row = dict[str, Any]


def detect(session: Session) -> list[Candidate]:
    """One candidate a scope with more than 0.5 % of spend and a smaller model of the same provider."""
    session.execute("levers_smaller_model.needs")
    options: dict[tuple[str, str], list[_Row]] = {}
    for row in session.frame("levers_smaller_model.options").iter_rows(named=True):
        options.setdefault((row["provider"], row["model_id"]), []).append(row)
    scopes: dict[tuple[Any, ...], list[_Row]] = {}
    for row in session.frame(_QUERY).iter_rows(named=True):
        scopes.setdefault(tuple(row[name] for name in SCOPE), []).append(row)
    found = []
    for key, kinds in scopes.items():
        spend = sum(kind["cost_pusd"] for kind in kinds)
        if spend <= MIN_SPEND_SHARE * kinds[0]["stream_pusd"]:
            continue
        priced = [weigh(kinds, row) for row in options.get((key[2], key[3]), [])]
        passing = [option for option in priced if option.requests and option.cheaper >= MIN_CHEAPER]
        chosen = choose(passing)
        if chosen is not None:
            found.append(_candidate(session, Scope(*key), kinds, chosen, passing))
    return found


def _candidate(
    session: Session, scope: Scope, kinds: Sequence[_Row], chosen: Option, passing: Sequence[Option]
) -> Candidate:
    row = chosen.row
    everything = sum(kind["requests"] for kind in kinds)
    gate_values = {name: row[name] for name in _GATES} | {"token_ratio": row["token_ratio"]}
    examples = session.rows(
        "levers_smaller_model.examples",
        feature=scope.feature,
        template=scope.template,
        provider=scope.provider,
        model_id=scope.model_id,
        relations=None,
        **{name: bool(value) if name in _GATES[2:] else value for name, value in gate_values.items()},
    )
    listed = sorted(passing, key=lambda option: option.then_pusd / max(option.now_pusd, 1.0))
    params = {
        "to_provider": row["to_provider"],
        "to_model_id": row["to_model_id"],
        **gate_values,
        "passing_requests": chosen.requests,
        "not_routable": list(chosen.refused),
        "options": [
            {
                "provider": option.row["to_provider"],
                "model_id": option.row["to_model_id"],
                "cheaper": round(option.cheaper, 4),
                "requests": option.requests,
                "token_ratio": option.row["token_ratio"],
            }
            for option in listed[:LISTED]
        ],
    }
    said = [
        f"{row['to_model_id']} is the nearest smaller model of {row['to_provider']} that passes the gates; "
        f"{len(passing)} priced models pass and are at least 30 % cheaper here.",
        f"The same text is counted as {row['token_ratio']:.3g} times the tokens (tokenizer {row['to_tokenizer']}), and "
        "answers are assumed to be as long as now.",
        "Requests are told apart by feature and template, so nothing has to be paid for a classifier.",
        "Nothing here says that its answers are good enough: run a shadow sample of this traffic first.",
    ]
    if chosen.requests < everything:
        refused = ", ".join(chosen.refused)
        said.append(f"{everything - chosen.requests:,} of {everything:,} requests stay where they are: {refused}.")
    if not all(kind["known_parts"] for kind in kinds):
        said.append("The log keeps no prompt parts, so tools and images in these requests could not be checked.")
    return Candidate(
        "smaller_model", scope, "D", chosen.requests, params, tuple(said), tuple(key for (key,) in examples), _QUERY
    )


def touch(session: Session, candidates: Sequence[Candidate]) -> None:
    """Marks the requests that pass the gates of their candidate's model."""
    session.register("smaller_model_accepted", accepted(candidates, _gates))
    session.execute("levers_smaller_model.touch")


def _gates(item: Candidate) -> dict[str, Any]:
    gates = {name: bool(item.params[name]) if name in _GATES[2:] else item.params[name] for name in _GATES}
    return gates | {"token_ratio": float(item.params["token_ratio"])}


def transform(cells: pl.LazyFrame, candidates: Sequence[Candidate], draw: Draw) -> pl.LazyFrame:
    """The same text on the other model: its rates, its tokens. How much it answers is what a draw varies."""
    target = pl.DataFrame(
        {
            "at_smaller_model": range(len(candidates)),
            "sm_provider": [item.params["to_provider"] for item in candidates],
            "sm_model_id": [item.params["to_model_id"] for item in candidates],
            "sm_ratio": [float(item.params["token_ratio"]) for item in candidates],
        },
        schema_overrides={"at_smaller_model": pl.Int64, "sm_ratio": pl.Float64},
    ).lazy()
    joined = cells.join(target, on="at_smaller_model", how="left", maintain_order="left")
    moved, ratio = pl.col("sm_ratio").is_not_null(), pl.col("sm_ratio").fill_null(1.0)
    return joined.with_columns(
        pl.coalesce("sm_provider", "provider").alias("provider"),
        pl.coalesce("sm_model_id", "model_id").alias("model_id"),
        *(pl.col(name) * ratio for name in INPUT_CLASSES),
        *(pl.when(moved).then(pl.col(name) * ratio * draw.token_ratio).otherwise(name) for name in OUTPUT_CLASSES),
    ).drop("sm_provider", "sm_model_id", "sm_ratio")


def describe(candidate: Candidate) -> Change:
    params, scope = candidate.params, candidate.scope
    return Change(
        f"Try {params['to_model_id']} for {scope.feature} instead of {scope.model_id}",
        (
            f"Draw a few hundred of these requests and answer them with {params['to_model_id']} as well (as a batch: "
            "half the price, nobody waits).",
            "Let a checker or a judge compare the answers, both orders; keep the larger model where it loses.",
            f"If the loss is within what {scope.feature} can bear, send the requests that pass the gates to "
            f"{params['to_model_id']}, by template, not by guess from the last message.",
        ),
        "Cost per request of this feature on the new model, and its share of repeated or corrected answers.",
    )


def data(session: Session) -> Mapping[str, Any]:
    """What a saving on models would need before it may count."""
    rows = session.rows("levers_smaller_model.coverage")
    requests, no_option = rows[0]
    if not requests:
        return {
            "state": "not enough data",
            "why": "No priced request with token counts.",
            "do": "Log usage (prompt and answer tokens) with each request and name its model.",
        }
    return {
        "state": "prior only",
        "requests": requests,
        "requests_without_known_model": no_option,
        "why": "Logs say what another model would cost, not whether its answers are good enough.",
        "do": "Run a shadow sample on your own traffic; published shares of other data sets do not transfer.",
    }


LEVER: Final = Lever(
    name="smaller_model",
    title="Smaller model",
    stage=50,
    effort="high",
    risk="quality",
    reversible=True,
    detect=detect,
    touch=touch,
    transform=transform,
    describe=describe,
    data=data,
)
