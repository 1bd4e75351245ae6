"""Pricing inside the warehouse: rates of a book are kept, new names resolved, a relation priced in one join.

The book comes as a `Book`: anything with a version that resolves frames of names to rates. `app.pricing.book.PriceBook`
is one; the two packages do not import each other.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from app.core.errors import UsageError
from app.warehouse import catalogue

if TYPE_CHECKING:
    import polars as pl

    from app.warehouse.store import Session

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


class Book(Protocol):
    """What pricing needs of a price book."""

    @property
    def version(self) -> str: ...

    @property
    def by_account(self) -> bool: ...

    @property
    def own_terms(self) -> bool: ...

    @property
    def list_source(self) -> str: ...

    def resolve(self, pairs: pl.DataFrame) -> pl.DataFrame: ...

    def rates_for(self, aliases: pl.DataFrame) -> pl.DataFrame: ...


def install(session: Session, book: Book, *, now_us: int) -> None:
    """Keep that this version of the prices is in use. Rates follow by name in `resolve_new`. Idempotent."""
    session.execute("pricing.add_book", book=book.version, list_source=book.list_source, installed_us=now_us)


def resolve_new(session: Session, relation: str, book: Book) -> int:
    """Resolve every (provider, model, price context) of `relation` that the book has not seen; returns how many.

    Writes `price_alias` and the rates behind it into `price_rates`: needs the writer's session.
    """
    pairs = session.frame("pricing.new_pairs", {"requests": relation}, book=book.version, by_account=book.by_account)
    if pairs.is_empty():
        return 0
    aliases = book.resolve(pairs)
    _insert(session, "pricing.add_rates", "rates", book.rates_for(aliases), book=book.version)
    _insert(session, "pricing.add_aliases", "aliases", aliases, book=book.version)
    return pairs.height


def price(session: Session, relation: str, book: Book, into: str) -> None:
    """Price `relation` into the temporary table `into` (columns: the query `pricing.priced`), replacing it.

    `relation` has the columns that the query names and a unique `request_key`; its names must have been resolved by
    `resolve_new`. One row out a row in, in no order.
    """
    values: dict[str, Any] = {"book": book.version, "by_account": book.by_account}
    if not book.own_terms:
        _materialise(session, into, "pricing.priced", {"requests": relation}, **values, own_terms=True)
        return
    own, listed = f"{into}_own", f"{into}_listed"
    _materialise(session, own, "pricing.priced", {"requests": relation}, **values, own_terms=True)
    _materialise(session, listed, "pricing.priced", {"requests": relation}, **values, own_terms=False)
    _materialise(session, into, "pricing.with_list", {"own": own, "listed": listed})
    for name in (own, listed):
        session.execute("pricing.drop", {"table": name})


def price_at_list(session: Session, relation: str, book: str, into: str, *, by_account: bool) -> None:
    """What `relation` costs at the list prices of a book that has priced it before, by the rates kept of it.

    Makes the temporary table `into`; its cost is the list price. `by_account`: whether the book's names were resolved
    account by account.
    """
    values = {"book": book, "by_account": by_account, "own_terms": False}
    _materialise(session, into, "pricing.priced", {"requests": relation}, **values)


def price_parts(session: Session, parts: str, relation: str, book: Book, priced: str, into: str) -> None:
    """Price the separately billed parts of responses and fold them into the already priced requests.

    `parts` has the layout of `request_parts` with the model as sent in `model_id`; `priced` is the outcome of `price`
    for `relation`. Afterwards `into` holds the parts with their cost (query `pricing.parts_priced`), and `priced`
    the requests with the sum of their parts in place of their own tokens' cost. Needs the writer's session.
    """
    usage, costs, folded = f"{into}_usage", f"{into}_costs", f"{into}_folded"
    _materialise(session, usage, "pricing.part_usage", {"parts": parts, "requests": relation, "priced": priced})
    resolve_new(session, usage, book)
    price(session, usage, book, costs)
    _materialise(session, into, "pricing.parts_priced", {"usage": usage, "costs": costs})
    _materialise(session, folded, "pricing.with_parts", {"priced": priced, "parts": into, "requests": relation})
    _materialise(session, priced, "pricing.all", {"table": folded})
    for name in (usage, costs, folded):
        session.execute("pricing.drop", {"table": name})


def _materialise(session: Session, into: str, query: str, relations: dict[str, str], **values: object) -> None:
    if not _NAME.fullmatch(into):
        raise UsageError(f"{into!r} is no identifier.")
    sql = catalogue.render(query, relations)
    used = catalogue.parameters(sql)
    bound = {key: value for key, value in values.items() if key in used} or None
    session.connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {into} AS {sql}", bound)


def _insert(session: Session, query: str, relation: str, frame: pl.DataFrame, **values: object) -> None:
    name = f"{relation}_{uuid4().hex[:12]}"
    session.register(name, frame)
    try:
        session.execute(query, {relation: name}, **values)
    finally:
        session.connection.unregister(name)


@dataclass(frozen=True, slots=True)
class Pricer:
    """A price book at work in the warehouse: what ingest calls for each relation of new requests."""

    book: Book

    def prepare(self, session: Session, relation: str) -> None:
        """Make the book's version and every new name of `relation` known; needs the writer's session."""
        install(session, self.book, now_us=time.time_ns() // 1000)
        resolve_new(session, relation, self.book)

    def price(self, session: Session, relation: str, into: str) -> None:
        """Price `relation` into the temporary table `into`; see `price`."""
        price(session, relation, self.book, into)

    def price_parts(self, session: Session, parts: str, relation: str, priced: str, into: str) -> None:
        """Price parts and fold them into `priced`; see `price_parts`."""
        price_parts(session, parts, relation, self.book, priced, into)
