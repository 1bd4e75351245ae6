"""What commands have in common: settings with the options of one call, and the options themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from app import settings as settings_module
from app.core.view import zone_info

if TYPE_CHECKING:
    from collections.abc import Iterable

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
