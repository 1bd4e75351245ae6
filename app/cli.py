"""The command line: reads arguments and settings, calls `main`, prints text for people or JSON for machines.

Exit codes: 0 done, 1 something failed, 2 the call is wrong. Errors say what happened, what it means, what to do.
"""

from __future__ import annotations

import getpass
import json
import shutil
import signal
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from app.commands.options import json_option, prices_option
from app.commands.options import print_lines as _print_lines
from app.commands.options import settings_of as _settings
from app.commands.prices import prices
from app.core.errors import HalveError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from app.main.repricing import Wish
    from app.settings import Settings
    from ingest.formats.column_map import ColumnMap
    from ingest.pipeline import Progress


class HalveGroup(click.Group):
    """Turns our errors into one message on standard error and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _ending_in_order():
                return super().invoke(ctx)
        except HalveError as error:
            click.echo(f"halve: {error}", err=True)
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            # The reader of our output has gone (`| head`); that is no failure of ours.
            sys.stderr.close()
            ctx.exit(0)
        except OSError as error:
            named = f"{error.filename}: " if error.filename else ""
            click.echo(
                f"halve: {named}{error.strerror or error}. The command did not finish; what was stored before is safe. "
                "Repeat it once the cause is gone: it goes on where it stopped.",
                err=True,
            )
            ctx.exit(1)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """A request to end leaves through every `finally`, so that nothing temporary stays behind; exit code 143."""
    asked = False

    def end(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(number, signal.SIG_IGN)
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except Exception:
        if asked:  # what a library made of it on the way
            sys.exit(128 + signal.SIGTERM)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@click.group(cls=HalveGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="halve")
def main() -> None:
    """Halve: where the money of LLM calls goes, and what to do about it.

    Start with `halve analyze LOGS` (prints, needs no set-up) or `halve demo` (a made month in the browser).
    """


def path_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that reads logs."""
    for decorate in (
        click.option(
            "--map",
            "column_map",
            metavar="MAP",
            help="Column map for a layout of your own: a file, or field=column,...",
        ),
        click.option("--format", "format_name", metavar="NAME", help="Read every file as this format."),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out matching files, relative to PATH."),
    ):
        command = decorate(command)
    return command


@main.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@path_options
@prices_option
@click.option("--claude-code", is_flag=True, help="Read the Claude Code sessions of this machine.")
@click.option("--codex", is_flag=True, help="Read the Codex sessions of this machine.")
@click.option("--zone", metavar="ZONE", help="Named time zone in which days are cut.")
@json_option
def analyze(
    paths: tuple[str, ...],
    exclude: tuple[str, ...],
    format_name: str | None,
    column_map: str | None,
    prices: str | None,
    claude_code: bool,
    codex: bool,
    zone: str | None,
    as_json: bool,
) -> None:
    """Print spend by feature and model and the ranked savings plan of logs.

    PATH is a file, a folder or a glob. Without PATH the data folder of the service is analysed. Needs no service and
    leaves nothing behind.
    """
    from app.main import offline
    from reports import analysis, terminal

    document = offline.analyze(
        _with_local_logs(paths, claude_code=claude_code, codex=codex),
        _settings(zone=zone, prices=prices),
        exclude=exclude,
        format_name=format_name,
        column_map=_column_map(column_map),
        progress=_progress(as_json),
    )
    if as_json:
        click.echo(json.dumps(analysis.document(document), ensure_ascii=False))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        click.echo(terminal.render(document, width=width, colour=sys.stdout.isatty()), nl=False)


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@path_options
@prices_option
@json_option
def inspect(
    paths: tuple[str, ...],
    exclude: tuple[str, ...],
    format_name: str | None,
    column_map: str | None,
    prices: str | None,
    as_json: bool,
) -> None:
    """Show how each record is read: classes, cost, price row, warnings, and what is rejected and why.

    For an unknown layout it proposes the column map to save and pass with --map.
    """
    from app.main import offline
    from reports import tables

    lines = offline.inspect(
        paths, _settings(prices=prices), exclude=exclude, format_name=format_name, column_map=_column_map(column_map)
    )
    _print_lines((json.dumps(line, ensure_ascii=False) for line in lines) if as_json else tables.inspection(lines))


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--ttl", required=True, metavar="DURATION", help="Lifetime of an entry: 30s, 5m, 1h, or unlimited.")
@click.option("--scope", type=click.Choice(["session"]), help="Share prefixes only inside this scope, and list each.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out matching files, relative to PATH.")
@json_option
def replay(
    paths: tuple[str, ...], ttl: str, scope: Literal["session"] | None, exclude: tuple[str, ...], as_json: bool
) -> None:
    """Say how much of a trace's prompts a prefix cache would have held.

    PATH is a prefix-hash trace, a trace with text, or ordinary logs.
    """
    from app.main import offline
    from app.replay.trace import ttl_from_text
    from reports import tables

    result = offline.replay(paths, _settings(), ttl_us=ttl_from_text(ttl), scope=scope, exclude=exclude)
    click.echo(json.dumps(result) if as_json else tables.replay(result))


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@path_options
@click.option("--source", metavar="NAME", help="Name under which these logs are kept (default: from the path).")
@json_option
def ingest(
    paths: tuple[str, ...],
    exclude: tuple[str, ...],
    format_name: str | None,
    column_map: str | None,
    source: str | None,
    as_json: bool,
) -> None:
    """Read logs into the data folder, whether the service is running or not.

    Reading the same logs again changes nothing. Interrupted runs go on where they stopped. Records that cannot be read
    are listed and kept in quarantine; the exit code is 1 where nothing but such records was found.
    """
    from app.main import store
    from reports import tables

    summary = store.ingest(
        paths,
        _settings(),
        exclude=exclude,
        format_name=format_name,
        column_map=_column_map(column_map),
        source=source,
        progress=_progress(as_json),
    )
    click.echo(json.dumps(summary) if as_json else tables.summary(summary))
    if summary.get("rejected") and summary["rejected"] == summary["read"]:
        sys.exit(1)


