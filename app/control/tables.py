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
    Column("fresh_us", BigInteger),  # what began before has been asked for
    Column("complete_us", BigInteger),  # what began before is in, late rows included
    Column("records", BigInteger, nullable=False, default=0, server_default="0"),  # handed over, repeats included
    CheckConstraint("state IN ('never', 'running', 'ok', 'failed')", name="state"),
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

JOB_STATES = ("queued", "scheduled", "submitting", "submitted", "settling", "settled", "waiting_for_quota")
JOB_OUTCOMES = ("completed", "partly", "expired", "failed", "cancelled")
ITEM_STATES = ("queued", "submitted", "succeeded", "failed", "expired", "cancelled")


def _one_of(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


batch_jobs = Table(
    "batch_jobs",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("provider", String(32), nullable=False),
    Column("base_url", Text),  # None is the provider's own address
    Column("key_ref", Text),  # env:NAME or file:PATH
    Column("label", String(200), nullable=False),
    Column("feature", String(200)),
    Column("tags", Text, nullable=False),  # JSON object of text
    Column("zone", String(64), nullable=False),  # in which the caller named the times
    Column("created_us", BigInteger, nullable=False),
    Column("start_us", BigInteger, nullable=False),  # nothing is sent before
    Column("needed_by_us", BigInteger),
    Column("state", String(24), nullable=False),
    Column("outcome", String(16)),
    Column("error", Text),
    Column("warning", Text),
    Column("items", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("tokens_est", BigInteger, nullable=False),
    Column("estimate", Text),  # JSON, as it was shown before the job ran
    Column("max_attempts", Integer, nullable=False),
    Column("queued_tokens", BigInteger),  # limit of the account's queue a model, given or learnt
    Column("webhook_url", Text),
    Column("webhook_key_ref", Text),
    Column("cancel_us", BigInteger),
    Column("settled_us", BigInteger),
    Column("results_until_us", BigInteger),  # until when the provider keeps what is not downloaded yet
    Column("next_us", BigInteger, nullable=False),  # when the next step is due
    CheckConstraint(_one_of("state", JOB_STATES), name="state"),
    CheckConstraint(_one_of("outcome", JOB_OUTCOMES), name="outcome"),
    Index("ix_batch_jobs_next_us", "next_us"),
)

batch_parts = Table(
    "batch_parts",
    metadata,
    Column("job_id", String(40), ForeignKey("batch_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("model", String(200)),  # None where the provider mixes models
    Column("endpoint", String(64), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", String(24), nullable=False),
    Column("outcome", String(16)),
    Column("error", Text),
    Column("items", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("tokens_est", BigInteger, nullable=False),
    Column("mark", String(64), nullable=False, unique=True),  # carried by the provider's batch and by every safe id
    Column("batch_id", String(200)),  # the provider's
    Column("sure", Boolean, nullable=False),  # false: adopted by time and size, the results must prove it
    Column("not_ours", Text),  # JSON list of batches that were taken for this part and proved to be another's
    Column("intent_us", BigInteger),  # stored before the provider is asked
    Column("looked_us", BigInteger),  # since when the provider's list is searched for a lost answer
    Column("submitted_us", BigInteger),
    Column("ended_us", BigInteger),
    Column("ended_reason", String(16)),
    Column("expires_us", BigInteger),
    Column("downloaded_us", BigInteger),
    Column("settled_us", BigInteger),
    Column("done", Integer),  # as the provider reports while it works
    Column("failures", Integer, nullable=False),  # in a row, of the step that is due
    Column("next_us", BigInteger, nullable=False),
    CheckConstraint(_one_of("state", JOB_STATES), name="state"),
    CheckConstraint(_one_of("outcome", JOB_OUTCOMES), name="outcome"),
)

batch_items = Table(
    "batch_items",
    metadata,
    Column("job_id", String(40), ForeignKey("batch_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),  # place in the caller's file, from 0
    Column("caller_id", Text, nullable=False),
    Column("part", Integer, nullable=False),  # the part that holds it now
    Column("position", Integer, nullable=False),  # order of sending: equal prefixes stand together
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("byte_from", BigInteger, nullable=False),
    Column("byte_size", Integer, nullable=False),
    Column("tokens_est", Integer, nullable=False),
    Column("http_status", Integer),
    Column("error_code", String(200)),
    Column("error", String(500)),
    CheckConstraint(_one_of("state", ITEM_STATES), name="state"),
    Index("ix_batch_items_job_id_part", "job_id", "part"),
)

batch_webhooks = Table(
    "batch_webhooks",
    metadata,
    Column("job_id", String(40), ForeignKey("batch_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("body", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_us", BigInteger, nullable=False),
    Column("sent_us", BigInteger),
    Column("error", Text),
    CheckConstraint("state IN ('waiting', 'sent', 'failed')", name="state"),
)

RUN_STATES = ("running", "ok", "failed", "interrupted")
RUN_CAUSES = ("clock", "asked")

schedules = Table(
    "schedules",
    metadata,
    Column("job", String(64), primary_key=True),
    Column("rule", String(64), nullable=False),  # as app.jobs.rule reads it: "daily 03:00"
    Column("zone", String(64), nullable=False),  # in which the rule names its times
    Column("enabled", Boolean, nullable=False),
    Column("chosen", Boolean, nullable=False),  # false: follows the default of the version that runs
    Column("anchor_us", BigInteger, nullable=False),  # intervals are counted from here, never from the last run
    Column("covered_us", BigInteger, nullable=False),  # everything due up to here was run or left out for good
    Column("asked_us", BigInteger),  # when somebody asked for a run that did not begin yet
)

job_runs = Table(
    "job_runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("job", String(64), nullable=False),
    Column("period", String(64), nullable=False),  # local day of a calendar rule, else the instant
    Column("attempt", Integer, nullable=False),
    Column("cause", String(16), nullable=False),
    Column("scheduled_us", BigInteger, nullable=False),
    Column("first_us", BigInteger, nullable=False),  # earlier than scheduled_us where missed runs are caught up
    Column("missed", Integer, nullable=False),
    Column("late", Boolean, nullable=False),
    Column("state", String(16), nullable=False),
    Column("holder", String(64), nullable=False),
    Column("lease_us", BigInteger, nullable=False),
    Column("started_us", BigInteger, nullable=False),
    Column("ended_us", BigInteger),
    Column("error", Text),
    Column("lines", Text, nullable=False),
    CheckConstraint(_one_of("state", RUN_STATES), name="state"),
    CheckConstraint(_one_of("cause", RUN_CAUSES), name="cause"),
    UniqueConstraint("job", "period", "attempt"),
    Index("ix_job_runs_state", "state"),
)

leases = Table(
    "leases",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("holder", String(64), nullable=False),
    Column("until_us", BigInteger, nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("scope", String(32), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("revoked_us", BigInteger),
    Column("source", String(200)),
    CheckConstraint("scope IN ('batch', 'ingest')", name="scope"),
)

batch_files = Table(
    "batch_files",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("purpose", String(16), nullable=False),
    Column("name", String(200), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
    CheckConstraint("purpose IN ('batch', 'batch_output')", name="purpose"),
    Index("ix_batch_files_expires_us", "expires_us"),
)

api_batches = Table(
    "api_batches",
    metadata,
    Column("id", String(40), primary_key=True),  # of the job, where the file was good enough for one
    Column("input_file_id", String(40), nullable=False),
    Column("endpoint", String(64), nullable=False),
    Column("completion_window", String(16), nullable=False),
    Column("notes", Text),  # JSON object of text: the caller's metadata
    Column("created_us", BigInteger, nullable=False),
    Column("errors", Text),  # JSON list; then no job was made
    Column("output_file_id", String(40)),
    Column("error_file_id", String(40)),
    Index("ix_api_batches_created_us", "created_us"),
)

budgets = Table(
    "budgets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("amount_usd", String(40), nullable=False),  # decimal text: pico-USD of large budgets pass 64 bits
    Column("every", String(8), nullable=False),
    Column("anchor", Integer, nullable=False),  # day of the month, or of the week (0 is Monday); 0 for days
    Column("zone", String(64), nullable=False),
    Column("dimension", String(32)),  # with value: what it covers; neither: everything
    Column("value", Text),
    Column("thresholds", Text, nullable=False),  # per cent, rising, separated by spaces
    Column("forecast", Boolean, nullable=False),  # whether a forecast above the amount is told too
    Column("created_us", BigInteger, nullable=False),
    Column("changed_us", BigInteger, nullable=False),  # when it last changed what it measures
    Column("removed_us", BigInteger),
    CheckConstraint("every IN ('day', 'week', 'month')", name="every"),
)

budget_alerts = Table(
    "budget_alerts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("budget_id", Integer, ForeignKey("budgets.id", ondelete="CASCADE"), nullable=False),
    Column("basis", String(32), nullable=False),  # what the budget measured then: an edit arms it anew
    Column("period", String(10), nullable=False),  # first local day
    Column("threshold", String(16), nullable=False),  # per cent, or forecast
    Column("carrier_id", Integer),  # the alert whose message told of this one too
    Column("facts", Text),  # JSON, what the message says; none where this one has no message of its own
    Column("at_us", BigInteger, nullable=False),
    UniqueConstraint("budget_id", "basis", "period", "threshold"),
)

overlap_decisions = Table(
    "overlap_decisions",
    metadata,
    Column("source_a", String(200), primary_key=True),  # before source_b by name
    Column("source_b", String(200), primary_key=True),
    Column("counted", String(200)),  # the one whose calls count; none: both do, they are different traffic
    Column("decided_us", BigInteger, nullable=False),
)
