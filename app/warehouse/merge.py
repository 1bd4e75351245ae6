"""The merge: rows of shards into the facts, by `request_key`; doing it twice changes nothing.

How snapshots of one call are joined is the law of `snapshots.py`. Prices are put on in the same step. The caller holds
the transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import polars as pl

from app.core.hashing import EVERYWHERE, hash64
from app.core.response_ids import is_strong_id
from app.core.usage import CACHE_WRITE_CLASSES, INPUT_CLASSES, OUTPUT_CLASSES, TOKEN_CLASSES
from app.warehouse.former_keys import with_plain_ids, with_standing_keys
from app.warehouse.moved import with_moved_keys
from app.warehouse.origins import note_origins
from app.warehouse.ranks import lent_rows, placed, ranked, without_ranks
from app.warehouse.snapshots import joined, paired
from app.warehouse.spans import drop_repeating
from app.warehouse.unchanged import bringing

if TYPE_CHECKING:
    from app.warehouse.store import Session


class Pricer(Protocol):
    """Puts prices on a relation that has the columns of `requests` which pricing reads.

    Its `cost_state` is 'not_billed' where the source knows that nothing was billed, 'unknown' where a side of its
    tokens is not known, else NULL.
    """

    def prepare(self, session: Session, relation: str) -> None:
        """Resolve the models of the relation that were not seen before."""

    def price(self, session: Session, relation: str, into: str) -> None:
        """Make the temporary table `into`: request_key, provider_id, model_id, six parts, cost_list_pusd, cost_pusd,
        price_row, price_book, cost_state, price_warning; one row for each row of the relation.
        """

    def price_parts(self, session: Session, parts: str, relation: str, priced: str, into: str) -> None:
        """Make the temporary table `into` (request_key, part, model_id, cost_pusd, price_row) of the separately billed
        parts of `relation`, and put their sums into `priced`.
        """


class Unpriced:
    """The pricer of a store without a price book: every cost is unknown and says so."""

    def prepare(self, session: Session, relation: str) -> None:
        pass

    def price(self, session: Session, relation: str, into: str) -> None:
        session.execute("ingest.unpriced", {"requests": relation, "into": into})

    def price_parts(self, session: Session, parts: str, relation: str, priced: str, into: str) -> None:  # noqa: ARG002
        session.execute("ingest.unpriced_parts", {"parts": parts, "into": into})


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Rows of one or more shards. `requests` and `segments` carry shard_no; every frame but `requests` may be empty."""

    requests: pl.DataFrame
    segments: pl.DataFrame | None
    lines: pl.DataFrame | None
    parts: pl.DataFrame | None
    links: pl.DataFrame | None = None
    folded: pl.DataFrame | None = None
    former: pl.DataFrame | None = None
    lent: pl.DataFrame | None = None


PART_TOKENS: Final = (
    "tok_input",
    "tok_cache_read",
    "tok_cache_write_5m",
    "tok_cache_write_30m",
    "tok_cache_write_1h",
    "tok_cache_write_12h",
    "tok_output",
    "tok_reasoning",
)
MAX_PLACED: Final = 2**40  # no prompt has more tokens: what says so is no number to reckon with
PRICE_WARNINGS: Final = (
    "no_time",
    "no_prompt_tokens",
    "impossible_tokens",
    "unknown_model",
    "no_price",
    "reported_cost_disagrees",
    "free_model_charged",
    "sum_of_calls",
)


def merge(session: Session, arrivals: Arrivals, pricer: Pricer) -> pl.DataFrame:
    """Merge arrivals into the facts; returns shard_no, chunk_no, stored, updated of each chunk that changed any."""
    arrivals = with_moved_keys(session, with_standing_keys(session, arrivals))
    requests, renamed = _reduced(arrivals.requests, arrivals.lent)
    standing = _standing(session, requests["request_key"])
    if standing.height:
        requests, more = _without_collisions(requests, standing)
        if more.height:
            renamed = pl.concat([renamed, more])
            standing = pl.concat([standing, _standing(session, more["new_key"])])
    taken = _against(session, requests, standing, arrivals.lent)
    note_origins(session, arrivals.requests, standing, arrivals.folded, renamed)
    if taken.height:
        _store(session, taken, arrivals, renamed, pricer)
    repeated = drop_repeating(session, arrivals.requests, arrivals.links)
    if repeated:
        taken = taken.filter(~pl.col("request_key").is_in(list(repeated)))
    return taken.group_by("shard_no", "chunk_no").agg(
        stored=pl.col("is_new").sum().cast(pl.Int64),
        updated=(pl.col("says_more") & ~pl.col("is_new")).sum().cast(pl.Int64),
    )