@main.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--period", default="all", show_default=True, metavar="PERIOD", help="A month 2026-11, days, or 28d.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out matching files, relative to PATH.")
@prices_option
@json_option
def reconcile(paths: tuple[str, ...], period: str, exclude: tuple[str, ...], prices: str | None, as_json: bool) -> None:
    """Compare the provider's bill with the logged requests, and name every dollar between them.

    PATH are logs and bills, which leave nothing behind; without PATH the data folder is compared.
    """
    from app.main import reconciling
    from reports import reconciliation

    document = reconciling.command(paths, _settings(prices=prices), period=period, exclude=exclude)
    click.echo(json.dumps(document, ensure_ascii=False) if as_json else reconciliation.text(document))


@main.command()
@json_option
def plan(as_json: bool) -> None:
    """Print the savings plan of the last analysis of the data folder."""
    from app.main import store
    from reports import tables

    document = store.stored_plan(_settings())
    click.echo(json.dumps(document) if as_json else tables.plan(document))


@main.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on (default 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65535), metavar="PORT", help="Port to listen on (default 8080).")
@click.option("--new-token", is_flag=True, help="Make a new access token; the old one stops working.")
def serve(host: str | None, port: int | None, new_token: bool) -> None:
    """Run the dashboard, take in new logs, pull the sources and analyse every night."""
    from app.main import serving

    serving.serve(_settings(host=host, port=port), new_token=new_token)


@main.command()
@click.option("--port", type=click.IntRange(1, 65535), metavar="PORT", help="Port to listen on (default 8080).")
@click.option("--requests", type=int, default=220_000, show_default=True, help="How many requests to make up.")
@click.option("--seed", type=int, default=7, show_default=True, help="The same seed makes the same month.")
@click.option("--no-serve", is_flag=True, help="Make, read and analyse the month, then stop.")
def demo(port: int | None, requests: int, seed: int, no_serve: bool) -> None:
    """A month of a made company's traffic: generated as provider logs, read, analysed and served.

    Everything lies in `demo` under the data folder. The demo runs without an access token, on loopback only.
    """
    from app.main import serving

    serving.demo(_settings(port=port), requests=requests, seed=seed, serving=not no_serve)


main.add_command(prices)


