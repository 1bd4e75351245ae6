"""Dated rates: compiled once into a wide table; models and their capabilities. Runs no SQL."""
