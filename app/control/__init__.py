"""The store of decisions: access, sources, findings and their life, budgets, batch jobs. SQLite or PostgreSQL."""

from app.control.database import migrate, open_control

__all__ = ["migrate", "open_control"]
