"""The way in: the link with the access token that the first start prints, or the token pasted into a form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form
from fastapi import Request as FastRequest

from app.auth.access import SESSION_COOKIE, SESSION_LIFETIME_US, enter, leave
from app.web import render

if TYPE_CHECKING:
    import jinja2
    from starlette.responses import Response

    from app.web.deps import Deps

WRONG = "That is not the access token of this Halve. It was printed as a link when the service first started."


def routes(deps: Deps, templates: jinja2.Environment) -> APIRouter:
    """`/enter` (open to all), `/leave` and `/theme`."""
    router = APIRouter()

    def come_in(request: FastRequest, token: str) -> Response:
        session = enter(deps.control, token.strip(), deps.now())
        if session is None:
            return sign_in_page(templates, request, status=403, error=WRONG)
        response = render.see_other("/")
        secure = request.url.scheme == "https" or (deps.public_origin or "").startswith("https:")
        response.set_cookie(
            SESSION_COOKIE,
            session,
            max_age=SESSION_LIFETIME_US // 1_000_000,
            httponly=True,
            samesite="lax",
            secure=secure,
            path="/",
        )
        return response

    def by_link(request: FastRequest) -> Response:
        token = request.query_params.get("token", "")
        return come_in(request, token) if token else sign_in_page(templates, request)

    def by_form(request: FastRequest, token: Annotated[str, Form(max_length=200)]) -> Response:
        return come_in(request, token)

    def go_out(request: FastRequest) -> Response:
        leave(deps.control, request.cookies.get(SESSION_COOKIE))
        response = render.see_other("/enter")
        response.delete_cookie(SESSION_COOKIE)
        return response

    def choose_theme(theme: Annotated[str, Form()], back: Annotated[str, Form(max_length=4000)] = "/") -> Response:
        response = render.see_other(own_path(back))
        if theme in render.THEMES:
            response.set_cookie(render.THEME_COOKIE, theme, max_age=365 * 24 * 3600, httponly=True, samesite="lax")
        return response

    router.add_api_route("/enter", by_link, methods=["GET", "HEAD"], response_model=None)
    router.add_api_route("/enter", by_form, methods=["POST"], response_model=None)
    router.add_api_route("/leave", go_out, methods=["POST"], response_model=None)
    router.add_api_route("/theme", choose_theme, methods=["POST"], response_model=None)
    return router


def own_path(to: str) -> str:
    """`to` where it is a path of ours, else the first page: a form never sends a reader to another host."""
    plain = to.startswith("/") and not to.startswith(("//", "/\\")) and not any(c in to for c in "\r\n\t")
    return to if plain else "/"


def sign_in_page(templates: jinja2.Environment, request: FastRequest, status: int = 200, error: str = "") -> Response:
    """The form that asks for the access token."""
    return render.shell_response(templates, request, "enter.html", status, error=error)
