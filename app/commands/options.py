"""What commands have in common: settings with the options of one call, and the options themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from app import settings as settings_module
from app.core.view import zone_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from app.settings import Settings

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
prices_option = click.option("--prices", metavar="FILE", help="Your own rates, laid over the price book.")


def settings_of(**overrides: object) -> Settings:
    """The settings of the environment under the options of this call that were given."""
    given = {name: value for name, value in overrides.items() if value is not None}
    settings: Settings = replace(settings_module.load(), **given)  # type: ignore[arg-type]
    zone_info(settings.zone)  # a wrong name is told before any work
    return settings


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they come."""
    for line in lines:
        click.echo(line)


def days_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which days a command is about."""
    for decorate in (
        click.option("--zone", metavar="ZONE", help="Named time zone in which days are cut."),
        click.option("--to", "last_day", default="", metavar="DAY", help="Last day, included (default: the newest)."),
        click.option("--from", "first_day", default="", metavar="DAY", help="First day, as 2026-11-30 (default: all)."),
    ):
        command = decorate(command)
    return command
