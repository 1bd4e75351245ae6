"""`halve batch`: jobs for the batch APIs of providers."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import click

from app.commands.options import json_option, print_lines, settings_of


@click.group()
def batch() -> None:
    """Jobs for the batch APIs of providers: sent at their time, followed to the end, charged once."""


@batch.command("submit")
@click.argument("file", type=click.Path(dir_okay=False), metavar="FILE")
@click.option("--provider", required=True, metavar="NAME", help="openai (and compatible), anthropic, demo (made-up).")
@click.option("--at", metavar="TIME", help="When it starts: 02:00 (the next one) or 2026-12-01T02:00; else at once.")
@click.option("--needed-by", metavar="TIME", help="When the results must be there; refused where that cannot be met.")
@click.option("--zone", metavar="ZONE", help="Named time zone of these times.")
@click.option("--label", default="", metavar="TEXT", help="How you call the job.")
@click.option("--feature", metavar="NAME", help="The feature that its cost belongs to.")
@click.option("--key", metavar="REFERENCE", help="env:NAME or file:PATH of the provider's key; never stored itself.")
@click.option("--base-url", metavar="URL", help="Another address of the provider's protocol, under HALVE_ALLOW_HOSTS.")
@click.option("--attempts", type=int, default=3, show_default=True, help="How often an item is sent at most.")
@click.option("--queued-tokens", type=int, metavar="N", help="Your account's limit of queued prompt tokens a model.")
@click.option("--webhook", metavar="URL", help="Who is told when the job is settled, under HALVE_ALLOW_HOSTS.")
@click.option("--webhook-key", metavar="REFERENCE", help="env:NAME or file:PATH of the secret that signs the webhook.")
@json_option
def submit(
    file: str,
    provider: str,
    at: str | None,
    needed_by: str | None,
    zone: str | None,
    label: str,
    feature: str | None,
    key: str | None,
    base_url: str | None,
    attempts: int,
    queued_tokens: int | None,
    webhook: str | None,
    webhook_key: str | None,
    as_json: bool,
) -> None:
    """Take in the requests of FILE: JSONL in the provider's own batch layout.

    Every line is checked here, with its number, before anything is sent.
    """
    from app.batch import Order
    from app.main import batches
    from reports import batch_jobs

    settings = settings_of(zone=zone)
    order = Order(
        provider=provider,
        label=label or Path(file).name,
        feature=feature,
        zone=settings.zone,
        base_url=base_url,
        key_ref=key,
        max_attempts=attempts,
        queued_tokens=queued_tokens,
        webhook_url=webhook,
        webhook_key_ref=webhook_key,
    )
    job = batches.submit(Path(file), settings, order=order, at=at, needed_by=needed_by)
    click.echo(json.dumps(job) if as_json else batch_jobs.detail(job))


@batch.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the jobs, newest first."""
    from app.main import batches
    from reports import batch_jobs

    jobs = batches.listed(settings_of())
    click.echo(json.dumps(jobs) if as_json else batch_jobs.table(jobs))


@batch.command("show")
@click.argument("job")
@json_option
def show(job: str, as_json: bool) -> None:
    """Show where JOB stands, what it is expected to cost and what went wrong."""
    from app.main import batches
    from reports import batch_jobs

    found = batches.shown(settings_of(), job)
    click.echo(json.dumps(found) if as_json else batch_jobs.detail(found))


@batch.command("cancel")
@click.argument("job")
@json_option
def cancel(job: str, as_json: bool) -> None:
    """Stop JOB: what is not sent never will be, what is sent is stopped at the provider and settled."""
    from app.main import batches
    from reports import batch_jobs

    found = batches.cancelled(settings_of(), job)
    click.echo(json.dumps(found) if as_json else batch_jobs.detail(found))


@batch.command("results")
@click.argument("job")
@click.option("--wait", is_flag=True, help="Wait until the job is settled; advances it where no service runs.")
@click.option("--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write them here (default: print).")
def results(job: str, wait: bool, output: str | None) -> None:
    """Give the results of JOB: one line an item, in the order and under the ids of your file."""
    from app.main import batches

    path = batches.results(settings_of(), job, wait=wait)
    if output is not None:
        shutil.copyfile(path, output)
        return
    printed = sys.stdout.buffer
    with path.open("rb") as lines:
        for line in lines:
            printed.write(line)


@batch.command("advance")
@json_option
def advance(as_json: bool) -> None:
    """Take every job that is due one step further by hand; a running service does so by itself."""
    from app.main import batches

    found = batches.advanced(settings_of())
    if as_json:
        click.echo(json.dumps(found))
    elif found["busy"]:
        click.echo("Another process moves the jobs right now; nothing was done here.")
    else:
        click.echo(f"Due: {found['jobs']}. Settled now: {found['settled']}.")
        print_lines(found["errors"])
