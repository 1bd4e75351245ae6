"""Batch jobs, their parts and their items: states in bulk, never one object an item.

The machine that moves them is `app.batch`; this package stores and reads. Bodies and results lie on disk beside it.
"""

from app.control.batches.at_provider import known_batches, tokens_in_queue, unresolved
from app.control.batches.item_store import all_items, items_of_part, record_outcomes, tally, top_errors, waiting_items
from app.control.batches.job_store import add, due, finish, job, jobs, update_job
from app.control.batches.part_store import add_parts, part, parts, settle_part, update_part
from app.control.batches.records import (
    NEVER_US,
    Item,
    ItemOutcome,
    ItemState,
    Job,
    Outcome,
    Part,
    State,
    Tally,
    Webhook,
)
from app.control.batches.webhooks import due_webhooks, update_webhook, webhook_of

__all__ = [
    "NEVER_US",
    "Item",
    "ItemOutcome",
    "ItemState",
    "Job",
    "Outcome",
    "Part",
    "State",
    "Tally",
    "Webhook",
    "add",
    "add_parts",
    "all_items",
    "due",
    "due_webhooks",
    "finish",
    "items_of_part",
    "job",
    "jobs",
    "known_batches",
    "part",
    "parts",
    "record_outcomes",
    "settle_part",
    "tally",
    "tokens_in_queue",
    "top_errors",
    "unresolved",
    "update_job",
    "update_part",
    "update_webhook",
    "waiting_items",
    "webhook_of",
]
