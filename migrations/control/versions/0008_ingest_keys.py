"""Keys that hand logs in, each for one source"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("api_keys", schema=None) as batch_op:
        batch_op.add_column(sa.Column("source", sa.String(length=200), nullable=True))
        batch_op.drop_constraint(batch_op.f("ck_api_keys_scope"), type_="check")
        batch_op.create_check_constraint(batch_op.f("ck_api_keys_scope"), "scope IN ('batch', 'ingest')")
