"""How Azure names things: the account that a resource belongs to, and its region."""

from __future__ import annotations

import re
from typing import Any, Final

from ingest.formats.fields import text

_RESOURCE: Final = re.compile(r"/(?:accounts|service|workspaces)/([^/]+)", re.IGNORECASE)


def entries(record: Any) -> list[Any]:
    """The entries of a record: those that Event Hubs puts under `records`, of a list, or the record itself."""
    inner = record.get("records") if type(record) is dict else record
    return inner if type(inner) is list else [record]


def account_of(resource_id: Any) -> str | None:
    """The name of the resource that a full id names, in lower case: Azure writes ids in any case."""
    whole = text(resource_id)
    if whole is None:
        return None
    found = _RESOURCE.search(whole)
    return (found.group(1) if found is not None else whole).lower()


def place_of(region: Any) -> str | None:
    """A region by its programmatic name: `West Europe` is `westeurope`."""
    name = text(region)
    return name.replace(" ", "").lower() if name is not None else None
