"""The application: pages and their twins from one tuple, actions, the way in, static files, and the outer guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi import Request as FastRequest
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from app.analysis.requests import MAX_ROWS
from app.auth.access import SESSION_COOKIE, is_inside
from app.auth.origin import LOOPBACK_NAMES
from app.core import view as views
from app.core.errors import HalveError, UsageError
from app.web import (
    batch_routes,
    budgets,
    entry,
    export_routes,
    jobs,
    openai_api,
    overlap_routes,
    push_routes,
    render,
    reports,
)
from app.web.actions import actions
from app.web.frame import frame, surroundings
from app.web.kept import Kept, address_of, state_of
from app.web.page import Context
from app.web.pages import PAGES
from app.web.problems import UNEXPECTED, NotSignedIn, Problem, http_problem, problem
from app.web.security import BodyLimitMiddleware, SecurityMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    import jinja2
    from starlette.types import Scope

    from app.core.view import View
    from app.warehouse.store import Session
    from app.web.deps import Deps
    from app.web.frame import Surroundings
    from app.web.page import Content, Page

    Shown: TypeAlias = Callable[[Context, Page], tuple[Content, Surroundings]]

# Keys that belong to the twins and the filter form, not to a view.
FORM_KEYS = frozenset({"add", "value", "from", "to"})
TWIN_KEYS = frozenset({"table", "chart", "theme", "rows"})
SUFFIXES = (".csv", ".json", ".vl.json")


def create_app(deps: Deps) -> FastAPI:
    """The dashboard as an ASGI application.

    Raises:
        UsageError: access control is switched off for a dashboard that others can reach.
    """
    if deps.no_access_control and not deps.allowed_hosts <= LOOPBACK_NAMES:
        raise UsageError(
            "A dashboard without access control may only answer on this machine (127.0.0.1, localhost), "
            f"not as {', '.join(sorted(deps.allowed_hosts - LOOPBACK_NAMES))}. Start it with access control."
        )
    app = FastAPI(title="Halve", docs_url=None, redoc_url=None, openapi_url=None)
    templates = render.environment()
    shown = _shown()

    def guard(request: FastRequest) -> None:
        if deps.no_access_control:
            return
        cookie, bearer = request.cookies.get(SESSION_COOKIE), request.headers.get("authorization")
        if not is_inside(deps.control, cookie, bearer, deps.now()):
            raise NotSignedIn

    inside = APIRouter(dependencies=[Depends(guard)])
    for page in PAGES:
        # Longest suffix first: `{key}` of a path would swallow it.
        for suffix in sorted(SUFFIXES, key=len, reverse=True):
            _add(inside, page.twin + suffix, _twin(deps, page, suffix, shown))
        _add(inside, page.path, _full(deps, page, templates, shown))
    inside.include_router(actions(deps))
    inside.include_router(reports.routes(deps))
    inside.include_router(batch_routes.routes(deps))
    inside.include_router(jobs.routes(deps))
    inside.include_router(budgets.routes(deps))
    inside.include_router(overlap_routes.routes(deps))
    inside.include_router(export_routes.routes(deps))
    app.include_router(inside)
    app.include_router(entry.routes(deps, templates))
    app.add_api_route("/healthz", _healthz(deps), methods=["GET", "HEAD"])
    if deps.commands.push is not None:
        app.include_router(push_routes.routes(deps, deps.commands.push))
    if deps.commands.batch is not None:
        app.mount(openai_api.MOUNT, openai_api.openai_api(deps, deps.commands.batch))
    app.mount("/static", _Static(directory=render.STATIC), name="static")
    _add_problem_pages(app, templates)
    app.add_middleware(BodyLimitMiddleware, max_upload_bytes=deps.max_upload_bytes)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(SecurityMiddleware, allowed_hosts=deps.allowed_hosts, public_origin=deps.public_origin)
    return app


def _add(router: APIRouter, path: str, handle: Callable[..., Response]) -> None:
    router.add_api_route(path, handle, methods=["GET", "HEAD"], response_model=None)


def _shown() -> Shown:
    """Builds the content of a page and what its figures rest on, or gives again what it has built."""
    kept = Kept()

    def shown(context: Context, page: Page) -> tuple[Content, Surroundings]:
        state = state_of(context)
        context.session.keep()

        def built() -> Content:
            return page.build(context)

        content = kept.get((state, address_of(context, page)), built) if page.kept else built()
        over = ("around", state, page.uses_view and context.view)
        return content, kept.get(over, lambda: surroundings(context, page, content))

    return shown


def _about(context: Context, page: Page, content: Content) -> dict[str, Any]:
    """What a JSON twin says of itself."""
    about: dict[str, Any] = {"page": page.name, "title": content.title}
    if page.uses_view:
        period = context.view.period
        about |= {"period": period.name, "from_us": period.from_us, "to_us": period.to_us, "zone": period.zone}
    return about


def _most_rows(asked: str | None) -> int:
    """How many rows of a long table are wanted: as many as there are, up to the bound, unless `rows` says fewer."""
    if asked is None:
        return MAX_ROWS
    number = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 8 else 0
    if not 0 < number <= MAX_ROWS:
        raise UsageError(f"rows={asked!r} cannot be used: it is how many rows are wanted, 1 to {MAX_ROWS}.")
    return number


def _full(deps: Deps, page: Page, templates: jinja2.Environment, shown: Shown) -> Callable[..., Response]:
    def handle(request: FastRequest) -> Response:
        with deps.warehouse.session() as session:
            context, notices = _context(deps, page, request, session)
            wanted = _canonical(context, page, request)
            if wanted is not None and not notices and "hx-request" not in request.headers:
                return render.see_other(wanted)
            content, around = shown(context, page)
            context = context.without_keys({item.key for item in content.unusable})
            outside = frame(context, page, content, around, PAGES, notices)
            response = render.page_response(templates, request, page, context, content, outside)
            if "hx-request" in request.headers:
                response.headers["hx-push-url"] = wanted or outside.here
            return response

    return handle


def _twin(deps: Deps, page: Page, suffix: str, shown: Shown) -> Callable[..., Response]:
    def handle(request: FastRequest) -> Response:
        with deps.warehouse.session() as session:
            context, notices = _context(deps, page, request, session)
            content, _ = shown(context, page)
        if unusable := (*notices, *(item.text for item in content.unusable)):
            # A page may leave out what it cannot use and say so; whoever reads figures by program must not miss it.
            raise UsageError(" ".join(unusable))
        asked = request.query_params
        if suffix != ".vl.json":
            about = _about(context, page, content) if suffix == ".json" else None
            if content.empty is not None and not content.tables:
                return render.empty_response(content, about)
            table = render.pick_table(content, asked.get("table", ""))
            if table.stream is not None:
                return render.stream_response(context, page, table, _most_rows(asked.get("rows")), about)
            if about is None:
                return render.csv_response(content, table.name, page.name)
            return render.json_response(content, table.name, about)
        return render.chart_response(
            content, asked.get("chart", ""), "dark" if asked.get("theme") == "dark" else "light"
        )

    return handle


def _context(deps: Deps, page: Page, request: FastRequest, session: Session) -> tuple[Context, tuple[str, ...]]:
    now_us = deps.now()
    known = page.keys | FORM_KEYS | TWIN_KEYS
    asked = request.query_params.multi_items()
    view, notices = views.parse(asked, zone=deps.zone, now_us=now_us, page_keys=known)
    if (first := request.query_params.get("from")) and (last := request.query_params.get("to")):
        named, more = views.parse([("period", f"{first}..{last}")], zone=deps.zone, now_us=now_us)
        view, notices = views.replace_period(view, named.period), (*notices, *more)
    keys: dict[str, str] = {}
    for key, value in asked:
        if key in page.keys and value:
            keys[key] = f"{keys[key]},{value}" if key in keys and key in page.many else value
    context = Context(
        deps=deps,
        session=session,
        view=_with_added_filter(view, request),
        path=request.path_params,
        keys=keys,
        now_us=now_us,
        polled="progress" in request.headers.get("hx-target", ""),
    )
    return context, notices


def _with_added_filter(view: View, request: FastRequest) -> View:
    """The view with the condition that the filter form asks for (`add=model&value=gpt-5`)."""
    dimension, value = request.query_params.get("add", ""), request.query_params.get("value", "").strip()
    if dimension not in views.DIMENSIONS or not value or len(value) > views.MAX_VALUE_CHARS:
        return view
    return views.with_filter(view, dimension, value)


def _canonical(context: Context, page: Page, request: FastRequest) -> str | None:
    """The short address of what was asked, where it was asked in more words (a form sends every field)."""
    wanted = context.url(page.path.format_map(dict(context.path)), keys=context.keys)
    asked = request.query_params.multi_items()
    shortest = [*views.pairs(context.view), *context.keys.items()]
    return wanted if sorted(asked) != sorted(shortest) else None


def _healthz(deps: Deps) -> Callable[..., Response]:
    def handle() -> Response:
        with deps.warehouse.session():
            return PlainTextResponse("ok")

    return handle


class _Static(StaticFiles):
    """Static files under addresses that change with their content, so they may be kept for good."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def _add_problem_pages(app: FastAPI, templates: jinja2.Environment) -> None:
    def answer(request: FastRequest, found: Problem) -> Response:
        if request.url.path.endswith((".csv", ".json")):
            return JSONResponse({"error": found.text}, found.status)
        return render.shell_response(templates, request, "problem.html", found.status, problem=found)

    def ours(request: FastRequest, error: Exception) -> Response:
        assert isinstance(error, HalveError)
        return answer(request, problem(error))

    def framework(request: FastRequest, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return answer(request, http_problem(error.status_code))

    def unexpected(request: FastRequest, _error: Exception) -> Response:
        # Starlette raises the error again behind this answer, so that the server's log holds it.
        return answer(request, Problem(500, "Something went wrong", UNEXPECTED))

    def signed_out(request: FastRequest, _error: Exception) -> Response:
        return entry.sign_in_page(templates, request, status=401)

    app.add_exception_handler(HalveError, ours)
    app.add_exception_handler(HTTPException, framework)
    app.add_exception_handler(NotSignedIn, signed_out)
    app.add_exception_handler(Exception, unexpected)