def days_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which days a command is about."""
    for decorate in (
        click.option("--zone", metavar="ZONE", help="Named time zone in which days are cut."),
        click.option("--to", "last_day", default="", metavar="DAY", help="Last day, included (default: the newest)."),
        click.option("--from", "first_day", default="", metavar="DAY", help="First day, as 2026-11-30 (default: all)."),
    ):
        command = decorate(command)
    return command


why_option = click.option("--why", default="", metavar="TEXT", help="Why, kept with the version.")
apply_option = click.option("--apply", "really", is_flag=True, help="Do it; without this nothing is changed.")


@prices.command("reprice")
@days_options
@prices_option
@why_option
@apply_option
@json_option
def prices_reprice(
    first_day: str, last_day: str, zone: str | None, prices: str | None, why: str, really: bool, as_json: bool
) -> None:
    """Price stored requests anew and show what differs, by model and day, and why.

    With --apply the new figures become a version of the costs and those before it stay. An interrupted run goes on
    where it stopped when the same command is given again. Works while the service runs.
    """
    from app.main.repricing import Wish

    settings = _settings(zone=zone)
    wish = Wish("reprice", first_day, last_day, settings.zone, prices or "", None, _person(), why)
    _reprice(wish, settings, really=really, as_json=as_json)


@prices.command("rollback")
@click.argument("version", type=int, required=False)
@days_options
@why_option
@apply_option
@json_option
def prices_rollback(
    version: int | None, first_day: str, last_day: str, zone: str | None, why: str, really: bool, as_json: bool
) -> None:
    """Bring back the costs as of VERSION (default: what was before the newest one), as a new version.

    0 is what requests were priced at when they were taken in.
    """
    from app.main.repricing import Wish

    settings = _settings(zone=zone)
    wish = Wish("rollback", first_day, last_day, settings.zone, "", version, _person(), why)
    _reprice(wish, settings, really=really, as_json=as_json)


@prices.command("versions")
@click.argument("version", type=int, required=False)
@json_option
def prices_versions(version: int | None, as_json: bool) -> None:
    """List the versions of the costs, or show what VERSION changed by model and day."""
    from app.main import repricing
    from reports import ledger

    if version is None:
        rows = repricing.listed(_settings())
        click.echo(json.dumps(rows) if as_json else ledger.versions_text(rows))
        return
    document = repricing.shown(_settings(), version)
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


@main.group()
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
def sources_add(
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
    from app.main import store
    from app.replay.trace import ttl_from_text

    pairs = [one.partition("=") for one in options]
    if wrong := [text for text, (_, mark, _) in zip(options, pairs, strict=True) if not mark]:
        raise UsageError(f"An option is written NAME=VALUE, not {wrong[0]!r}.")
    added = store.add_source(
        _settings(),
        kind=kind,
        name=name or named or kind,
        given={**given, **{option: value for option, _, value in pairs}},
        every_us=None if every is None else ttl_from_text(every) or 0,
        since_us=None if since is None else int(since.replace(tzinfo=UTC).timestamp()) * 1_000_000,
    )
    click.echo(f"Added {added}. The service picks it up within a minute.")


@sources.command("kinds")
@json_option
def sources_kinds(as_json: bool) -> None:
    """List the kinds of sources, what each reads and what it takes."""
    from app.main import store
    from reports import tables

    kinds = store.source_kinds()
    click.echo(json.dumps(kinds) if as_json else tables.source_kinds(kinds))


@sources.command("remove")
@click.argument("name")
def sources_remove(name: str) -> None:
    """Stop pulling source NAME and forget where it stood; what was read of it stays."""
    from app.main import store

    store.remove_source(_settings(), name)
    click.echo(f"{name} is pulled no more. Its requests stay.")


@sources.command("list")
@json_option
def sources_list(as_json: bool) -> None:
    """List the sources with their state, how fresh and complete they are, and the last error."""
    from app.main import store
    from reports import tables

    rows = store.list_sources(_settings())
    click.echo(json.dumps(rows) if as_json else tables.sources(rows))


@sources.command("billing")
@click.argument("name")
@click.argument("billing", type=click.Choice(["api", "subscription", "provisioned", "free", "unknown"]))
def sources_billing(name: str, billing: str) -> None:
    """Say how the tokens of source NAME are billed; only `api` counts as paid."""
    from app.main import store

    store.set_billing(_settings(), name, billing)
    click.echo(f"{name} is billed as {billing}.")


@sources.command("primary")
@click.argument("name")
def sources_primary(name: str) -> None:
    """Let source NAME count wherever another source tells of the same calls under other ids."""
    from app.main import overlaps

    others = overlaps.command_primary(_settings(), name)
    click.echo(f"{name} counts. Calls that {', '.join(others)} tells of too are in no sum a second time.")


@sources.command("separate")
@click.argument("one")
@click.argument("other")
def sources_separate(one: str, other: str) -> None:
    """Say that sources ONE and OTHER tell of different calls although they look alike: both count."""
    from app.main import overlaps

    overlaps.command_separate(_settings(), one, other)
    click.echo(f"{one} and {other} both count.")


@main.group()
def keys() -> None:
    """Keys for machines: to hand batches in over the OpenAI-compatible API, or to push logs and traces."""


@keys.command("create")
@click.argument("name")
@click.option(
    "--scope", type=click.Choice(["batch", "ingest"]), default="batch", show_default=True, help="What the key opens."
)
@click.option("--source", metavar="NAME", help="With --scope ingest: the source that pushed logs belong to.")
def keys_create(name: str, scope: Literal["batch", "ingest"], source: str | None) -> None:
    """Make a key called NAME and print it; it is shown this once."""
    from app.main import keys as deeds

    click.echo(deeds.create(_settings(), name, scope, source))
    click.echo("Only its hash is kept. Give it to the client as its API key.", err=True)


@keys.command("list")
@json_option
def keys_list(as_json: bool) -> None:
    """List the keys with what they open and since when; their text is known to nobody here."""
    from app.main import keys as deeds
    from reports import tables

    rows = deeds.listed(_settings())
    click.echo(json.dumps(rows) if as_json else tables.keys(rows))


@keys.command("revoke")
@click.argument("name")
def keys_revoke(name: str) -> None:
    """End the key NAME at once."""
    from app.main import keys as deeds

    deeds.revoke(_settings(), name)
    click.echo(f"{name} opens nothing any more.")


@main.group()
def batch() -> None:
    """Jobs for the batch APIs of providers: sent at their time, followed to the end, charged once."""


@batch.command("submit")
@click.argument("file", type=click.Path(dir_okay=False), metavar="FILE")
@click.option("--provider", required=True, metavar="NAME", help="openai (and compatible), anthropic, or demo.")
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
def batch_submit(
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

    settings = _settings(zone=zone)
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
def batch_list(as_json: bool) -> None:
    """List the jobs, newest first."""
    from app.main import batches
    from reports import batch_jobs

    jobs = batches.listed(_settings())
    click.echo(json.dumps(jobs) if as_json else batch_jobs.table(jobs))


@batch.command("show")
@click.argument("job")
@json_option
def batch_show(job: str, as_json: bool) -> None:
    """Show where JOB stands, what it is expected to cost and what went wrong."""
    from app.main import batches
    from reports import batch_jobs

    found = batches.shown(_settings(), job)
    click.echo(json.dumps(found) if as_json else batch_jobs.detail(found))


@batch.command("cancel")
@click.argument("job")
@json_option
def batch_cancel(job: str, as_json: bool) -> None:
    """Stop JOB: what is not sent never will be, what is sent is stopped at the provider and settled."""
    from app.main import batches
    from reports import batch_jobs

    found = batches.cancelled(_settings(), job)
    click.echo(json.dumps(found) if as_json else batch_jobs.detail(found))


@batch.command("results")
@click.argument("job")
@click.option("--wait", is_flag=True, help="Wait until the job is settled; advances it where no service runs.")
@click.option("--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write them here (default: print).")
def batch_results(job: str, wait: bool, output: str | None) -> None:
    """Give the results of JOB: one line an item, in the order and under the ids of your file."""
    from app.main import batches

    path = batches.results(_settings(), job, wait=wait)
    if output is not None:
        shutil.copyfile(path, output)
        return
    printed = sys.stdout.buffer
    with path.open("rb") as lines:
        for line in lines:
            printed.write(line)


@batch.command("advance")
@json_option
def batch_advance(as_json: bool) -> None:
    """Take every job that is due one step further by hand; a running service does so by itself."""
    from app.main import batches

    found = batches.advanced(_settings())
    if as_json:
        click.echo(json.dumps(found))
    elif found["busy"]:
        click.echo("Another process moves the jobs right now; nothing was done here.")
    else:
        click.echo(f"Due: {found['jobs']}. Settled now: {found['settled']}.")
        _print_lines(found["errors"])


@main.group()
def report() -> None:
    """The weekly savings report."""


week_option = click.option("--week", default="", metavar="YYYY-Www", help="The week (default: the last complete one).")


@report.command("show")
@week_option
@click.option("--format", "form", type=click.Choice(["text", "html", "eml"]), default="text", show_default=True)
def report_show(week: str, form: str) -> None:
    """Print the report of a week as the figures are now: as text, as HTML that stands alone, or as the mail itself."""
    from app.main import report_commands

    click.echo(report_commands.command_show(_settings(), week=week, form=form), nl=False)


@report.command("send")
@week_option
@click.option("--to", required=True, metavar="ADDRESS", help="Who gets it.")
def report_send(week: str, to: str) -> None:
    """Send the report of a week to one address now; without a mail server it is written to the archive."""
    from app.main import report_commands

    click.echo(report_commands.command_send(_settings(), week=week, to=to))


@main.group()
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
def budgets_add(
    name: str, amount: str, every: str, anchor: str, zone: str | None, scope: str, thresholds: str, no_forecast: bool
) -> None:
    """Set the budget NAME; the service tells each threshold of a period once, by mail and on the page Budgets."""
    from app.main import budgets as deeds

    called = deeds.command_add(
        _settings(zone=zone),
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
def budgets_list(as_json: bool) -> None:
    """List the budgets with what was spent of each and where it is heading."""
    from app.main import budgets as deeds
    from reports import budgets as shown

    rows = deeds.command_list(_settings())
    click.echo(json.dumps(rows) if as_json else shown.table(rows))


@budgets.command("remove")
@click.argument("name")
def budgets_remove(name: str) -> None:
    """Remove the budget NAME; what it told stays in the list of alerts."""
    from app.main import budgets as deeds

    deeds.command_remove(_settings(), name)
    click.echo(f"{name} is removed.")


@main.command()
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

    settings = _settings(zone=zone)
    wish = exporting.ExportWish(kind, first_day, last_day, settings.zone, by, parquet, strict, as_of)
    path, written = exporting.export(wish, settings, Path(out) if out else None)
    click.echo(json.dumps({"path": str(path), **written}) if as_json else tables.exported(str(path), written))


@main.command()
def migrate() -> None:
    """Bring both stores of the data folder to this version's schema."""
    from app.main import store

    click.echo(store.migrate(_settings()))


