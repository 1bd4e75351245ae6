"""Azure API Management's log of LLM calls (`ApiManagementGatewayLlmLog`), from Log Analytics or from a storage account.

A call with long messages is several rows, each with all of its counters: they are one call, known by its request id.
The table has no counter of cached or reasoning tokens, so its cost is an upper bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from app.core.usage import Part, Rejected, UsageEvent
from ingest.formats.azure_names import account_of, entries, place_of
from ingest.formats.fields import compact, count, decoded_text, integer, text
from ingest.formats.format import Format
from ingest.formats.prompts import message_parts
from ingest.formats.times import utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest.formats.format import Origin

MAX_OPEN: Final = 256
Place = TypeVar("Place")


def detect(record: Any) -> float:
    row = _row(next(iter(entries(record)), None))
    if row is None:
        return 0.0
    named = "gatewayllmlog" in "".join(str(row.get(name)).lower() for name in ("type", "category", "operationname"))
    return 1.0 if named else 0.9


def gather(records: Iterable[tuple[Place, Any]]) -> Iterator[tuple[Place, Any]]:
    """The rows of one call come as one list at the place of the first; at most `MAX_OPEN` calls are held back."""
    opened: dict[str, tuple[Place, list[Any]]] = {}
    for place, record in records:
        row = _row(record)
        name = text(row.get("requestid")) if row is not None else None
        if name is None:
            yield place, record
            continue
        opened.setdefault(name, (place, []))[1].append(record)
        if len(opened) > MAX_OPEN:
            yield opened.pop(next(iter(opened)))
    yield from opened.values()


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The calls of one row, or of several: those of one request are one call."""
    calls: dict[str | int, list[dict[str, Any]]] = {}
    for place, entry in enumerate(entries(record)):
        row = _row(entry)
        if row is None:
            yield Rejected("no row of ApiManagementGatewayLlmLog: no DeploymentName or ModelName with token counts")
        else:
            calls.setdefault(text(row.get("requestid")) or place, []).append(row)
    for rows in calls.values():
        yield _call(rows)


def _call(rows: list[dict[str, Any]]) -> UsageEvent:
    warnings: list[str] = []
    rows.sort(key=lambda row: integer(row.get("sequencenumber")) or 0)
    event = UsageEvent(provider="azure")
    _read_counters(rows, event, warnings)
    _read_call(rows[0], event, warnings)
    event.prompt = _messages(rows, "requestmessages")
    said = _messages(rows, "responsemessages")
    event.output = "".join(part.text for part in said) or None if said is not None else None
    event.warnings = warnings or None
    return event


def _row(record: Any) -> dict[str, Any] | None:
    """The columns of a row in lower case, those of a storage account's `properties` among them."""
    if type(record) is not dict:
        return None
    inner = record.get("properties")
    inner = decoded_text(inner) if type(inner) is str else inner
    row = {str(key).lower(): value for key, value in record.items() if key != "properties"}
    if type(inner) is dict:
        row |= {str(key).lower(): value for key, value in inner.items()}
    named = "deploymentname" in row or "modelname" in row
    return row if named and "prompttokens" in row and "completiontokens" in row else None


def _read_counters(rows: list[dict[str, Any]], event: UsageEvent, warnings: list[str]) -> None:
    """Every row repeats the counters of its call, or has none: the largest is the call's."""

    def most(name: str, field: str) -> int | None:
        known = [value for row in rows if (value := count(row.get(name), field, warnings)) is not None]
        return max(known, default=None)

    event.tok_input = most("prompttokens", "input")
    event.tok_output = most("completiontokens", "output")
    total = event.tok_total_reported = most("totaltokens", "total")
    if event.tok_input is not None:
        warnings.append("cache_not_logged")
        if total is not None and total != event.tok_input + (event.tok_output or 0):
            warnings.append("sum_mismatch")


def _read_call(row: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    event.source_record = text(row.get("requestid")) or text(row.get("correlationid"))
    event.trace_id = text(row.get("correlationid"))
    event.model = text(row.get("modelname")) or text(row.get("deploymentname"))
    deployment = text(row.get("deploymentname"))
    if deployment is not None:
        event.price_context = {"deployment": deployment}
    event.account = account_of(row.get("_resourceid", row.get("resourceid")))
    event.region = place_of(row.get("region", row.get("location")))
    event.start_us = utc_instant(row.get("timegenerated", row.get("time")), "TimeGenerated", warnings)
    streamed = row.get("isstreamcompletion")
    event.stream = streamed if type(streamed) is bool else None
    if event.model is not None and "embedding" in event.model:
        event.operation = "embedding"


def _messages(rows: list[dict[str, Any]], name: str) -> list[Part] | None:
    """The messages that the rows hold between them; None where no row keeps any.

    A long text of messages is cut anywhere: pieces that are no JSON by themselves are one text together.
    """
    given = [messages for row in rows if (messages := row.get(name))]
    texts = [messages for messages in given if type(messages) is str]
    if len(texts) == len(given) and any(decoded_text(piece) is None for piece in texts):
        given = ["".join(texts)] if texts else []
    parts: list[Part] = []
    for messages in given:
        said = decoded_text(messages) or messages if type(messages) is str else messages
        message_parts(said if type(said) in (list, str) else [compact(said)], parts, [])
    return parts if given else None


FORMAT: Final = Format(
    name="azure_apim_llm_log",
    title="Azure API Management LLM log",
    convention="PromptTokens holds cached tokens, CompletionTokens reasoning; rows of one RequestId repeat them.",
    billing="api",
    detect=detect,
    parse=parse,
    gather=gather,
)
