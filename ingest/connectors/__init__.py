"""How bytes are obtained: the kinds of sources, one file each, in the explicit tuple `CONNECTORS`.

Beside them stand files and folders that a command names (`files.py`), and the manners that all kinds share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.errors import UsageError
from ingest.connectors import (
    anthropic_bills,
    azure_blobs,
    folder,
    gcs,
    helicone,
    langfuse,
    litellm,
    litellm_postgres,
    openai_bills,
    openrouter_activity,
    s3,
)

if TYPE_CHECKING:
    from ingest.connectors.connector import Connector

CONNECTORS: Final[tuple[Connector, ...]] = (
    folder.CONNECTOR,
    litellm.CONNECTOR,
    litellm_postgres.CONNECTOR,
    langfuse.CONNECTOR,
    helicone.CONNECTOR,
    s3.CONNECTOR,
    gcs.CONNECTOR,
    azure_blobs.CONNECTOR,
    openai_bills.CONNECTOR,
    anthropic_bills.CONNECTOR,
    openrouter_activity.CONNECTOR,
)


def connector_named(kind: str) -> Connector:
    """The connector of that kind.

    Raises:
        UsageError: there is none; the message lists them.
    """
    for candidate in CONNECTORS:
        if candidate.name == kind:
            return candidate
    known = ", ".join(candidate.name for candidate in CONNECTORS)
    raise UsageError(f"There is no kind of source named {kind!r}. Halve pulls from: {known}.")
