"""The requests behind a figure: where a count leads that stands on a page without a period of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.analysis import spend
from app.core import view as views
from app.core.view import Filter, View

if TYPE_CHECKING:
    from app.analysis.coverage import UnpricedModel
    from app.web.page import Context


def requests_behind(context: Context, **chosen: str) -> str:
    """The list of all requests, whatever their time, that have these values by dimension; empty where none is held."""
    if not context.session.once("behind_any", lambda: _any(context)):
        return ""
    period = views.period("all", context.view.period.zone, context.now_us)
    filters = tuple(Filter("is", dimension, (value,)) for dimension, value in chosen.items())
    return context.url("/requests", View(period, filters=filters))


def unpriced_behind(context: Context, item: UnpricedModel) -> str:
    """The requests of a model that lack a price in the same way."""
    return requests_behind(context, provider=item.provider, model=item.model, cost_state=item.cost_state)


def _any(context: Context) -> bool:
    """Whether there are requests, and not bills alone."""
    timed = spend.request_extent(context.session) is not None
    return timed or spend.undated(context.session, context.view).requests > 0
