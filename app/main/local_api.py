"""What commands ask a running service over `halve.sock`. The file's mode is the access control: only its owner can."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Form
from fastapi.responses import JSONResponse, Response

from app.core.errors import HalveError, NotFoundError
from app.main import budgets, overlaps, reconciling, report_commands, rereading, source_list
from app.main.ledger_api import add_ledger_routes
from app.main.refresh import now_us, set_billing
from app.main.service_calls import STATUS_OF
from app.plan import store as plan_store
from app.plan.result import plan_document

if TYPE_CHECKING:
    from fastapi import Request

    from app.main.runtime import Runtime
    from app.settings import Settings


def create_local_api(runtime: Runtime, settings: Settings, *, made: bool = False) -> FastAPI:
    """The application behind the socket; `made` says that the data is fictional."""
    api = FastAPI(title="Halve, local", docs_url=None, redoc_url=None, openapi_url=None)

    @api.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @api.get("/plan")
    def plan() -> dict[str, Any]:
        result = plan_store.latest(runtime.warehouse, runtime.control, now_us=now_us())
        if result is None:
            raise NotFoundError("Nothing was analysed yet.")
        return plan_document(result)

    @api.get("/reconciliation")
    def bills_beside_requests(period: str = reconciling.EVERYTHING) -> dict[str, Any]:
        return reconciling.shown(runtime, settings.zone, period)

    @api.post("/billing")
    def billing(source: str = Form(), billing: str = Form()) -> dict[str, str]:
        set_billing(runtime, source, billing)
        return {"status": "ok"}

    @api.get("/budgets")
    def listed_budgets() -> list[dict[str, Any]]:
        return budgets.rows(runtime, now_us())

    add_ledger_routes(api, runtime, settings)
    _add_source_routes(api, runtime, settings)

    @api.get("/report")
    def report(week: str = "", form: str = "text") -> Response:
        return Response(
            report_commands.shown(runtime, settings, week, form, made=made), media_type="application/octet-stream"
        )

    @api.post("/report/send")
    def send_report(to: str = Form(), week: str = Form("")) -> dict[str, str]:
        return {"said": report_commands.send(runtime, settings, week, to, made=made)}

    @api.exception_handler(HalveError)
    def told(_request: Request, error: HalveError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, status_code=STATUS_OF.get(type(error), 400))

    return api


def _add_source_routes(api: FastAPI, runtime: Runtime, settings: Settings) -> None:
    @api.get("/sources/arrived")
    def arrived_sources() -> list[dict[str, Any]]:
        return source_list.arrived(runtime)

    @api.post("/sources/primary")
    def primary_source(name: str = Form()) -> dict[str, list[str]]:
        return {"others": overlaps.primary(runtime, name)}

    @api.post("/sources/separate")
    def separate_sources(one: str = Form(), other: str = Form()) -> dict[str, str]:
        overlaps.decide(runtime, one, other, None)
        return {"status": "ok"}

    @api.post("/sources/again")
    def sources_again(name: str | None = Form(None)) -> dict[str, Any]:
        return asdict(rereading.read_again(runtime, settings, name))
