"""Migrations of both stores: `control/` is Alembic, `warehouse/NNNN_name.sql` is numbered."""