@main.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the data folder: versions, roll-ups against facts, sums, quarantine, unpriced models, free disk."""
    from app.main import store
    from reports import tables

    checks = store.doctor(_settings())
    click.echo(json.dumps(checks) if as_json else tables.checks(checks))
    if any(not check["ok"] for check in checks):
        sys.exit(1)


@main.command()
@click.argument("to", type=click.Path(file_okay=False))
def backup(to: str) -> None:
    """Copy both stores, the kept text and the install key into the folder TO."""
    from app.main import store

    click.echo(store.backup(_settings(), Path(to)))


def _with_local_logs(paths: tuple[str, ...], *, claude_code: bool, codex: bool) -> tuple[str, ...]:
    from ingest.connectors import local_logs

    found: list[str] = []
    if claude_code:
        found += local_logs.claude_code()
    if codex:
        found += local_logs.codex()
    return (*paths, *found)


def _column_map(text: str | None) -> ColumnMap | None:
    from ingest.formats import column_map

    return None if text is None else column_map.from_argument(text)


def _progress(quiet: bool) -> Callable[[Progress], None] | None:
    """Reports reading as one rewritten line on a terminal; nothing where JSON or a pipe is read."""
    if quiet or not sys.stderr.isatty():
        return None

    def report(progress: Progress) -> None:
        done, total = progress.done_bytes / 1e6, progress.total_bytes / 1e6
        ending = "\n" if progress.done_bytes >= progress.total_bytes else ""
        click.echo(
            f"\r\x1b[K{done:,.0f} of {total:,.0f} MB, {progress.summary.read:,} records{ending}", nl=False, err=True
        )

    return report


if __name__ == "__main__":
    main()
