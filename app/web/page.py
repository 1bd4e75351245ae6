"""What a page is: a value with its address and a function from a context to its content.

One direction: `View -> facts -> Content -> template`. The full page is always answered; HTMX picks `#main` out of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from app.core import view as views

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping

    from app.analysis.figures import Figures
    from app.charts.chart import Chart
    from app.core.view import Filter, View
    from app.warehouse.store import Session
    from app.web.deps import Deps
    from app.web.table import Table


@dataclass(frozen=True, slots=True)
class Context:
    """One reader's request: what is asked (view, the page's own keys, parts of the path) and the open session."""

    deps: Deps
    session: Session
    view: View
    path: Mapping[str, str]
    keys: Mapping[str, str]
    now_us: int
    polled: bool = False
    """Whether a page that shows progress asks how far it is."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.view.period.zone)

    def url(self, to: str, view: View | None = None, keys: Mapping[str, str] | None = None) -> str:
        """A link to `to` that carries the view, or another one, and page keys."""
        text = views.query(view or self.view, tuple((keys or {}).items()))
        return f"{to}?{text}" if text else to

    def with_filter(self, dimension: str, value: str, **changes: Any) -> View:
        """The view with one more condition `is dimension value`, in place of an earlier one on that dimension."""
        return replace(views.with_filter(self.view, dimension, value), **changes)

    def without_filter(self, condition: Filter) -> View:
        """The view without a condition."""
        return replace(self.view, filters=tuple(item for item in self.view.filters if item != condition))

    def without_keys(self, names: Collection[str]) -> Context:
        """The same request without some of the page's own keys: links and twins do not carry what cannot be used."""
        return replace(self, keys={key: value for key, value in self.keys.items() if key not in names})

    def filtered_to(self, dimension: str) -> bool:
        """Whether the view already holds one value of a dimension."""
        return any(item.op == "is" and item.dimension == dimension for item in self.view.filters)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A key of a page whose value it cannot use, and the notice that says so."""

    key: str
    text: str


def unknown_value(key: str, value: str, known: Iterable[str]) -> Unusable:
    """The notice for a value that a page cannot use: what was asked, what is shown instead, what it knows."""
    shown = f"{key}={value}"
    shown = shown if len(shown) <= 80 else shown[:79] + "…"
    return Unusable(key, f"This page does not know {shown!r}; it is left out. It knows {', '.join(known)}.")


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Empty:
    """Why a page has nothing to show, and the way out; `deed` is a button that posts to its address."""

    title: str
    text: str
    links: tuple[Link, ...] = ()
    deed: Link | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What a page shows: its own model for the template, and the tables and charts that have addresses too.

    `figures` are the sums of the view, where the page has asked for them already. `unusable` names what of the
    page's own keys could not be used: the page says so, its twins answer 400.
    """

    title: str
    model: object = None
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    empty: Empty | None = None
    notices: tuple[str, ...] = ()
    unusable: tuple[Unusable, ...] = ()
    figures: Figures | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        name: slug; the template is `pages/<name>.html`.
        path: its address; `twin` is the address without suffix of its tables and charts.
        nav: label in the navigation, empty where it is reached from another page.
        keys: query keys of its own, beside those of a View; a form may send those of `many` several times: their values
            are joined by commas.
        uses_view: whether period and filters change what it shows.
        kept: whether its content may be shown again until the warehouse or a decision on a finding changes: only for
            pages that read nothing else, but for what `rests_on` tells.
        rests_on: changes whenever something else changes that this page alone reads.
    """

    name: str
    path: str
    twin: str
    nav: str
    build: Callable[[Context], Content]
    keys: frozenset[str] = field(default_factory=frozenset)
    many: frozenset[str] = field(default_factory=frozenset)
    uses_view: bool = True
    kept: bool = False
    rests_on: Callable[[Context], Hashable] = lambda _context: None
    section: str = ""

    @property
    def template(self) -> str:
        return f"pages/{self.name}.html"
