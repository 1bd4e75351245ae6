"""Findings, access, sources and preferences"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("revoked_us", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_access_tokens_token_hash")),
    )
    op.create_table(
        "findings",
        sa.Column("fingerprint", sa.String(length=32), nullable=False),
        sa.Column("lever", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("until_us", sa.BigInteger(), nullable=True),
        sa.Column("owner", sa.String(length=200), nullable=True),
        sa.Column("first_seen_us", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_us", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("status IN ('open', 'in_progress', 'done', 'dismissed')", name=op.f("ck_findings_status")),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_findings")),
    )
    op.create_table(
        "preferences",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("changed_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_preferences")),
    )
    op.create_table(
        "sources",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sources")),
    )
    op.create_table(
        "cursors",
        sa.Column("source", sa.String(length=200), nullable=False),
        sa.Column("cursor", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("last_run_us", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('never', 'running', 'ok', 'failed')", name=op.f("ck_cursors_state")),
        sa.ForeignKeyConstraint(
            ["source"], ["sources.name"], name=op.f("fk_cursors_source_sources"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_cursors")),
    )
    op.create_table(
        "finding_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(length=32), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("event", sa.String(length=32), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["fingerprint"],
            ["findings.fingerprint"],
            name=op.f("fk_finding_events_fingerprint_findings"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finding_events")),
    )
    with op.batch_alter_table("finding_events", schema=None) as batch_op:
        batch_op.create_index("ix_finding_events_fingerprint", ["fingerprint"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("session_hash", sa.String(length=64), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("expires_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["token_id"], ["access_tokens.id"], name=op.f("fk_sessions_token_id_access_tokens"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_hash", name=op.f("pk_sessions")),
    )


def downgrade() -> None:
    op.drop_table("sessions")
    with op.batch_alter_table("finding_events", schema=None) as batch_op:
        batch_op.drop_index("ix_finding_events_fingerprint")

    op.drop_table("finding_events")
    op.drop_table("cursors")
    op.drop_table("sources")
    op.drop_table("preferences")
    op.drop_table("findings")
    op.drop_table("access_tokens")
