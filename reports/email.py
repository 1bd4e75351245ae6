"""A report as an e-mail: text, HTML with its pictures, and exact tables as CSV.

`multipart/mixed(alternative(text, related(html, png)), csv …)`. The HTML is small (mail programs cut it at about 100
KB), laid out with tables, its styles written into the elements, and it reads without its pictures.
"""

from __future__ import annotations

from base64 import b64encode
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import css_inline
import jinja2

from app.web.render import STATIC, finalize, visible
from app.web.table import csv_text
from reports import plain
from reports.picture import png
from reports.weeks import moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.charts.chart import Chart
    from reports.document import Document

MAX_HTML_BYTES: Final = 100_000
STYLESHEET: Final = STATIC / "mail.css"

_TEMPLATES: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    auto_reload=False,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=finalize,
)


def message(
    document: Document,
    *,
    sender: str,
    to: str,
    message_id: str,
    origin: str,
    now_us: int,
    made: bool = False,
    drawn: Mapping[str, bytes] | None = None,
) -> EmailMessage:
    """The mail of a document to one address.

    `message_id` is the same in every try, so that a receiver who gets a mail twice can drop one. `origin` is where the
    dashboard answers; every link carries the exact view behind its figure. `made` says that the data is fictional.
    `drawn` are the pictures where they are drawn already, for many recipients.
    """
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = ("[made data] " if made else "") + _one_line(document.subject)
    mail["From"] = sender
    mail["To"] = to
    mail["Date"] = format_datetime(moment(now_us))
    mail["Message-ID"] = message_id
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    mail.set_content(plain.text(document, origin), cte="quoted-printable")
    pictures = drawn_charts(document) if drawn is None else drawn
    addresses = {name: f"cid:{name}@halve" for name in pictures}
    mail.add_alternative(html(document, origin=origin, pictures=addresses, made=made), subtype="html")
    body = mail.get_payload()[1]  # type: ignore[index]
    for name, picture in pictures.items():
        body.add_related(  # type: ignore[union-attr]
            picture, "image", "png", cid=f"<{name}@halve>", filename=f"{name}.png", disposition="inline"
        )
    for table in document.files:
        mail.add_attachment(
            csv_text(table).encode("utf-8-sig"),
            maintype="text",
            subtype="csv",
            filename=f"{document.report}-{document.period}-{table.name}.csv",
            params={"charset": "utf-8"},
        )
    return mail


def charts(document: Document) -> dict[str, Chart]:
    """The charts of a document by name."""
    return {chart.name: chart for section in document.sections for chart in section.charts}


def drawn_charts(document: Document) -> dict[str, bytes]:
    """The charts of a document as PNG, by name."""
    return {name: png(chart) for name, chart in charts(document).items()}


def data_address(chart: Chart) -> str:
    """The picture of a chart as an address that holds it, for HTML that stands alone."""
    return f"data:image/png;base64,{b64encode(png(chart)).decode()}"


def html(document: Document, *, origin: str, pictures: Mapping[str, str], made: bool = False) -> str:
    """The HTML part with its styles inlined; `pictures` gives the address of each chart, left out where it is empty."""
    raw = _render(document, origin=origin, pictures=pictures, made=made, stylesheet="", whole_window=False)
    inliner = css_inline.CSSInliner(
        extra_css=STYLESHEET.read_text(encoding="utf-8"),
        load_remote_stylesheets=False,
        keep_at_rules=True,
        minify_css=True,
    )
    return inliner.inline(raw)


def preview(document: Document, *, stylesheet: str, pictures: Mapping[str, str], made: bool = False) -> str:
    """The same HTML for a frame of the dashboard, styled by a file: the dashboard's policy allows no inline style."""
    return _render(document, origin="", pictures=pictures, made=made, stylesheet=stylesheet, whole_window=True)


def _render(document: Document, **values: object) -> str:
    return _TEMPLATES.get_template("report.html").render(document=document, **values)


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())
