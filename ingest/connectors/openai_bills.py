"""Pulls what OpenAI says was used and what it cost: `/v1/organization/usage/*` and `/v1/organization/costs`, by day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ingest.connectors.bill_reports import Report, pull_reports
from ingest.connectors.connector import Batch, Connector, Errand, Option
from ingest.connectors.polite import PoliteClient, bearer, host_of
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST: Final = "https://api.openai.com"
_USAGE: Final = "/v1/organization/usage"


def _usage(name: str, *groups: str, optional: bool = True) -> Report:
    grouped = ["project_id", *groups]
    return Report(f"{_USAGE}/{name}", {"bucket_width": "1d", "limit": 31, "group_by[]": grouped}, optional)


# Source of paths, limits and groups: openai-python 3.57, resources/admin/organization/usage.py.
REPORTS: Final = (
    _usage("completions", "model", "batch", "service_tier", optional=False),
    _usage("embeddings", "model"),
    _usage("moderations", "model"),
    _usage("images", "model", "size", "source"),
    _usage("audio_speeches", "model"),
    _usage("audio_transcriptions", "model"),
    _usage("vector_stores"),
    _usage("code_interpreter_sessions"),
    _usage("file_search_calls"),
    _usage("web_search_calls", "model", "context_level"),
    Report("/v1/organization/costs", {"bucket_width": "1d", "limit": 180, "group_by[]": ["project_id", "line_item"]}),
)


def pull(errand: Errand) -> Iterator[Batch]:
    """The pages of every report, one a batch. Raises as `pull_reports` does."""
    url = str(errand.options.get("url", HOST))
    headers = bearer(read_secret(str(errand.options["key"])))
    with PoliteClient(url, headers, errand.guard, errand.patience) as client:
        yield from pull_reports(errand, client, REPORTS, lambda us: {"start_time": us // 1_000_000})


CONNECTOR: Final = Connector(
    name="openai-bills",
    reads="Usage and costs of an OpenAI organisation by day, project, model and line item: the bill, no requests.",
    options=(
        Option("key", "an admin key of the organisation", required=True, secret=True),
        Option("url", f"address of the API, {HOST}"),
    ),
    pull=pull,
    check=lambda options: host_of(str(options.get("url", HOST))),
    hosts=lambda options: [host_of(str(options.get("url", HOST)))],
    every="6h",
)
