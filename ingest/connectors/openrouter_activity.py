"""Pulls OpenRouter's activity, `GET /api/v1/activity`: usage and cost by whole UTC day, of which it keeps thirty."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from app.core.errors import InputError
from ingest.connectors.answers import SECOND_US, decoder, line_of
from ingest.connectors.connector import DAY_US, Batch, Connector, Errand, Option
from ingest.connectors.polite import PoliteClient, bearer, host_of
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST: Final = "https://openrouter.ai"
PATH: Final = "/api/v1/activity"
KEPT_DAYS: Final = 30
OVERLAP_US: Final = 2 * DAY_US


class Position(msgspec.Struct, frozen=True):
    """Days that ended before `through_us` have been read."""

    through_us: int


class _Day(msgspec.Struct):
    data: list[msgspec.Raw]


def pull(errand: Errand) -> Iterator[Batch]:
    """The rows of each whole day, a day at a time.

    Raises:
        UsageError: the secret cannot be read. ForbiddenError: the host is not allowed or the key is refused.
        InputError: another layout; or days went by unread that the server gives no more (the others were read).
        UnavailableError: the server cannot be reached or stays busy.
    """
    held = None if errand.held is None else msgspec.convert(errand.held, Position)
    today = errand.now_us - errand.now_us % DAY_US
    oldest = today - KEPT_DAYS * DAY_US
    begin = errand.since_us if held is None else held.through_us - OVERLAP_US
    day = max(oldest, begin - begin % DAY_US)
    through = day if held is None else held.through_us
    url = str(errand.options.get("url", HOST))
    headers = bearer(read_secret(str(errand.options["key"])))
    with PoliteClient(url, headers, errand.guard, errand.patience) as client:
        while day < today:
            date = _date(day)
            rows = client.get(PATH, {"date": date}, decoder(_Day, PATH)).data
            through = max(through, day + DAY_US)
            lines = [line_of(bytes(row)) for row in rows]
            yield Batch({"through_us": through}, lines, fresh_us=through, complete_us=through - DAY_US)
            day += DAY_US
    if held is not None and held.through_us < oldest:
        raise InputError(
            f"OpenRouter gives {KEPT_DAYS} days. What was used from {_date(held.through_us)} until {_date(oldest)} was "
            "not read while it was given, and is in no sum here. Everything after that is."
        )


def _date(us: int) -> str:
    return f"{datetime.fromtimestamp(us // SECOND_US, UTC):%Y-%m-%d}"


CONNECTOR: Final = Connector(
    name="openrouter-activity",
    reads="Usage and cost of an OpenRouter account by day, model and provider: the bill, no requests.",
    options=(
        Option("key", "a management key", required=True, secret=True),
        Option("url", f"address of the API, {HOST}"),
    ),
    pull=pull,
    check=lambda options: host_of(str(options.get("url", HOST))),
    hosts=lambda options: [host_of(str(options.get("url", HOST)))],
    every="6h",
)
