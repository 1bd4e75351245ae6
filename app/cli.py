"""The command line: reads arguments and settings, calls `main`, prints text for people or JSON for machines.

Exit codes: 0 done, 1 something failed, 2 the call is wrong. Errors say what happened, what it means, what to do.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from app.commands import ledger
from app.commands.batch import batch
from app.commands.budgets import budgets
from app.commands.export import export
from app.commands.keys import keys
from app.commands.options import json_option, prices_option, print_lines, settings_of
from app.commands.prices import prices
from app.commands.report import report
from app.commands.sources import sources
from app.core.errors import HalveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from ingest.formats.column_map import ColumnMap
    from ingest.pipeline import Progress

_FINALIZERS: Final = ("__del__", "_collection_gced")  # the second is SQLAlchemy's, called by the garbage collector
_AGAIN_S: Final = 0.05


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


def _in_finalizer(frame: FrameType | None) -> bool:
    """Whether Python is in a finalizer: whatever is raised there it drops, an end that was asked for too."""
    while frame is not None:
        if frame.f_code.co_name in _FINALIZERS:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """A request to end leaves through every `finally`, so that nothing temporary stays behind; exit code 143."""
    asked = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if _in_finalizer(frame):
            threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number)).start()
            return
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
        settings_of(zone=zone, prices=prices),
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
    _say_left_out(paths, exclude)


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
        paths, settings_of(prices=prices), exclude=exclude, format_name=format_name, column_map=_column_map(column_map)
    )
    print_lines((json.dumps(line, ensure_ascii=False) for line in lines) if as_json else tables.inspection(lines))
    _say_left_out(paths, exclude)


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

    result = offline.replay(paths, settings_of(), ttl_us=ttl_from_text(ttl), scope=scope, exclude=exclude)
    click.echo(json.dumps(result) if as_json else tables.replay(result))


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@path_options
@click.option("--source", metavar="NAME", help="Name under which these logs are kept (default: their format's).")
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
        settings_of(),
        exclude=exclude,
        format_name=format_name,
        column_map=_column_map(column_map),
        source=source,
        progress=_progress(as_json),
    )
    click.echo(json.dumps(summary) if as_json else tables.summary(summary))
    _say_left_out(paths, exclude)
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

    document = reconciling.command(paths, settings_of(prices=prices), period=period, exclude=exclude)
    click.echo(json.dumps(document, ensure_ascii=False) if as_json else reconciliation.text(document))
    for problem in document.get("problems", ()):
        click.echo(f"problem: {problem}", err=True)
    _say_left_out(paths, exclude)


@main.command()
@json_option
def plan(as_json: bool) -> None:
    """Print the savings plan of the last analysis of the data folder."""
    from app.main import store
    from reports import terminal

    document = store.stored_plan(settings_of())
    if as_json:
        click.echo(json.dumps(document))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        click.echo(terminal.plan(document, width=width, colour=sys.stdout.isatty()), nl=False)


@main.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on (default 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65535), metavar="PORT", help="Port to listen on (default 8080).")
@click.option("--new-token", is_flag=True, help="Make a new access token; the old one stops working.")
def serve(host: str | None, port: int | None, new_token: bool) -> None:
    """Run the dashboard, take in new logs, pull the sources and analyse every night."""
    from app.main import serving

    serving.serve(settings_of(host=host, port=port), new_token=new_token)


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

    serving.demo(settings_of(port=port), requests=requests, seed=seed, serving=not no_serve)


for command in ledger.COMMANDS:
    prices.add_command(command)
for group in (batch, budgets, export, keys, prices, report, sources):
    main.add_command(group)


@main.command()
def migrate() -> None:
    """Bring both stores of the data folder to this version's schema."""
    from app.main import store

    click.echo(store.migrate(settings_of()))


@main.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the data folder: versions, roll-ups against facts, sums, quarantine, unpriced models, free disk."""
    from app.main import store
    from reports import tables

    checks = store.doctor(settings_of())
    click.echo(json.dumps(checks) if as_json else tables.checks(checks))
    if any(not check["ok"] for check in checks):
        sys.exit(1)


@main.command()
@click.argument("to", type=click.Path(file_okay=False))
def backup(to: str) -> None:
    """Copy both stores, the kept text and the install key into the folder TO."""
    from app.main import store

    click.echo(store.backup(settings_of(), Path(to)))


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


def _say_left_out(paths: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    """A log that is passed over because of its name must not look like a log that was read."""
    from ingest.connectors.files import left_out

    said = left_out(paths, exclude)
    if said is not None:
        click.echo(said, err=True)


if __name__ == "__main__":
    main()
