"""Batch jobs, their parts and items, and the messages to their callers"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "batch_jobs",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=True),
        sa.Column("key_ref", sa.Text(), nullable=True),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("feature", sa.String(length=200), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("zone", sa.String(length=64), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("start_us", sa.BigInteger(), nullable=False),
        sa.Column("needed_by_us", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("warning", sa.Text(), nullable=True),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("tokens_est", sa.BigInteger(), nullable=False),
        sa.Column("estimate", sa.Text(), nullable=True),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("queued_tokens", sa.BigInteger(), nullable=True),
        sa.Column("webhook_url", sa.Text(), nullable=True),
        sa.Column("webhook_key_ref", sa.Text(), nullable=True),
        sa.Column("cancel_us", sa.BigInteger(), nullable=True),
        sa.Column("settled_us", sa.BigInteger(), nullable=True),
        sa.Column("results_until_us", sa.BigInteger(), nullable=True),
        sa.Column("next_us", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('completed', 'partly', 'expired', 'failed', 'cancelled')", name=op.f("ck_batch_jobs_outcome")
        ),
        sa.CheckConstraint(
            "state IN ('queued', 'scheduled', 'submitting', 'submitted', 'settling', 'settled', 'waiting_for_quota')",
            name=op.f("ck_batch_jobs_state"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batch_jobs")),
    )
    with op.batch_alter_table("batch_jobs", schema=None) as batch_op:
        batch_op.create_index("ix_batch_jobs_next_us", ["next_us"], unique=False)

    op.create_table(
        "batch_items",
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("caller_id", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("byte_from", sa.BigInteger(), nullable=False),
        sa.Column("byte_size", sa.Integer(), nullable=False),
        sa.Column("tokens_est", sa.Integer(), nullable=False),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("error_code", sa.String(length=200), nullable=True),
        sa.Column("error", sa.String(length=500), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'submitted', 'succeeded', 'failed', 'expired', 'cancelled')",
            name=op.f("ck_batch_items_state"),
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["batch_jobs.id"], name=op.f("fk_batch_items_job_id_batch_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "seq", name=op.f("pk_batch_items")),
    )
    with op.batch_alter_table("batch_items", schema=None) as batch_op:
        batch_op.create_index("ix_batch_items_job_id_part", ["job_id", "part"], unique=False)

    op.create_table(
        "batch_parts",
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=True),
        sa.Column("endpoint", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("tokens_est", sa.BigInteger(), nullable=False),
        sa.Column("mark", sa.String(length=64), nullable=False),
        sa.Column("batch_id", sa.String(length=200), nullable=True),
        sa.Column("sure", sa.Boolean(), nullable=False),
        sa.Column("not_ours", sa.Text(), nullable=True),
        sa.Column("intent_us", sa.BigInteger(), nullable=True),
        sa.Column("looked_us", sa.BigInteger(), nullable=True),
        sa.Column("submitted_us", sa.BigInteger(), nullable=True),
        sa.Column("ended_us", sa.BigInteger(), nullable=True),
        sa.Column("ended_reason", sa.String(length=16), nullable=True),
        sa.Column("expires_us", sa.BigInteger(), nullable=True),
        sa.Column("downloaded_us", sa.BigInteger(), nullable=True),
        sa.Column("settled_us", sa.BigInteger(), nullable=True),
        sa.Column("done", sa.Integer(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_us", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('completed', 'partly', 'expired', 'failed', 'cancelled')", name=op.f("ck_batch_parts_outcome")
        ),
        sa.CheckConstraint(
            "state IN ('queued', 'scheduled', 'submitting', 'submitted', 'settling', 'settled', 'waiting_for_quota')",
            name=op.f("ck_batch_parts_state"),
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["batch_jobs.id"], name=op.f("fk_batch_parts_job_id_batch_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_batch_parts")),
        sa.UniqueConstraint("mark", name=op.f("uq_batch_parts_mark")),
    )
    op.create_table(
        "batch_webhooks",
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_us", sa.BigInteger(), nullable=False),
        sa.Column("sent_us", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('waiting', 'sent', 'failed')", name=op.f("ck_batch_webhooks_state")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["batch_jobs.id"], name=op.f("fk_batch_webhooks_job_id_batch_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_batch_webhooks")),
    )


def downgrade() -> None:
    op.drop_table("batch_webhooks")
    op.drop_table("batch_parts")
    with op.batch_alter_table("batch_items", schema=None) as batch_op:
        batch_op.drop_index("ix_batch_items_job_id_part")

    op.drop_table("batch_items")
    with op.batch_alter_table("batch_jobs", schema=None) as batch_op:
        batch_op.drop_index("ix_batch_jobs_next_us")

    op.drop_table("batch_jobs")
