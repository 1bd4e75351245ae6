"""Mistral OCR: documents read by the page, with no tokens; annotated pages cost more, and the answer tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.fields import compact, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(("model", "document", "id", "include_image_base64"))


def read(exchange: Exchange, _warnings: list[str]) -> UsageEvent:
    """The event of an OCR call."""
    event = UsageEvent(provider="mistral", operation="ocr")
    request, response = exchange.request, exchange.response
    if request is not None:
        event.model = text(request.get("model"))
        document = request.get("document")
        event.prompt = [Part("user", "document", compact(document))] if document is not None else []
        event.params = params_of(request, _OWN_KEYS, [])
    if response is not None:
        event.model = text(response.get("model")) or event.model
        pages = number(table(response.get("usage_info")).get("pages_processed"))
        if pages is not None and pages >= 0:
            annotated = response.get("document_annotation") is not None
            event.units = {"annotated_page" if annotated else "page": pages}
        if response.get("error"):
            event.status, event.error = "error", error_text(response["error"])
    return event


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is a document read page by page."""
    return type(body.get("usage_info")) is dict and type(body.get("pages")) is list


LAYOUT: Final = Layout(
    name="mistral_ocr",
    title="Mistral OCR",
    convention="pages_processed are units without tokens.",
    read=read,
    owns=owns,
    places=("/v1/ocr",),
)
