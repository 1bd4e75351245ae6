"""How fresh and how complete each source is, and how many records it has handed over"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("cursors", schema=None) as batch_op:
        batch_op.add_column(sa.Column("fresh_us", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("complete_us", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("records", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    with op.batch_alter_table("cursors", schema=None) as batch_op:
        batch_op.drop_column("records")
        batch_op.drop_column("complete_us")
        batch_op.drop_column("fresh_us")
