"""The settings of a report that goes to two readers, and what lies in its outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from report_office import Mailbox, settings_of

from app.control import outbox

if TYPE_CHECKING:
    from app.main.runtime import Runtime
    from app.settings import Settings

TO = "ana@acme.example ben@acme.example"


def settings(runtime: Runtime, box: Mailbox | None = None, **given: Any) -> Settings:
    values = {"smtp_url": box.url if box else "", "mail_from": "halve@acme.example", "mail_to": TO} | given
    return settings_of(runtime.data_dir, **values)


def letters(runtime: Runtime) -> list[outbox.Letter]:
    return list(reversed(outbox.newest(runtime.control)))
