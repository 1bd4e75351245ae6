"""Turns a content into bytes: the whole page, or one of its twins (CSV, JSON, a chart's specification)."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from app.core.errors import NotFoundError
from app.web import table as tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request

    from app.charts.chart import Chart
    from app.charts.theme import Mode
    from app.web.page import Content, Context, Page
    from app.web.table import Table

HERE = Path(__file__).parent
STATIC = HERE / "static"
THEMES = ("auto", "light", "dark")
THEME_COOKIE = "halve_theme"


@dataclass(frozen=True, slots=True)
class Twins:
    """Where the same figures stand for machines."""

    csv: str
    json: str


def environment() -> jinja2.Environment:
    """Templates escape everything, and a name that is missing is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        auto_reload=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    made.filters["coded"] = coded
    made.filters["whole"] = whole
    made.globals["static"] = static_urls()
    made.globals["vendor"] = vendor_urls()
    return made


# Characters that are not seen but change how the text around them reads: controls and bidirectional overrides.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text of a log with what would disguise it made visible."""
    return _UNSEEN.sub("\ufffd", text)


def finalize(value: object) -> object:
    """What Jinja writes for a value: text made visible; escaping comes after."""
    return visible(value) if type(value) is str else value


def coded(text: str) -> Markup:
    """Text with what stands between backticks as code; an odd backtick stays what it is."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        return escape(visible(text))
    marked = (Markup("<code>{}</code>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts))
    return Markup("").join(marked)


LONGEST_WHOLE = 28
# A name with hyphens, such as that of a model, or an interval: browsers break lines at each dash. And a name that fills
# a column.
_NAME = re.compile(rf"(\S*\w[-–][\w$]\S*|\S{{{LONGEST_WHOLE + 1},}})")
_JOINT = re.compile(r"(?<=[/._:@-])(?=\w)")


def whole(text: str) -> Markup:
    """Text whose names with hyphens stay on one line; one too long for a column breaks at its joints."""
    parts = _NAME.split(visible(text))
    if len(parts) == 1:
        return escape(parts[0])
    marked = (_name(part) if place % 2 else escape(part) for place, part in enumerate(parts))
    return Markup("<span>{}</span>").format(Markup("").join(marked))


def _name(text: str) -> Markup:
    if len(text) <= LONGEST_WHOLE:
        return Markup('<span class="whole">{}</span>').format(text)
    pieces = _JOINT.split(text)
    broken = Markup("<wbr>").join(escape(piece) for piece in pieces)
    return Markup('<span class="long">{}</span>').format(broken) if max(map(len, pieces)) > LONGEST_WHOLE else broken


def static_urls() -> dict[str, str]:
    """Our own static files by name, at addresses that change with their content."""
    return {
        path.name: f"/static/{path.name}?v={sha256(path.read_bytes()).hexdigest()[:10]}"
        for path in sorted(STATIC.iterdir())
        if path.is_file()
    }


def vendor_urls() -> dict[str, str]:
    """The browser libraries by name; a missing one is left out, and pages work without."""
    folder = STATIC / "vendor"
    found = {}
    for path in sorted(folder.glob("*.min.js")) if folder.is_dir() else []:
        name = path.name.removesuffix(".min.js").rpartition("-")[0]
        found[name] = f"/static/vendor/{path.name}"
    return found


def theme_of(request: Request) -> str:
    """The reader's choice of colours, `auto` unless a cookie says otherwise."""
    chosen = request.cookies.get(THEME_COOKIE, "auto")
    return chosen if chosen in THEMES else "auto"


def page_response(
    templates: jinja2.Environment, request: Request, page: Page, context: Context, content: Content, frame: object
) -> Response:
    """The full page."""
    values: dict[str, Any] = {
        "page": page,
        "title": content.title,
        "model": content.model,
        "empty": content.empty,
        "tables": {table.name: table for table in content.tables},
        "charts": {chart.name: chart for chart in content.charts},
        "twins": _twins(page, context, content.tables),
        "chart_urls": _chart_urls(page, context, content.charts),
        "frame": frame,
        "theme": theme_of(request),
    }
    html = templates.get_template(page.template).render(values)
    return HTMLResponse(html)


