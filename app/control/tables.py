"""The tables of the control store. Migrations are compared with this file by a test.

Times are microseconds UTC (`*_us`); secrets are never here: tokens are kept as hashes, options as references.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, ForeignKey, Integer, MetaData, String, Table, Text
from sqlalchemy.schema import Index, UniqueConstraint

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

findings = Table(
    "findings",
    metadata,
    Column("fingerprint", String(32), primary_key=True),  # stable across analyses: lever and scope
    Column("lever", String(64), nullable=False),
    Column("scope", Text, nullable=False),
    Column("status", String(16), nullable=False, default="open"),
    Column("reason", Text),
    Column("until_us", BigInteger),  # a dismissal may end by itself
    Column("owner", String(200)),
    Column("first_seen_us", BigInteger, nullable=False),
    Column("last_seen_us", BigInteger, nullable=False),
    CheckConstraint("status IN ('open', 'in_progress', 'done', 'dismissed')", name="status"),
)

finding_events = Table(
    "finding_events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fingerprint", String(32), ForeignKey("findings.fingerprint", ondelete="CASCADE"), nullable=False),
    Column("at_us", BigInteger, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("event", String(32), nullable=False),
    Column("detail", Text),
    Index("ix_finding_events_fingerprint", "fingerprint"),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("label", String(200), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("revoked_us", BigInteger),
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_hash", String(64), primary_key=True),
    Column("token_id", Integer, ForeignKey("access_tokens.id", ondelete="CASCADE"), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("kind", String(64), nullable=False),
    Column("options", Text, nullable=False),  # JSON; secrets only as env:NAME or file:PATH
    Column("enabled", Boolean, nullable=False, default=True),
    Column("created_us", BigInteger, nullable=False),
)

cursors = Table(
    "cursors",
    metadata,
    Column("source", String(200), ForeignKey("sources.name", ondelete="CASCADE"), primary_key=True),
    Column("cursor", Text),  # JSON, the connector's own
    Column("state", String(16), nullable=False, default="never"),
    Column("last_run_us", BigInteger),
    Column("error", Text),
    CheckConstraint("state IN ('never', 'running', 'ok', 'failed')", name="state"),
)

preferences = Table(
    "preferences",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("value", Text, nullable=False),  # JSON
    Column("changed_us", BigInteger, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("report", String(32), nullable=False),
    Column("period", String(32), nullable=False),
    Column("recipient", String(320), nullable=False),  # empty: written to the archive only
    Column("occasion", String(32), nullable=False),
    Column("message_id", String(200), nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("due_us", BigInteger),
    Column("next_try_us", BigInteger, nullable=False),
    Column("lease_us", BigInteger),
    Column("done_us", BigInteger),
    Column("subject", Text),
    Column("error", Text),
    CheckConstraint("state IN ('queued', 'sending', 'sent', 'archived', 'failed')", name="state"),
    UniqueConstraint("report", "period", "recipient", "occasion"),
    Index("ix_outbox_state", "state"),
)
