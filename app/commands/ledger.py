"""`halve prices reprice, rollback, versions`: the costs of stored requests as versions, each change shown first."""

from __future__ import annotations

import getpass
import json
from typing import TYPE_CHECKING, Any

import click

from app.commands.options import days_options, json_option, prices_option, settings_of

if TYPE_CHECKING:
    from app.main.repricing import Wish
    from app.settings import Settings


why_option = click.option("--why", default="", metavar="TEXT", help="Why, kept with the version.")
apply_option = click.option("--apply", "really", is_flag=True, help="Do it; without this nothing is changed.")


@click.command("reprice")
@days_options
@prices_option
@why_option
@apply_option
@json_option
def reprice(
    first_day: str, last_day: str, zone: str | None, prices: str | None, why: str, really: bool, as_json: bool
) -> None:
    """Price stored requests anew and show what differs, by model and day, and why.

    With --apply the new figures become a version of the costs and those before it stay. An interrupted run goes on
    where it stopped when the same command is given again. Works while the service runs.
    """
    from app.main.repricing import Wish

    settings = settings_of(zone=zone)
    wish = Wish("reprice", first_day, last_day, settings.zone, prices or "", None, _person(), why)
    _reprice(wish, settings, really=really, as_json=as_json)


@click.command("rollback")
@click.argument("version", type=int, required=False)
@days_options
@why_option
@apply_option
@json_option
def rollback(
    version: int | None, first_day: str, last_day: str, zone: str | None, why: str, really: bool, as_json: bool
) -> None:
    """Bring back the costs as of VERSION (default: what was before the newest one), as a new version.

    0 is what requests were priced at when they were taken in.
    """
    from app.main.repricing import Wish

    settings = settings_of(zone=zone)
    wish = Wish("rollback", first_day, last_day, settings.zone, "", version, _person(), why)
    _reprice(wish, settings, really=really, as_json=as_json)


@click.command("versions")
@click.argument("version", type=int, required=False)
@json_option
def versions(version: int | None, as_json: bool) -> None:
    """List the versions of the costs, or show what VERSION changed by model and day."""
    from app.main import repricing
    from reports import ledger

    if version is None:
        rows = repricing.listed(settings_of())
        click.echo(json.dumps(rows) if as_json else ledger.versions_text(rows))
        return
    document = repricing.shown(settings_of(), version)
    click.echo(json.dumps(document) if as_json else ledger.difference_text(document))


def _reprice(wish: Wish, settings: Settings, *, really: bool, as_json: bool) -> None:
    from app.main import repricing
    from reports import ledger

    if really:
        document = repricing.apply(wish, settings, progress=None if as_json else _slices_left)
    else:
        document = repricing.preview(wish, settings)
    click.echo(json.dumps(document) if as_json else ledger.difference_text(document))


def _slices_left(done: dict[str, Any]) -> None:
    click.echo(f"{done['requests']:,} requests done, {done['slices_left']} slices to go", err=True)


def _person() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


COMMANDS = (reprice, rollback, versions)
"""They belong to the group of the price book."""
