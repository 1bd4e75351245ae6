"""Prices: dated list rates, our overlay and the user's own terms, compiled into one table. Runs no SQL."""
