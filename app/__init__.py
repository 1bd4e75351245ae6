"""Halve: where the money of LLM calls goes, what to do about it, and whether it worked.

Read in this order: `core` (the vocabulary), `warehouse` and `pricing` (the facts and their dollars), `analysis`
(templates, attribution, spend), `replay` (what a cache would have done), `levers` and `plan` (what to change and
what it is worth together), `web` (pages). `ingest` brings logs in, `reports` carries results out, `main` wires.
"""
