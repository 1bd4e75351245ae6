"""What the servers of sources answer, by protocol, over a table of rows that a test fills."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.connectors import fake_litellm

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.connectors.fake_server import Asked

ORGANIZATION = "0f3c2d1e-5b6a-4c7d-8e9f-a0b1c2d3e4f5"
PUBLIC, SECRET = "pk-lf-0123456789", "sk-lf-9876543210"
KEY = fake_litellm.TOKEN
DAY = timedelta(days=1)


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _refused() -> tuple[int, Any]:
    return 401, {"error": "who are you"}


@dataclass(slots=True)
class Table:
    """The rows of a fake source: (moment, name) of each, in any order."""

    rows: list[tuple[datetime, str]] = field(default_factory=list)

    def add(self, moment: datetime, name: str) -> None:
        self.rows.append((moment.replace(microsecond=moment.microsecond // 1000 * 1000), name))

    def names(self) -> set[str]:
        return {name for _, name in self.rows}


@dataclass(frozen=True, slots=True)
class Protocol:
    """How one kind of source speaks, and what a test needs to drive it.

    Attributes:
        kind: the connector's name.
        speak: answers over a table.
        names: the names of the rows in a line that was handed over.
        options: besides the address.
        reports: in how many reports each row stands.
        requests: whether its rows are requests, which the warehouse keeps one by one; else they are days of a bill.
    """

    kind: str
    speak: Callable[[Table, Asked], tuple[int, Any]]
    names: Callable[[Any], list[str]]
    options: dict[str, str]
    reports: int = 1
    requests: bool = True


def litellm(table: Table, asked: Asked) -> tuple[int, Any]:
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return _refused()
    rows = [fake_litellm.row(0, moment, request_id=name) for moment, name in table.rows]
    return fake_litellm.Fake(rows).page({name: values[0] for name, values in asked.query.items()})


def langfuse(table: Table, asked: Asked) -> tuple[int, Any]:
    expected = b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()
    if asked.headers.get("authorization") != f"Basic {expected}":
        return _refused()
    if asked.path != "/api/public/v2/observations":
        return 404, {"message": "Not found"}
    limit = int(asked.one("limit", "50"))
    if limit > 1000:
        return 400, {"message": "Invalid request data"}
    start, end = datetime.fromisoformat(asked.one("fromStartTime")), datetime.fromisoformat(asked.one("toStartTime"))
    found = sorted(((moment, name) for moment, name in table.rows if start <= moment < end), reverse=True)
    if cursor := asked.one("cursor"):
        try:
            last = json.loads(b64decode(cursor))
        except ValueError:
            return 400, {"message": "Invalid cursor format"}
        found = [row for row in found if row < (datetime.fromisoformat(last["lastStartTimeTo"]), last["lastId"])]
    page, groups = found[:limit], asked.one("fields", "core,basic").split(",")
    meta = {}
    if len(found) > limit:
        moment, name = page[-1]
        meta["cursor"] = b64encode(
            json.dumps({"lastStartTimeTo": moment.isoformat(), "lastTraceId": name, "lastId": name}).encode()
        ).decode()
    return 200, {"data": [_observation(moment, name, groups) for moment, name in page], "meta": meta}


def _observation(moment: datetime, name: str, groups: list[str]) -> dict[str, Any]:
    row = {
        "id": name,
        "traceId": f"trace-{int(moment.timestamp()) // 60 % 7}",
        "startTime": _iso(moment),
        "endTime": _iso(moment + timedelta(seconds=2)),
        "projectId": "project",
        "parentObservationId": None,
        "type": "GENERATION",
    }
    if "basic" in groups:
        row |= {"name": "answer", "level": "DEFAULT", "environment": "production"}
    if "model" in groups:
        row |= {"model": "gpt-4.1", "modelParameters": {"temperature": 0}}
    if "usage" in groups:
        row |= {"usageDetails": {"input": 100, "output": 10, "total": 110}, "totalCost": 0.00028}
    if "io" in groups:
        row |= {"input": '[{"role":"user","content":"hello"}]', "output": "hello"}
    return row


def helicone(table: Table, asked: Asked) -> tuple[int, Any]:
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return _refused()
    if (asked.method, asked.path) != ("POST", "/v1/request/query-clickhouse"):
        return 404, {"error": "Not found"}
    query = asked.document
    keeps = _filter(query["filter"])
    found = sorted(
        (row for row in table.rows if keeps(row[0])),
        key=lambda row: row[0],
        reverse=query["sort"]["created_at"] != "asc",
    )
    page = found[query["offset"] : query["offset"] + query["limit"]]
    return 200, {"data": [_helicone_row(moment, name) for moment, name in page], "error": None}


def _filter(tree: Any) -> Callable[[datetime], bool]:
    if "operator" in tree:
        assert tree["operator"] == "and"
        left, right = _filter(tree["left"]), _filter(tree["right"])
        return lambda moment: left(moment) and right(moment)
    ((how, text),) = tree["request_response_rmt"]["request_created_at"].items()
    bound = datetime.fromisoformat(text)
    return {"gte": bound.__le__, "gt": bound.__lt__, "lte": bound.__ge__, "lt": bound.__gt__}[how]


def _helicone_row(moment: datetime, name: str) -> dict[str, Any]:
    return {
        "request_id": name,
        "request_created_at": _iso(moment),
        "response_created_at": _iso(moment + timedelta(seconds=2)),
        "response_id": f"re-{name}",
        "response_status": 200,
        "request_path": "https://oai.helicone.ai/v1/chat/completions",
        "request_model": "gpt-4.1",
        "response_model": "gpt-4.1",
        "model": "gpt-4.1",
        "provider": "OPENAI",
        "delay_ms": 2000,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_cache_read_tokens": 0,
        "prompt_cache_write_tokens": 0,
        "properties": {},
        "request_body": None,
        "response_body": None,
    }


def _days(table: Table, start: datetime) -> list[tuple[datetime, list[str]]]:
    """The names of each day from `start` to the last day of the table."""
    last = max((moment for moment, _ in table.rows), default=start)
    count = max(0, (last.date() - start.date()).days + 1)
    days = [start + DAY * n for n in range(count)]
    return [(day, [name for moment, name in table.rows if moment.date() == day.date()]) for day in days]


def _bucket_pages(days: list[Any], limit: int, page: str) -> tuple[list[Any], str | None]:
    at = int(page.removeprefix("page_")) if page else 0
    following = f"page_{at + limit}" if at + limit < len(days) else None
    return days[at : at + limit], following


def openai_bills(table: Table, asked: Asked) -> tuple[int, Any]:
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return _refused()
    costs = asked.path == "/v1/organization/costs"
    if not costs and not asked.path.startswith("/v1/organization/usage/"):
        return 404, {"error": {"message": "Unknown path"}}
    if asked.path.endswith("/web_search_calls"):
        return 404, {"error": {"message": "Unknown path"}}
    limit = min(int(asked.one("limit", "7")), 3)  # so that a few weeks are several pages
    days = _days(table, datetime.fromtimestamp(int(asked.one("start_time")), UTC))
    chosen, following = _bucket_pages(days, limit, asked.one("page"))
    kinds = {"/v1/organization/costs": _openai_cost, "/v1/organization/usage/completions": _openai_usage}
    result = kinds.get(asked.path)
    data = [
        {
            "object": "bucket",
            "start_time": int(day.timestamp()),
            "end_time": int((day + DAY).timestamp()),
            "results": [result(name) for name in names] if result else [],
        }
        for day, names in chosen
    ]
    return 200, {"object": "page", "data": data, "has_more": following is not None, "next_page": following}


def _openai_usage(name: str) -> dict[str, Any]:
    return {
        "object": "organization.usage.completions.result",
        "input_tokens": 1000,
        "input_cached_tokens": 400,
        "output_tokens": 50,
        "num_model_requests": 5,
        "project_id": name,
        "user_id": None,
        "api_key_id": None,
        "model": "gpt-4.1-2025-04-14",
        "batch": False,
        "service_tier": "default",
    }


def _openai_cost(name: str) -> dict[str, Any]:
    return {
        "object": "organization.costs.result",
        "amount": {"value": 0.25, "currency": "usd"},
        "line_item": "gpt-4.1-2025-04-14, input",
        "project_id": name,
    }


def anthropic_bills(table: Table, asked: Asked) -> tuple[int, Any]:
    if asked.headers.get("x-api-key") != KEY or "anthropic-version" not in asked.headers:
        return _refused()
    if asked.path == "/v1/organizations/me":
        return 200, {"id": ORGANIZATION, "name": "Acme", "type": "organization"}
    results = {
        "/v1/organizations/usage_report/messages": _anthropic_usage,
        "/v1/organizations/cost_report": _anthropic_cost,
    }
    if asked.path not in results:
        return 404, {"type": "error"}
    days = _days(table, datetime.fromisoformat(asked.one("starting_at")))
    chosen, following = _bucket_pages(days, min(int(asked.one("limit", "7")), 3), asked.one("page"))
    data = [
        {
            "starting_at": _iso(day),
            "ending_at": _iso(day + DAY),
            "results": [results[asked.path](name) for name in names],
        }
        for day, names in chosen
    ]
    return 200, {"data": data, "has_more": following is not None, "next_page": following}


def _anthropic_usage(name: str) -> dict[str, Any]:
    return {
        "uncached_input_tokens": 1000,
        "cache_read_input_tokens": 400,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 50,
        "server_tool_use": {"web_search_requests": 0},
        "workspace_id": name,
        "api_key_id": None,
        "model": "claude-sonnet-4-5",
        "service_tier": "standard",
        "context_window": "0-200k",
        "inference_geo": "global",
    }


def _anthropic_cost(name: str) -> dict[str, Any]:
    return {
        "currency": "USD",
        "amount": "25.000000",
        "workspace_id": name,
        "description": "Claude Sonnet 4.5 Usage - Input Tokens",
        "cost_type": "tokens",
        "token_type": "uncached_input_tokens",
        "model": "claude-sonnet-4-5",
        "service_tier": "standard",
        "context_window": "0-200k",
        "inference_geo": "global",
    }


def openrouter(table: Table, asked: Asked) -> tuple[int, Any]:
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return _refused()
    if asked.path != "/api/v1/activity":
        return 404, {"error": {"code": 404}}
    day = datetime.strptime(asked.one("date"), "%Y-%m-%d").replace(tzinfo=UTC).date()
    rows = [
        {
            "date": f"{moment:%Y-%m-%d}",
            "model": "openai/gpt-4.1",
            "model_permaslug": "openai/gpt-4.1-2025-04-14",
            "endpoint_id": name,
            "provider_name": "OpenAI",
            "usage": 0.25,
            "byok_usage_inference": 0.0,
            "requests": 5,
            "prompt_tokens": 1000,
            "completion_tokens": 50,
            "reasoning_tokens": 0,
            "cached_tokens": 400,
        }
        for moment, name in table.rows
        if moment.date() == day
    ]
    return 200, {"data": rows}


def _inside_buckets(name: str) -> Callable[[Any], list[str]]:
    return lambda page: [result[name] for bucket in page["data"] for result in bucket["results"]]


def _observations(line: Any) -> list[str]:
    return [row["id"] for row in line.get("data", [line])]


PROTOCOLS = (
    Protocol("litellm", litellm, lambda row: [row["request_id"]], {"key": "env:FAKE_KEY", "limit": "40"}),
    Protocol(
        # Several pages a day, so that pulls stop inside a slice too.
        "langfuse",
        langfuse,
        _observations,
        {"key": "env:FAKE_PUBLIC", "secret": "env:FAKE_SECRET", "limit": "6"},
    ),
    Protocol("helicone", helicone, lambda row: [row["request_id"]], {"key": "env:FAKE_KEY", "limit": "40"}),
    Protocol("openai-bills", openai_bills, _inside_buckets("project_id"), {"key": "env:FAKE_KEY"}, 2, False),
    Protocol("anthropic-bills", anthropic_bills, _inside_buckets("workspace_id"), {"key": "env:FAKE_KEY"}, 2, False),
    Protocol("openrouter-activity", openrouter, lambda row: [row["endpoint_id"]], {"key": "env:FAKE_KEY"}, 1, False),
)