def _standing(session: Session, keys: pl.Series) -> pl.DataFrame:
    """The stored rows of these keys, with the warnings of their records alone: those of a price are no word of a log,
    and a row that is read again must not be priced anew for them past the ledger.
    """
    session.register("incoming_keys", pl.DataFrame({"request_key": keys}))
    known = session.frame("ingest.standing_keys")
    session.unregister("incoming_keys")
    session.register("incoming_keys", known)
    standing = session.frame("ingest.standing")
    session.unregister("incoming_keys")
    return with_plain_ids(standing).with_columns(warnings=own_warnings())


def collision_key(key: int, identity: str) -> int:
    """Another key for a call whose key is taken by a different call; the same for the same call every time."""
    return hash64(b"collision\0" + key.to_bytes(8, "big", signed=True) + identity.encode())


def identity_of() -> pl.Expr:
    """The text by which two rows of one key are known to be the same call."""
    return pl.coalesce("provider_response_id", pl.concat_str("source", pl.lit("\0"), "source_record"))


def _reduced(requests: pl.DataFrame, lent: pl.DataFrame | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row a key, joined of several shards' snapshots; and the keys that were renamed."""
    renamed = pl.DataFrame(schema={"shard_no": pl.Int64, "request_key": pl.Int64, "new_key": pl.Int64})
    if requests["request_key"].n_unique() == requests.height:
        return requests, renamed
    rest = ranked(requests, lent)
    first = rest.unique("request_key", keep="first", maintain_order=True)
    while True:
        rest = rest.join(first, on=["request_key", "shard_no"], how="anti") if rest.height else rest
        if not rest.height:
            return first, renamed
        batch = rest.unique("request_key", keep="first", maintain_order=True)
        rest = rest.join(batch, on=["request_key", "shard_no"], how="anti")
        batch, more = _without_collisions(batch, first)
        renamed = pl.concat([renamed, more])
        both = joined(paired(batch, first)).drop("changed", "says_more")
        alone = [rows.join(both, on="request_key", how="anti") for rows in (first, batch)]
        first = pl.concat([alone[0], both, alone[1]], how="diagonal")


def _without_collisions(requests: pl.DataFrame, standing: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give rows whose key belongs to a different call a key of their own, flagged; and say which."""
    joined = requests.join(
        standing.select("request_key", "source", "source_record", "provider_response_id"),
        on="request_key",
        how="inner",
        suffix="_standing",
    )
    ids = pl.col("provider_response_id"), pl.col("provider_response_id_standing")
    records = _record_of(""), _record_of("_standing")
    both_named = ids[0].is_not_null() & ids[1].is_not_null()
    clash = joined.filter(pl.when(both_named).then(ids[0] != ids[1]).otherwise(records[0].ne_missing(records[1])))
    clash = clash.filter(~(both_named & ~_strong(ids[0]) & ~_strong(ids[1]) & (records[0] == records[1])))
    named = clash.select("shard_no", "request_key", identity=identity_of())
    renamed = pl.DataFrame(
        [(shard, key, collision_key(key, identity or "")) for shard, key, identity in named.iter_rows()],
        schema={"shard_no": pl.Int64, "request_key": pl.Int64, "new_key": pl.Int64},
        orient="row",
    )
    if not renamed.height:
        return requests, renamed
    flagged = requests.join(renamed, on=["shard_no", "request_key"], how="left").with_columns(
        request_key=pl.coalesce("new_key", "request_key"),
        warnings=pl.when(pl.col("new_key").is_not_null())
        .then(pl.concat_str(pl.col("warnings"), pl.lit("key_collision"), separator=" ", ignore_nulls=True))
        .otherwise("warnings"),
    )
    return flagged.drop("new_key"), renamed


def _record_of(suffix: str) -> pl.Expr:
    """What a source calls a record: with the source's name, except spans and requests that have one id everywhere."""
    record = pl.col(f"source_record{suffix}")
    return pl.when(record.str.contains(EVERYWHERE)).then(record).otherwise(pl.concat_str(f"source{suffix}", record))


def _strong(ids: pl.Expr) -> pl.Expr:
    return ids.map_elements(is_strong_id, return_dtype=pl.Boolean)


def _against(
    session: Session, requests: pl.DataFrame, standing: pl.DataFrame, lent: pl.DataFrame | None
) -> pl.DataFrame:
    """The rows to store: new ones, and those that say more than a standing row, joined with it."""
    if "is_joined" not in requests.columns:
        requests = ranked(requests, lent) if standing.height or lent is not None else placed(requests)
    if not standing.height:
        return requests.with_columns(is_new=pl.lit(value=True), says_more=pl.lit(value=True))
    session.register("incoming_keys", standing.select("request_key"))
    stood = ranked(standing, session.frame("ingest.standing_lent"))
    session.unregister("incoming_keys")
    pairs = bringing(paired(requests, stood))
    new = requests.join(standing, on="request_key", how="anti")
    new = new.with_columns(is_new=pl.lit(value=True), says_more=pl.lit(value=True))
    if not pairs.height:
        return new
    both = joined(pairs).filter("changed").drop("changed").with_columns(is_new=pl.lit(value=False))
    return pl.concat([new, both], how="diagonal")


def _store(session: Session, taken: pl.DataFrame, arrivals: Arrivals, renamed: pl.DataFrame, pricer: Pricer) -> None:
    stored = without_ranks(taken).with_columns(cost_state=known_state(), warnings=own_warnings())
    session.register("incoming", stored)
    pricer.prepare(session, "incoming")
    pricer.price(session, "incoming", "incoming_priced")
    parts = _parts(session, taken, arrivals, renamed)
    if parts.height:
        session.register("incoming_parts", parts)
        pricer.price_parts(session, "incoming_parts", "incoming", "incoming_priced", "incoming_parts_priced")
    replaced = taken.filter(~pl.col("is_new"))
    if replaced.height:
        session.register("replaced", replaced.select("request_key", brings_prompt=pl.col("prompt_shard").is_not_null()))
        session.execute("ingest.delete_replaced")
        session.unregister("replaced")
    session.execute(
        "pricing.charged", {"priced": "incoming_priced", "requests": "incoming", "into": "incoming_charged"}
    )
    session.execute("ingest.insert_requests")
    session.execute("ingest.queue_requests")
    session.execute("ingest.drop_table", {"table": "incoming_priced"})
    if parts.height:
        session.execute("ingest.insert_parts")
        session.execute("ingest.drop_table", {"table": "incoming_parts_priced"})
        session.unregister("incoming_parts")
    session.unregister("incoming")
    lent = lent_rows(taken)
    if lent.height:
        session.register("incoming_lent", lent)
        session.execute("ingest.insert_lent")
        session.unregister("incoming_lent")
    _store_segments(session, taken, arrivals, renamed)
    if arrivals.lines is not None:
        session.register("incoming_lines", arrivals.lines)
        session.execute("ingest.insert_lines")
        session.unregister("incoming_lines")


# The counts of a whole side under the names that formats give them, where they could not be read, or are of one of
# several answers.
_UNREAD_SIDE: Final = (
    r"\bbad_number:(?:(?:uncached_)?input(?:_tokens|_length)?|(?:visible_)?output(?:_tokens|_length)?"
    r"|(?:prompt|candidates)_token_count)(?:\s|$)|\binterleaved_stream\b"
)


_PROMPT_CLASSES: Final = ("tok_input", "tok_input_audio", "tok_input_image")  # what is in no cache
_CACHE_CLASSES: Final = ("tok_cache_read", "tok_cache_read_audio", *CACHE_WRITE_CLASSES)


def known_state() -> pl.Expr:
    """What the record itself says of its cost: nothing was billed, or a whole side of its tokens is not known.

    An answer has a prompt, and a count that could not be read is no zero: the rest alone would be a wrong cost. So
    would be the cached part of a prompt, at its low rate, where nothing says how much of it was not cached.
    """
    has_answer = pl.any_horizontal(pl.col(name).is_not_null() for name in OUTPUT_CLASSES)
    has_prompt = pl.any_horizontal(pl.col(name).is_not_null() for name in _PROMPT_CLASSES)
    cached = pl.sum_horizontal(pl.col(name).fill_null(0) for name in _CACHE_CLASSES) > 0
    sum_of_all = pl.sum_horizontal(pl.col(name).fill_null(0) for name in TOKEN_CLASSES)
    all_cached = cached & (sum_of_all == pl.col("tok_total_reported")).fill_null(value=False)
    no_prompt = (has_answer & ~has_prompt) | (cached & pl.col("tok_input").is_null())
    unread = pl.col("warnings").fill_null("").str.contains(_UNREAD_SIDE)
    # Who says why an answer ended has made one; embeddings, which have a prompt alone, say nothing of the kind.
    no_answer = pl.col("finish_reason").is_not_null() & (pl.col("status") == "ok") & has_prompt & ~has_answer
    half = pl.col("units").is_null() & ((no_prompt & ~all_cached) | no_answer | unread)
    return pl.when("not_billed").then(pl.lit("not_billed")).when(half).then(pl.lit("unknown"))


def own_warnings() -> pl.Expr:
    """The warnings without those of an earlier pricing, which is done anew; in the order they stand in."""
    kept = pl.col("warnings").str.split(" ").list.filter(~pl.element().is_in(list(PRICE_WARNINGS))).list.join(" ")
    return pl.when(kept != "").then(kept)


def _store_segments(session: Session, taken: pl.DataFrame, arrivals: Arrivals, renamed: pl.DataFrame) -> None:
    winners = taken.filter(pl.col("prompt_shard").is_not_null())
    if arrivals.segments is not None and winners.height:
        segments = _renamed(arrivals.segments, renamed)
        if (
            taken.height < arrivals.requests.height
            or taken.select((pl.col("is_joined") | ~pl.col("is_new")).any()).item()
        ):
            segments = _of(segments, winners, "prompt_shard")
        session.register("incoming_segments", segments)
        session.execute("ingest.insert_segments")
        session.unregister("incoming_segments")
    moved = taken.filter("is_joined", pl.col("prompt_bytes") > 0)
    if moved.height:
        # A prompt that one snapshot gave, at the tokens and the time of the joined row.
        known = pl.any_horizontal(pl.col(name).is_not_null() for name in INPUT_CLASSES)
        tokens = pl.sum_horizontal(pl.col(name).fill_null(0) for name in INPUT_CLASSES)
        places = moved.select(
            "request_key", "prompt_bytes", "start_us", prompt_tokens=pl.when(known).then(tokens.clip(0, MAX_PLACED))
        )
        session.register("incoming_places", places)
        session.execute("ingest.place_segments")
        session.unregister("incoming_places")


def _parts(session: Session, taken: pl.DataFrame, arrivals: Arrivals, renamed: pl.DataFrame) -> pl.DataFrame:
    """The separately billed parts of the snapshots whose usage counts: arriving ones, or those that stand."""
    columns = ["request_key", "part", "model_id", *PART_TOKENS]
    found = []
    if arrivals.parts is not None:
        parts = _renamed(arrivals.parts, renamed).rename({"model": "model_id"})
        found.append(_of(parts, taken, "usage_shard").select(columns))
    kept = taken.filter(pl.col("usage_shard").is_null()).select("request_key")
    if kept.height:
        session.register("kept_usage", kept)
        found.append(session.frame("ingest.standing_parts").select(columns))
        session.unregister("kept_usage")
    schema = dict.fromkeys(columns, pl.Int64) | {"model_id": pl.String}
    empty = pl.DataFrame(schema=schema)
    return pl.concat([empty, *(part.cast(empty.schema) for part in found)])


def _renamed(rows: pl.DataFrame, renamed: pl.DataFrame) -> pl.DataFrame:
    if not renamed.height:
        return rows
    joined = rows.join(renamed, on=["shard_no", "request_key"], how="left")
    return joined.with_columns(request_key=pl.coalesce("new_key", "request_key")).drop("new_key")


def _of(rows: pl.DataFrame, winners: pl.DataFrame, shard: str) -> pl.DataFrame:
    """The child rows that come from the shard which gave the winners' usage or prompt."""
    given = winners.select("request_key", shard_no=pl.col(shard))
    return rows.join(given, on=["request_key", "shard_no"], how="semi")
