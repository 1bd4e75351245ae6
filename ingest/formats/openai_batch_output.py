"""Output and error files of OpenAI-compatible batch jobs: one line a request, in any order, matched by `custom_id`.

A job of OpenRouter holds such lines itself, in its `results`.

Rows that expired or were refused were not charged; the discount of a batch is the price book's affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.batch_lines import complete, read_exchange, unanswered
from ingest.formats.fields import integer, table
from ingest.formats.format import Format
from ingest.formats.openai_chat import error_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_UNCHARGED: Final = ("batch_expired", "batch_cancelled")


def detect(record: Any) -> float:
    if type(record) is not dict:
        return 0.0
    if "custom_id" not in record or "response" not in record:
        return 1.0 if _results(record) else 0.0
    answer = table(record["response"])
    return 1.0 if "error" in record or "id" in record or ("body" in answer and "status_code" in answer) else 0.6


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The request of one line, or those of a job that holds its results."""
    for line in _results(record) or (record,):
        yield from _line(line)


def _results(record: Any) -> list[Any]:
    """The result lines that a job's object holds."""
    results = record.get("results") if type(record) is dict and "custom_id" not in record else None
    if type(results) is not list or not results:
        return []
    first = results[0]
    return results if type(first) is dict and "custom_id" in first and ("response" in first or "error" in first) else []


def _line(record: Any) -> Iterator[UsageEvent | Rejected]:
    if type(record) is not dict or "custom_id" not in record:
        yield Rejected("no line of a batch output: it has no custom_id")
        return
    response = table(record.get("response"))
    body = response.get("body")
    http = integer(response.get("status_code"))
    answered = type(body) is dict and http is not None and http < 400
    item = read_exchange(record, body) if answered else unanswered(record)
    if type(item) is UsageEvent:
        item.http_status = http
        complete(item, record)
        if not answered:
            _refuse(item, record.get("error"), body)
    yield item


def _refuse(event: UsageEvent, error: Any, body: Any) -> None:
    given = error or table(body).get("error", body)
    event.status = "error"
    event.error = error_text(given) if given else None
    code = error.get("code") if type(error) is dict else None
    refused = event.http_status is not None and 400 <= event.http_status < 500
    event.not_billed = refused or code in _UNCHARGED


FORMAT: Final = Format(
    name="openai_batch_output",
    title="OpenAI batch output and error files",
    convention="As the endpoint's own response: Chat, Responses, completions or embeddings.",
    billing="api",
    detect=detect,
    parse=parse,
)
