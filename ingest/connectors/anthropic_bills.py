"""Pulls Anthropic's usage and cost reports by day: `/v1/organizations/usage_report/messages` and `/cost_report`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from ingest.connectors.answers import decoder, rfc3339
from ingest.connectors.bill_reports import Report, pull_reports
from ingest.connectors.connector import Batch, Connector, Errand, Option
from ingest.connectors.polite import PoliteClient, RefusedError, RefusedKeyError, host_of
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

HOST: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"
ME: Final = "/v1/organizations/me"
# A key without the right to this one question (permission_error), a server between that does not have it. Not 401: that
# is the key itself (authentication_error). Source: "Errors" of the API reference.
UNSAID: Final = frozenset((403, 404, 405))

# Source: the Admin API reference, "Get Messages Usage Report" and "Get Cost Report".
REPORTS: Final = (
    Report(
        "/v1/organizations/usage_report/messages",
        {
            "bucket_width": "1d",
            "limit": 31,
            "group_by[]": ["workspace_id", "model", "service_tier", "context_window", "inference_geo"],
        },
    ),
    Report("/v1/organizations/cost_report", {"limit": 31, "group_by[]": ["workspace_id", "description"]}),
)


class _Organization(msgspec.Struct):
    id: Annotated[str, msgspec.Meta(min_length=1)]


def pull(errand: Errand) -> Iterator[Batch]:
    """The pages of both reports, one a batch, each with the organisation that it is of: a default workspace has no name
    in the reports, so that those of two organisations would look like one. Raises as `pull_reports` does.
    """
    url = str(errand.options.get("url", HOST))
    headers = {"x-api-key": read_secret(str(errand.options["key"])), "anthropic-version": VERSION}
    with PoliteClient(url, headers, errand.guard, errand.patience) as client:
        payer = _organization(client)
        yield from pull_reports(errand, client, REPORTS, lambda us: {"starting_at": rfc3339(us)}, payer)


def _organization(client: PoliteClient) -> str | None:
    """Whose key it is (source: the Admin API reference, "Get Current Organization"); None where only that is not said.

    Raises:
        ForbiddenError, UnavailableError, InputError: as the client does; the reports would meet the same trouble.
    """
    try:
        return client.get(ME, {}, decoder(_Organization, ME)).id
    except (RefusedError, RefusedKeyError) as error:
        if error.status not in UNSAID:
            raise
        log.warning(
            "%s does not say whose key it is (status %d for %s): the bill is read without the name of its organisation",
            client.base_url,
            error.status,
            ME,
        )
        return None


CONNECTOR: Final = Connector(
    name="anthropic-bills",
    reads="Usage and costs of an Anthropic organisation by day, workspace, model and tier: the bill, no requests.",
    options=(
        Option("key", "an Admin API key of the organisation", required=True, secret=True),
        Option("url", f"address of the API, {HOST}"),
    ),
    pull=pull,
    check=lambda options: host_of(str(options.get("url", HOST))),
    hosts=lambda options: [host_of(str(options.get("url", HOST)))],
    every="6h",
)
