"""`halve budgets`: what may be spent, and where it stands."""

from __future__ import annotations

import json

import click

from app.commands.options import json_option, settings_of


@click.group()
def budgets() -> None:
    """Budgets: what may be spent in a day, week or month, and who is told when."""


@budgets.command("add")
@click.argument("name")
@click.option("--amount", required=True, metavar="USD", help="What may be spent in a period.")
@click.option("--every", type=click.Choice(["day", "week", "month"]), default="month", show_default=True)
@click.option("--begins", "anchor", default="", metavar="DAY", help="1 to 31, or mon to sun (default: the first).")
@click.option("--zone", metavar="ZONE", help="Named time zone in which the period begins.")
@click.option("--scope", default="", metavar="DIMENSION=VALUE", help="feature, team, provider, model or api_key.")
@click.option("--at", "thresholds", default="50 80 100", show_default=True, metavar="PERCENTS", help="When to tell.")
@click.option("--no-forecast", is_flag=True, help="Do not tell when only the forecast is above the amount.")
def add(
    name: str, amount: str, every: str, anchor: str, zone: str | None, scope: str, thresholds: str, no_forecast: bool
) -> None:
    """Set the budget NAME; the service tells each threshold of a period once, by mail and on the page Budgets."""
    from app.main import budgets as deeds

    called = deeds.command_add(
        settings_of(zone=zone),
        name=name,
        amount=amount,
        every=every,
        anchor=anchor,
        scope=scope,
        thresholds=thresholds,
        forecast=not no_forecast,
    )
    click.echo(f"{called} is set. What it has passed already is told within a minute, once the service runs.")


@budgets.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the budgets with what was spent of each and where it is heading."""
    from app.main import budgets as deeds
    from reports import budgets as shown

    rows = deeds.command_list(settings_of())
    click.echo(json.dumps(rows) if as_json else shown.table(rows))


@budgets.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the budget NAME; what it told stays in the list of alerts."""
    from app.main import budgets as deeds

    deeds.command_remove(settings_of(), name)
    click.echo(f"{name} is removed.")
