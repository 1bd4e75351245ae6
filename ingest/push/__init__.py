"""Logs and traces that applications push: checked, written to a journal in the inbox, acknowledged, read afterwards."""
