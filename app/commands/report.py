"""`halve report`: the weekly report, shown or sent."""

from __future__ import annotations

import click

from app.commands.options import settings_of


@click.group()
def report() -> None:
    """The weekly savings report."""


week_option = click.option("--week", default="", metavar="YYYY-Www", help="The week (default: the last complete one).")


@report.command("show")
@week_option
@click.option("--format", "form", type=click.Choice(["text", "html", "eml"]), default="text", show_default=True)
def show(week: str, form: str) -> None:
    """Print the report of a week as the figures are now: as text, as HTML that stands alone, or as the mail itself."""
    from app.main import report_commands

    click.echo(report_commands.command_show(settings_of(), week=week, form=form), nl=False)


@report.command("send")
@week_option
@click.option("--to", required=True, metavar="ADDRESS", help="Who gets it.")
def send(week: str, to: str) -> None:
    """Send the report of a week to one address now; without a mail server it is written to the archive."""
    from app.main import report_commands

    click.echo(report_commands.command_send(settings_of(), week=week, to=to))
