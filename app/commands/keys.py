"""`halve keys`: what machines show to hand in batches or logs."""

from __future__ import annotations

import json
from typing import Literal

import click

from app.commands.options import json_option, settings_of


@click.group()
def keys() -> None:
    """Keys for machines: to hand batches in over the OpenAI-compatible API, or to push logs and traces."""


@keys.command("create")
@click.argument("name")
@click.option(
    "--scope", type=click.Choice(["batch", "ingest"]), default="batch", show_default=True, help="What the key opens."
)
@click.option("--source", metavar="NAME", help="With --scope ingest: the source that pushed logs belong to.")
def create(name: str, scope: Literal["batch", "ingest"], source: str | None) -> None:
    """Make a key called NAME and print it; it is shown this once."""
    from app.main import keys as deeds

    click.echo(deeds.create(settings_of(), name, scope, source))
    click.echo("Only its hash is kept. Give it to the client as its API key.", err=True)


@keys.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the keys with what they open and since when; their text is known to nobody here."""
    from app.main import keys as deeds
    from reports import tables

    rows = deeds.listed(settings_of())
    click.echo(json.dumps(rows) if as_json else tables.keys(rows))


@keys.command("revoke")
@click.argument("name")
def revoke(name: str) -> None:
    """End the key NAME at once."""
    from app.main import keys as deeds

    deeds.revoke(settings_of(), name)
    click.echo(f"{name} opens nothing any more.")
