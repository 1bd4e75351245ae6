"""The forms of the Budgets page: set a budget, change it, remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Path
from pydantic import BaseModel, Field

from app.core.errors import NotFoundError
from app.core.view import MAX_VALUE_CHARS
from app.web import render

if TYPE_CHECKING:
    from starlette.responses import Response

    from app.web.commands import BudgetDesk
    from app.web.deps import Deps

NAME_MAX = 200
TEXT_MAX = 100
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]
"""The number of a budget, as the store can hold one."""


class BudgetForm(BaseModel):
    """What a reader wrote, unread; `scope` is a dimension and `value` its value, both empty for everything."""

    name: str = Field(max_length=NAME_MAX)
    amount: str = Field(max_length=TEXT_MAX)
    every: str = Field(max_length=TEXT_MAX)
    zone: str = Field(max_length=TEXT_MAX)
    anchor: str = Field("", max_length=TEXT_MAX)
    scope: str = Field("", max_length=TEXT_MAX)
    value: str = Field("", max_length=MAX_VALUE_CHARS)
    thresholds: str = Field("", max_length=TEXT_MAX)
    forecast: str = Field("", max_length=TEXT_MAX)

    def given(self) -> dict[str, Any]:
        """The fields as `app.analysis.budgets.terms_of` takes them."""
        return {
            "name": self.name,
            "amount": self.amount,
            "every": self.every,
            "anchor": self.anchor,
            "zone": self.zone,
            "scope": f"{self.scope}={self.value}" if self.scope or self.value else "",
            "thresholds": self.thresholds,
            "forecast": self.forecast == "on",
        }


def routes(deps: Deps) -> APIRouter:
    """The routes; the caller puts the guard in front of them."""
    router = APIRouter()

    def desk() -> BudgetDesk:
        if deps.commands.budgets is None:
            raise NotFoundError("This Halve watches no budgets.")
        return deps.commands.budgets

    @router.post("/budgets", response_model=None)
    def add(form: Annotated[BudgetForm, Form()]) -> Response:
        desk().add(form.given())
        return render.see_other("/budgets?done=added")

    @router.post("/budgets/{number}", response_model=None)
    def change(number: Number, form: Annotated[BudgetForm, Form()]) -> Response:
        desk().change(number, form.given())
        return render.see_other("/budgets?done=changed")

    @router.post("/budgets/{number}/remove", response_model=None)
    def remove(number: Number) -> Response:
        desk().remove(number)
        return render.see_other("/budgets?done=removed")

    return router
