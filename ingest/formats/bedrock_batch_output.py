"""Output lines of Bedrock batch jobs: `{recordId, modelInput, modelOutput}` or an error in place of the output.

The lines do not name the model of the job; bodies that name none stay unpriced until the caller says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.batch_lines import complete
from ingest.formats.bedrock_invocation_log import body_event
from ingest.formats.fields import integer, table, text
from ingest.formats.format import Format
from ingest.formats.openai_chat import error_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin


def detect(record: Any) -> float:
    if type(record) is not dict or "recordId" not in record:
        return 0.0
    return 1.0 if "modelOutput" in record or ("modelInput" in record and "error" in record) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The request of one line."""
    row = text(record.get("recordId")) if type(record) is dict else None
    if row is None or not record.keys() & {"modelOutput", "error"}:
        yield Rejected("no line of a Bedrock batch output: it has no recordId with modelOutput or error")
        return
    item = body_event(record.get("modelInput"), record.get("modelOutput"))
    if type(item) is Rejected and "modelOutput" not in record:
        item = UsageEvent()
    if type(item) is UsageEvent:
        item.provider, item.stream = "aws", None
        item.model = text(record.get("modelId")) or item.model
        complete(item, record, row)
        failure = table(record.get("error"))
        if failure:
            item.status, item.not_billed = "error", True
            item.http_status = integer(failure.get("errorCode"))
            item.error = error_text({"code": failure.get("errorCode"), "message": failure.get("errorMessage")})
    yield item


FORMAT: Final = Format(
    name="bedrock_batch_output",
    title="Bedrock batch output",
    convention="As the model's own response body.",
    billing="api",
    detect=detect,
    parse=parse,
)
