"""Keys of the API, files handed in for batches, and the batches made through the API"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.String(length=32), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("revoked_us", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("scope IN ('batch')", name=op.f("ck_api_keys_scope")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_api_keys_key_hash")),
    )
    op.create_table(
        "batch_files",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("expires_us", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("purpose IN ('batch', 'batch_output')", name=op.f("ck_batch_files_purpose")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batch_files")),
    )
    with op.batch_alter_table("batch_files", schema=None) as batch_op:
        batch_op.create_index("ix_batch_files_expires_us", ["expires_us"], unique=False)

    op.create_table(
        "api_batches",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("input_file_id", sa.String(length=40), nullable=False),
        sa.Column("endpoint", sa.String(length=64), nullable=False),
        sa.Column("completion_window", sa.String(length=16), nullable=False),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("errors", sa.Text(), nullable=True),
        sa.Column("output_file_id", sa.String(length=40), nullable=True),
        sa.Column("error_file_id", sa.String(length=40), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_batches")),
    )
    with op.batch_alter_table("api_batches", schema=None) as batch_op:
        batch_op.create_index("ix_api_batches_created_us", ["created_us"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("api_batches", schema=None) as batch_op:
        batch_op.drop_index("ix_api_batches_created_us")

    op.drop_table("api_batches")
    with op.batch_alter_table("batch_files", schema=None) as batch_op:
        batch_op.drop_index("ix_batch_files_expires_us")

    op.drop_table("batch_files")
    op.drop_table("api_keys")
