"""What commands of the ledger ask a running service over its socket; `app.main.repricing` does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.main import repricing

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.main.runtime import Runtime
    from app.settings import Settings


def add_ledger_routes(api: FastAPI, runtime: Runtime, settings: Settings) -> None:
    """The routes under /ledger. A call of `apply` works for some seconds and says whether that was all."""

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
