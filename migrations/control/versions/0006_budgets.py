"""Budgets and the alerts that they gave"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "budgets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("amount_usd", sa.String(length=40), nullable=False),
        sa.Column("every", sa.String(length=8), nullable=False),
        sa.Column("anchor", sa.Integer(), nullable=False),
        sa.Column("zone", sa.String(length=64), nullable=False),
        sa.Column("dimension", sa.String(length=32), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("thresholds", sa.Text(), nullable=False),
        sa.Column("forecast", sa.Boolean(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("changed_us", sa.BigInteger(), nullable=False),
        sa.Column("removed_us", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("every IN ('day', 'week', 'month')", name=op.f("ck_budgets_every")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_budgets")),
    )
    op.create_table(
        "budget_alerts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("budget_id", sa.Integer(), nullable=False),
        sa.Column("basis", sa.String(length=32), nullable=False),
        sa.Column("period", sa.String(length=10), nullable=False),
        sa.Column("threshold", sa.String(length=16), nullable=False),
        sa.Column("carrier_id", sa.Integer(), nullable=True),
        sa.Column("facts", sa.Text(), nullable=True),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["budget_id"], ["budgets.id"], name=op.f("fk_budget_alerts_budget_id_budgets"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_budget_alerts")),
        sa.UniqueConstraint("budget_id", "basis", "period", "threshold", name=op.f("uq_budget_alerts_budget_id")),
    )


def downgrade() -> None:
    op.drop_table("budget_alerts")
    op.drop_table("budgets")
