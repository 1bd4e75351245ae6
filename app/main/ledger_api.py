"""What commands of the ledger and exports ask a running service; `app.main.repricing` and `export` do the work."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from app.main import export, repricing

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.main.runtime import Runtime
    from app.settings import Settings


def add_ledger_routes(api: FastAPI, runtime: Runtime, settings: Settings) -> None:
    """The routes under /ledger, and /export. A call of `apply` works for some seconds and says whether that was all."""

    @api.post("/ledger/preview")
    def preview(wish: repricing.Wish) -> dict[str, Any]:
        return repricing.previewed(runtime, settings, wish)

    @api.post("/ledger/apply")
    def apply(wish: repricing.Wish) -> dict[str, Any]:
        return repricing.applied(runtime, settings, wish)

    @api.get("/ledger/versions")
    def versions() -> list[dict[str, Any]]:
        return repricing.all_versions(runtime)

    @api.get("/ledger/versions/{version}")
    def one_version(version: int) -> dict[str, Any]:
        return repricing.one_version(runtime, version)

    @api.post("/export")
    def exported(wish: export.ExportWish) -> FileResponse:
        path, written = export.export_file(runtime, wish)
        said = {export.SAID: json.dumps(asdict(written))}
        return FileResponse(path, headers=said, background=BackgroundTask(path.unlink, missing_ok=True))
