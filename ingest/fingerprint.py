"""UsageEvent -> rows: the request row, its segments, lines of new segments, and texts worth keeping.

Hashes are keyed BLAKE2b of raw bytes (DESIGN.md section 4); only `request_key` is unkeyed.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from zlib import crc32

import msgspec

from app.core.hashing import BY_ID, BY_RECORD, call_identity, encoded, former_key, hash64
from app.core.money import pico
from app.core.response_ids import plain_id
from ingest.prints import BLOCK, HEAD, LONG_PART, Prints, signed

if TYPE_CHECKING:
    from app.core.usage import Part, UsageEvent
    from ingest.formats.format import Origin
    from ingest.prints import PartPrint
    from ingest.rows import Rows

Text = Literal["none", "shared", "all"]

FIRST_TEXTS: Final = 2_000  # in `shared`, texts of this many first requests are kept at first sight
SAMPLED_TEXTS: Final = 50  # and of every 50th after them, so that what changes in a prompt can be shown
_REMEMBERED: Final = 100_000
# Not part of the answer: where a cache breakpoint was set changes the bill, never the prompt.
_NOT_THE_ANSWER: Final = ("cache_marks",)
# Changing these invalidates cached messages but neither tools nor system blocks (Anthropic, prompt caching,
# "what invalidates the cache").
_MESSAGE_LEVEL: Final = ("thinking", "tool_choice")

_as_tuple = msgspec.structs.astuple


class Terms(NamedTuple):
    """What many requests have in common: who serves them, in which scope, with which parameters."""

    params_hash: int
    scope_digest: bytes  # where a cached prefix can be shared: the provider, the model and the account
    scope: int
    message_level: bytes  # parameters that only message caches depend on
    exact_head: bytes  # what begins an exact key


class Fingerprinter:
    """Turns events into rows of a shard; remembers texts and parameters that come again."""

    def __init__(self, key: bytes, text: Text = "shared") -> None:
        self.key = key
        self.text = text
        self._prints = Prints(key)
        self._digest = self._prints.digest
        self._requests = 0
        self._terms: dict[tuple[Any, ...], Terms] = {}
        self._memo: dict[str, int] = {}
        self._json: dict[Any, str] = {}
        self._labels: dict[tuple[str, str], bytes] = {}
        self._chains: dict[bytes, tuple[bytes, int]] = {}

    def add(self, rows: Rows, event: UsageEvent, place: Origin, chunk_no: int, raw: bytes, nth: int) -> None:
        """Append one event to the rows of a shard; `raw` are its record's bytes, `nth` its place in the record."""
        self._requests += 1
        given_id = event.provider_response_id
        if given_id is not None:
            event.provider_response_id = plain_id(given_id)
        record_id = event.source_record or event.provider_response_id or own_id(event, raw, place.file, place.line, nth)
        identity = call_identity(event.provider_response_id, place.source, record_id, event.provider, event.start_us)
        key = hash64(identity)
        if given_id is not None or identity.startswith(BY_RECORD):
            former = former_key(given_id, place.source, event.source_record or given_id or record_id, identity)
            if former is not None:
                rows.former(key, former, chunk_no, event, record_id, strong=identity.startswith(BY_ID))
        terms = self._terms_of(event)
        exact = scope = size = None
        slot = rows.next_slot()
        if event.prompt:
            scope = terms.scope
            exact, size = self._prompt(rows, slot, event.prompt, terms)
        elif event.prefix_hashes:
            scope = terms.scope
            size = self._blocks(rows, slot, event.prefix_hashes, event.prefix_block_tokens or 1, terms.scope_digest)
        output = event.output
        out_hash = None if output is None else self._hash(encoded(output))
        event.prompt = event.output = event.prefix_hashes = None
        warnings = event.warnings
        reported = None if event.cost_reported_usd is None else _pico_or_none(event.cost_reported_usd)
        if event.price_context and reported is None and "charge" in event.price_context:
            # A mark without an amount would make of any other source's claim what the provider charged.
            event.price_context = {name: value for name, value in event.price_context.items() if name != "charge"}
        extra = (
            key,
            chunk_no,
            place.line,
            record_id,
            None if event.user is None else self._remembered(event.user),
            None if event.api_key is None else self._remembered(event.api_key),
            event.api_key_alias or (None if event.api_key is None else alias(event.api_key)),
            None if not event.tags else self._json_of(event.tags),
            None if not event.units else self._json_of(event.units),
            None if not event.price_context else self._json_of(event.price_context),
            terms.params_hash,
            None if event.stop is None else self._remembered(event.stop),
            exact,
            scope,
            size,
            out_hash,
            " ".join(warnings) if warnings else None,
            crc32(raw) & 0xFFFF,
            reported,
        )
        rows.add(slot, key, _as_tuple(event), extra, event.parts)

    def _hash(self, data: bytes) -> int:
        number: int = signed(self._digest(data))[0]
        return number

    def _remembered(self, text: str) -> int:
        """The hash of a value that comes again often: a user, a key, a stop text."""
        found = self._memo.get(text)
        if found is None:
            if len(self._memo) > _REMEMBERED:
                self._memo.clear()
            found = self._memo[text] = self._hash(encoded(text))
        return found

    def _json_of(self, values: dict[str, Any]) -> str:
        """Canonical JSON of a small flat map."""
        identity = tuple(values.items())
        try:
            found = self._json.get(identity)
        except TypeError:
            return json.dumps(_without_nul(values), sort_keys=True, ensure_ascii=False, default=str)
        if found is None:
            if len(self._json) > _REMEMBERED:
                self._json.clear()
            found = self._json[identity] = json.dumps(_without_nul(values), sort_keys=True, ensure_ascii=False)
        return found

    def _terms_of(self, event: UsageEvent) -> Terms:
        identity = (
            event.operation,
            event.provider,
            event.model,
            event.account,
            event.params,
            event.max_tokens,
            event.temperature,
            event.top_p,
            event.n,
            event.seed,
            event.stop,
            event.response_format,
            event.reasoning_effort,
        )
        found = self._terms.get(identity)
        if found is None:
            if len(self._terms) > _REMEMBERED:
                self._terms.clear()
            found = self._terms[identity] = self._make_terms(event)
        return found

    def _make_terms(self, event: UsageEvent) -> Terms:
        """A parameter that was not sent differs from one that was sent as 0; 0 and 0.0 are the same."""
        stripped, message_level = _split_parameters(event.params) if event.params else ("", b"")
        shaping = (
            stripped,
            event.max_tokens,
            None if event.temperature is None else float(event.temperature),
            None if event.top_p is None else float(event.top_p),
            event.n,
            event.seed,
            event.stop,
            event.response_format,
            event.reasoning_effort,
        )
        params_hash = self._hash(encoded(repr(shaping)))
        scope = self._digest(encoded(repr(("scope", event.provider, event.model, event.account))))
        exact_head = encoded(f"{event.operation}\0{event.model}\0{params_hash}\0")
        return Terms(params_hash, scope, signed(scope)[0], message_level, exact_head)

    def _prompt(self, rows: Rows, slot: int, prompt: list[Part], terms: Terms) -> tuple[int, int]:
        """Append the segments of a prompt; returns (exact key, bytes of the prompt)."""
        prints, digest, segment, labels = self._prints, self._digest, rows.segment, self._labels
        chains = self._chains
        chain, message_level = terms.scope_digest, terms.message_level
        whole = [terms.exact_head]
        upto = pos = 0
        last = len(prompt) - 1
        for nth, part in enumerate(prompt):
            role, kind, text = part.role, part.kind, part.text
            found = prints.of(text)
            found.seen += 1
            label = labels.get((role, kind))
            if label is None:
                label = labels[role, kind] = encoded(f"{role}\0{kind}\0")
            if message_level and role not in ("tools", "system"):
                label = message_level + label
            before = chain + label
            size = found.size
            if size > LONG_PART and (upto < HEAD or nth == last):
                pos = self._long_part(rows, slot, pos, role, text, found, before, upto, nth == last)
            upto += size
            link = before + found.digest
            if found.seen > 1:  # a part that comes again often stands in the same place
                chain, number = chains.get(link) or self._chain(link)
            else:
                chain = digest(link)
                number = signed(chain)[0]
            segment((slot, pos, role, kind, found.hash, number, size, upto, True))
            pos += 1
            whole.append(label + found.digest)
            if not found.lines_out:
                found.lines_out = True
                rows.lines(found.hash, prints.lines(text, found))
            if not found.text_out and self._keeps(found.seen):
                found.text_out = True
                rows.text(found.hash, text)
        return self._hash(b"".join(whole)), upto

    def _chain(self, link: bytes) -> tuple[bytes, int]:
        """The chain up to the end of a part, and the number of it that is stored; remembered."""
        if len(self._chains) > _REMEMBERED:
            self._chains.clear()
        chain = self._digest(link)
        found = self._chains[link] = chain, signed(chain)[0]
        return found

    def _long_part(
        self,
        rows: Rows,
        slot: int,
        pos: int,
        role: str,
        text: str,
        found: PartPrint,
        before: bytes,
        upto: int,
        is_last: bool,
    ) -> int:
        """Append the blocks of a long part: of the last part all, of others those in the head. Returns the next pos."""
        for index, (running, own) in enumerate(self._prints.blocks(text, found), start=1):
            end = upto + index * BLOCK
            if end > HEAD and not is_last:
                break
            link = self._hash(before + b"\1" + running)
            rows.segment((slot, pos, role, "block", own, link, BLOCK, end, False))
            pos += 1
        return pos

    def _keeps(self, seen: int) -> bool:
        if self.text == "shared":
            return seen > 1 or self._requests <= FIRST_TEXTS or self._requests % SAMPLED_TEXTS == 0
        return self.text == "all"

    def _blocks(self, rows: Rows, slot: int, ids: list[int], step: int, chain: bytes) -> int:
        """One segment a block of an already hashed prefix; its bytes are counted as one a token. Returns their sum."""
        for pos, block in enumerate(ids):
            own = encoded(str(block))
            chain = self._digest(chain + own)
            rows.segment((slot, pos, "user", "text", self._hash(own), signed(chain)[0], step, (pos + 1) * step, True))
        return len(ids) * step


