"""What applications push: the journal behind the push endpoints, and its reading before the inbox is taken in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.web.push_desk import PushDesk, Receipt
from ingest.install_key import install_key
from ingest.push.checking import Checked, check_export, check_records
from ingest.push.journal import Journal, waiting_bytes, waits
from ingest.push.taking import Taker, bring_back

if TYPE_CHECKING:
    from pathlib import Path

    from app.web.push_desk import Signal
    from ingest.fingerprint import Text

MOST_WAITING_BYTES: Final = 512 * 1024 * 1024
LOOK_EVERY: Final = 16
NO_METRICS: Final = "Halve reads traces and logs; metrics count the same tokens once more and are not stored."


class Pushes:
    """Keeps and reads what is pushed, for one running service."""

    def __init__(self, data_dir: Path, text: Text, most_waiting_bytes: int = MOST_WAITING_BYTES) -> None:
        self.data_dir = data_dir
        self.most_waiting_bytes = most_waiting_bytes
        self.text = text
        self.journal = Journal(data_dir)
        self._taker: Taker | None = None
        self._since_look = LOOK_EVERY
        self._full = False

    def start(self) -> None:
        """Begin to keep what comes; what an earlier version could not read waits once more."""
        bring_back(self.data_dir)
        self.journal.start()

    def desk(self) -> PushDesk:
        """What the endpoints can do."""
        return PushDesk(export=self._export, records=self._records, full=self.full)

    def waits(self) -> bool:
        """Whether anything waits to be read: a cheap look."""
        return waits(self.data_dir)

    def take(self) -> int:
        """Turn what waits into shards of the inbox; returns how many segments that were."""
        if not self.waits():
            return 0
        if self._taker is None:
            self._taker = Taker(self.data_dir, install_key(self.data_dir), self.text)
        taken = self._taker.take()
        self._since_look = LOOK_EVERY
        return taken

    def full(self) -> bool:
        """Whether more waits than is kept; looked up every few requests only."""
        self._since_look += 1
        if self._full or self._since_look >= LOOK_EVERY:
            self._full = waiting_bytes(self.data_dir) > self.most_waiting_bytes
            self._since_look = 0
        return self._full

    def _export(self, source: str, signal: Signal, body: bytes, as_json: bool) -> Receipt:
        if signal == "metrics":
            return Receipt(None, 0, NO_METRICS)
        return self._receipt(check_export(source, signal, body, as_json=as_json))

    def _records(self, source: str, body: bytes, form: str) -> Receipt:
        return self._receipt(check_records(source, body, form))

    def _receipt(self, checked: Checked) -> Receipt:
        done = None if checked.pushed is None else self.journal.add(checked.pushed)
        return Receipt(done, checked.rejected, checked.message)
