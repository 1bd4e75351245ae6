"""Decisions and state machines in SQLite or PostgreSQL: access, sources and cursors, findings and their status."""