def alias(api_key: str) -> str:
    """What may be shown of a key: its last four characters."""
    return f"…{api_key[-4:]}" if len(api_key) > 8 else "…"


def _without_nul(values: dict[str, Any]) -> dict[str, Any]:
    """The map without NUL characters: JSON would carry them past the redaction as an escape."""
    return {
        key.replace("\0", ""): value.replace("\0", "") if type(value) is str else value for key, value in values.items()
    }


def _split_parameters(params: str) -> tuple[str, bytes]:
    try:
        given = json.loads(params)
    except (ValueError, RecursionError):
        return params, b""
    if not isinstance(given, dict):
        return params, b""
    kept = {name: value for name, value in given.items() if name not in _NOT_THE_ANSWER}
    message = {name: given[name] for name in _MESSAGE_LEVEL if given.get(name) is not None}
    text = json.dumps(kept, sort_keys=True) if kept else ""
    return text, encoded(json.dumps(message, sort_keys=True)) if message else b""


def own_id(event: UsageEvent, raw: bytes, file: str, line: int, nth: int) -> str:
    """The id of a record whose source gives none: its own bytes and its line number.

    The file's name is no part of it, so a rotated or compressed copy of a log adds nothing; only where a record carries
    no time, and equal bytes on equal lines prove little, does the name decide too.
    """
    digest = blake2b(raw, digest_size=12, person=b"halve own id")
    digest.update(f"\0{line}\0{nth}\0{file if event.start_us is None else ''}".encode())
    return "~" + digest.hexdigest()


def _pico_or_none(amount: str) -> int | None:
    try:
        value = pico(amount)
    except ArithmeticError:
        return None
    return value if -(2**63) <= value < 2**63 else None
