"""`halve prices`: what the price book says, taking over rates from other tables, and where lists disagree."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from app.commands.options import json_option, prices_option, print_lines, settings_of


@click.group()
def prices() -> None:
    """The price book: which rate, from where, since when."""


@prices.command("show")
@click.argument("model")
@prices_option
@json_option
def show(model: str, prices: str | None, as_json: bool) -> None:
    """Show every dated rate of MODEL with its source."""
    from app.main import offline
    from reports.price_tables import rate_lines

    lines = offline.price_lines(model, settings_of(prices=prices))
    click.echo(json.dumps([asdict(line) for line in lines]) if as_json else "\n".join(rate_lines(lines)))


@prices.command("quote")
@click.argument("file", type=click.Path(dir_okay=False))
@prices_option
@json_option
def quote(file: str, prices: str | None, as_json: bool) -> None:
    """Price the lines of FILE (JSONL) from the price book.

    One line of FILE, of which only model, timestamp and usage are needed:

    \b
    {"id": "a", "provider": "openai", "model": "gpt-4o", "timestamp":
     "2026-01-31T16:00:00Z", "usage": {"in_text": 1000, "cache_read": 500,
     "out": 200}, "context": {"batch": true}, "account": "acme"}

    \b
    usage    disjoint tokens: in_text (or input), in_audio, in_image,
             cache_read, cache_read_audio, cache_w5m, cache_w30m, cache_w1h,
             cache_w12h, out (reasoning included), output (without it),
             reasoning, out_audio, out_image; also web_searches, images,
             pages, seconds and any other fee of a price row
    context  batch, service_tier, region, inference_geo, speed, deployment,
             vertex_location, base_model, route, search_type, search_context

    Answered line by line: id, usd or null, the price rows used, the state and why there is no price.
    """
    from app.main import offline
    from reports import tables

    quotes = offline.quote(Path(file), settings_of(prices=prices))
    print_lines((json.dumps(asdict(one)) for one in quotes) if as_json else tables.quotes(quotes))


@prices.command("import")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--provider", multiple=True, metavar="NAME", help="Only rates of this provider; may be repeated.")
@click.option("--model", metavar="GLOB", help="Only models whose name matches.")
@click.option("--as-of", metavar="DAY", help="The day on which the table was true, where it does not say (today).")
@click.option("--apply", "really", is_flag=True, help="Take the rates over; without it only the difference is shown.")
@click.option("--all", "everything", is_flag=True, help="List every difference, not the first of each kind.")
@json_option
def import_(
    file: str,
    provider: tuple[str, ...],
    model: str | None,
    as_of: str | None,
    really: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """Show what a price table would change in the book: LiteLLM's JSON, data of genai-prices or model-prices, or CSV.

    With --apply the rates are kept beside the list, dated and with their source; nothing is ever replaced. Rates that
    look wrong by a unit, zeros, and names that only stand for another model are held back and named.
    """
    from app.main import prices as deeds
    from reports import price_tables

    found = deeds.import_table(Path(file), settings_of(), providers=provider, model=model, as_of=as_of, really=really)
    if as_json:
        click.echo(json.dumps(price_tables.difference_document(found), ensure_ascii=False))
    else:
        print_lines(price_tables.difference_lines(found, most=None if everything else 15))


@prices.command("check")
@click.option("--against", multiple=True, metavar="FILE", help="Another table to compare with, not imported.")
@click.option("--provider", multiple=True, metavar="NAME", help="Only this provider; may be repeated.")
@prices_option
@json_option
def check(against: tuple[str, ...], provider: tuple[str, ...], prices: str | None, as_json: bool) -> None:
    """Show where price lists disagree by more than 1 %: the book, genai-prices, your file, every imported table."""
    from app.main import prices as deeds
    from reports import price_tables

    found = deeds.check(settings_of(prices=prices), against=[Path(name) for name in against], providers=provider)
    if as_json:
        click.echo(json.dumps(price_tables.check_document(found), ensure_ascii=False))
    else:
        print_lines(price_tables.check_lines(found))