def shell_response(
    templates: jinja2.Environment, request: Request, template: str, status: int = 200, **values: Any
) -> Response:
    """A page outside the navigation: the way in, an error."""
    html = templates.get_template(template).render(theme=theme_of(request), **values)
    return HTMLResponse(html, status)


def _base(page: Page, context: Context) -> str:
    return page.twin.format_map(dict(context.path))


def _twins(page: Page, context: Context, of: tuple[Table, ...]) -> dict[str, Twins]:
    base = _base(page, context)
    found = {}
    for place, table in enumerate(of):
        keys = dict(context.keys) | ({"table": table.name} if place else {})
        found[table.name] = Twins(context.url(f"{base}.csv", keys=keys), context.url(f"{base}.json", keys=keys))
    return found


def _chart_urls(page: Page, context: Context, of: tuple[Chart, ...]) -> dict[str, str]:
    base = _base(page, context)
    return {
        chart.name: context.url(f"{base}.vl.json", keys=dict(context.keys) | ({"chart": chart.name} if place else {}))
        for place, chart in enumerate(of)
    }


def csv_response(content: Content, name: str, stem: str) -> Response:
    """A table as CSV, offered as a file."""
    table = pick_table(content, name)
    headers = {"content-disposition": f'attachment; filename="{stem}-{table.name}.csv"'}
    return Response(tables.csv_text(table), media_type="text/csv; charset=utf-8", headers=headers)


def json_response(content: Content, name: str, about: Mapping[str, Any]) -> Response:
    """A table as JSON: what it is, and its rows."""
    table = pick_table(content, name)
    document = {**about, "table": table.name, "caption": table.caption, "rows": tables.json_rows(table)}
    return Response(tables.json_text(document), media_type="application/json")


def empty_response(content: Content, about: Mapping[str, Any] | None) -> Response:
    """The twin of a page that has nothing to show: no rows, and in JSON the reason."""
    if about is None:
        return Response("", media_type="text/csv; charset=utf-8")
    reason = "" if content.empty is None else content.empty.title
    return Response(tables.json_text({**about, "empty": reason, "rows": []}), media_type="application/json")


def stream_response(context: Context, page: Page, table: Table, most: int, about: Mapping[str, Any] | None) -> Response:
    """All rows of a long table, written while they are read: CSV, or JSON where `about` says what it is.

    The header `Halve-Rows` says how many of how many: `208733 of 208733`.
    """
    opened = ExitStack()
    try:
        session = opened.enter_context(context.deps.warehouse.session())
        assert table.stream is not None
        found = table.stream(replace(context, session=session), most)
    except BaseException:
        opened.close()
        raise
    headers = {"halve-rows": f"{found.shown} of {found.total}"}
    if about is None:
        headers["content-disposition"] = f'attachment; filename="{page.name}-{table.name}.csv"'
        blocks, kind = tables.csv_blocks(table, found.rows), "text/csv; charset=utf-8"
    else:
        head = {**about, "table": table.name, "caption": table.caption, "total": found.total, "shown": found.shown}
        blocks, kind = tables.json_blocks(table, head, found.rows), "application/json"
    return StreamingResponse(_until_closed(blocks, opened), media_type=kind, headers=headers)


def _until_closed(blocks: Iterator[str], opened: ExitStack) -> Iterator[str]:
    """The blocks; the session is closed behind the last one, or when the reader goes away."""
    with opened:
        yield from blocks


def chart_response(content: Content, name: str, mode: Mode) -> Response:
    """A chart as its Vega-Lite specification, data included."""
    found = content.charts[:1] if not name else tuple(chart for chart in content.charts if chart.name == name)
    if not found:
        raise NotFoundError("This page has no such chart.")
    return Response(tables.json_text(found[0].spec(mode)), media_type="application/json")


def pick_table(content: Content, name: str) -> Table:
    found = content.tables[:1] if not name else tuple(table for table in content.tables if table.name == name)
    if not found:
        raise NotFoundError("This page has no such table now.")
    return found[0]


def see_other(to: str) -> Response:
    """Sends the browser on to another page of ours after a form."""
    return RedirectResponse(to, 303)
