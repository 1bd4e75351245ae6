"""What people said about sources that tell of the same calls"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "overlap_decisions",
        sa.Column("source_a", sa.String(length=200), nullable=False),
        sa.Column("source_b", sa.String(length=200), nullable=False),
        sa.Column("counted", sa.String(length=200), nullable=True),
        sa.Column("decided_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source_a", "source_b", name=op.f("pk_overlap_decisions")),
    )


def downgrade() -> None:
    op.drop_table("overlap_decisions")
