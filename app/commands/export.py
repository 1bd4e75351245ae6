"""`halve export`: costs as a file for other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import click

from app.commands.options import days_options, json_option, settings_of


@click.command()
@click.argument("kind", type=click.Choice(["focus", "csv", "parquet"]))
@days_options
@click.option("--out", type=click.Path(dir_okay=False), metavar="PATH", help="The file (default: a name of its own).")
@click.option("--by", type=click.Choice(["day", "hour"]), default="day", show_default=True, help="focus: period.")
@click.option("--parquet", is_flag=True, help="focus: as Parquet instead of CSV.")
@click.option("--strict", is_flag=True, help="focus: leave out rows that the specification forbids (unknown costs).")
@click.option("--as-of", type=int, metavar="VERSION", help="With the costs as of a version of `halve prices versions`.")
@json_option
def export(
    kind: Literal["focus", "csv", "parquet"],
    first_day: str,
    last_day: str,
    zone: str | None,
    out: str | None,
    by: Literal["day", "hour"],
    parquet: bool,
    strict: bool,
    as_of: int | None,
    as_json: bool,
) -> None:
    """Write costs to a file: FOCUS 1.2 charges (focus), or every request as CSV or Parquet.

    Works while the service runs. One focus row a period, model, token class, price row, feature and team; costs are
    exact and add up to Spend.
    """
    from app.main import export as exporting
    from reports import tables

    settings = settings_of(zone=zone)
    wish = exporting.ExportWish(kind, first_day, last_day, settings.zone, by, parquet, strict, as_of)
    path, written = exporting.export(wish, settings, Path(out) if out else None)
    click.echo(json.dumps({"path": str(path), **written}) if as_json else tables.exported(str(path), written))
