"""`halve sources`: where logs come from, and how their tokens are billed."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from app.commands.options import json_option, settings_of
from app.core.errors import UsageError


@click.group()
def sources() -> None:
    """Where logs come from, and how their tokens are billed."""


@sources.command("add")
@click.argument("kind", metavar="KIND")
@click.argument("name", required=False)
@click.option("--name", "named", metavar="NAME", help="The same as NAME (default: the kind).")
@click.option("--url", metavar="URL", help="Address of the server, the database or the bucket.")
@click.option("--key", "--token", "key", metavar="REFERENCE", help="env:NAME or file:PATH of its key; never the key.")
@click.option("--secret", metavar="REFERENCE", help="The second half of a pair of keys, likewise.")
@click.option("--path", metavar="FOLDER", help="The folder to read, under HALVE_INGEST_ROOTS.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="Any other option of the kind.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="First day to ask for (35 days ago).")
@click.option("--every", metavar="DURATION", help="How often to look (15m, bills 6h).")
def add(
    kind: str,
    name: str | None,
    named: str | None,
    options: tuple[str, ...],
    since: datetime | None,
    every: str | None,
    **given: str | None,
) -> None:
    """Add a source that the service pulls; `halve sources kinds` lists the kinds and what each takes.

    What HALVE_ALLOW_HOSTS or HALVE_INGEST_ROOTS would refuse later is refused now. The same NAME again changes it.
    """
    from app.main import sources as deeds
    from app.replay.trace import ttl_from_text

    pairs = [one.partition("=") for one in options]
    if wrong := [text for text, (_, mark, _) in zip(options, pairs, strict=True) if not mark]:
        raise UsageError(f"An option is written NAME=VALUE, not {wrong[0]!r}.")
    added = deeds.add_source(
        settings_of(),
        kind=kind,
        name=name or named or kind,
        given={**given, **{option: value for option, _, value in pairs}},
        every_us=None if every is None else ttl_from_text(every) or 0,
        since_us=None if since is None else int(since.replace(tzinfo=UTC).timestamp()) * 1_000_000,
    )
    click.echo(f"Added {added}. The service picks it up within a minute.")


@sources.command("kinds")
@json_option
def kinds(as_json: bool) -> None:
    """List the kinds of sources, what each reads and what it takes."""
    from app.main import sources as deeds
    from reports import tables

    kinds = deeds.source_kinds()
    click.echo(json.dumps(kinds) if as_json else tables.source_kinds(kinds))


@sources.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Stop pulling source NAME and forget where it stood; what was read of it stays."""
    from app.main import sources as deeds

    deeds.remove_source(settings_of(), name)
    click.echo(f"{name} is pulled no more. Its requests stay.")


@sources.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the sources: those that are pulled with their state, and what was pushed or read with its requests."""
    from app.main import source_list
    from reports import tables

    rows = source_list.command_list(settings_of())
    click.echo(json.dumps(rows) if as_json else tables.sources(rows))


@sources.command("billing")
@click.argument("name")
@click.argument("billing", type=click.Choice(["api", "subscription", "provisioned", "free", "unknown"]))
def billing(name: str, billing: str) -> None:
    """Say how the tokens of source NAME are billed; only `api` counts as paid."""
    from app.main import sources as deeds

    deeds.set_billing(settings_of(), name, billing)
    click.echo(f"{name} is billed as {billing}.")


@sources.command("primary")
@click.argument("name")
def primary(name: str) -> None:
    """Let source NAME count wherever another source tells of the same calls under other ids."""
    from app.main import overlaps

    others = overlaps.command_primary(settings_of(), name)
    *first, last = others
    tellers = f"{', '.join(first)} and {last} tell" if first else f"{last} tells"
    click.echo(f"{name} counts. Calls that {tellers} of too are in no sum a second time.")


@sources.command("separate")
@click.argument("one")
@click.argument("other")
def separate(one: str, other: str) -> None:
    """Say that sources ONE and OTHER tell of different calls although they look alike: both count."""
    from app.main import overlaps

    overlaps.command_separate(settings_of(), one, other)
    click.echo(f"{one} and {other} both count.")


@sources.command("again")
@click.argument("name", required=False)
@json_option
def again(name: str | None, as_json: bool) -> None:
    """Read again what lies in quarantine, of source NAME or of all: files as they lie, what was pulled by asking."""
    from app.main import rereading

    done = rereading.command_again(settings_of(), name)
    if as_json:
        click.echo(json.dumps(done))
        return
    click.echo(f"{done['read']} read again where they lie, {done['rejected']} of them still cannot be read.")
    for source, records in done["asked"]:
        click.echo(f"{source}: its next pull begins anew, for {records} records that came from its server.")
    for problem in done["problems"]:
        click.echo(problem)
