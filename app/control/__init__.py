"""The store of decisions: access, sources and cursors, findings and their life, preferences. SQLite or PostgreSQL."""

from app.control.database import migrate, open_control

__all__ = ["migrate", "open_control"]
