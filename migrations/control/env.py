"""Runs the migrations of the control store on the connection that `app.control.migrate` hands over."""

from alembic import context

from app.control.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
