"""The ``lamina`` command: options in, operations or a server out.

Commands import what they need when they run, so that ``lamina --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Annotated

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from lamina import __version__
from lamina.cli.audit import audit_commands
from lamina.cli.backup import add_backup_commands
from lamina.cli.capsule import capsule_commands
from lamina.cli.definitions import phrase_commands, vocabulary_commands
from lamina.cli.entities import add_entity_commands
from lamina.cli.erasure import erasure_commands
from lamina.cli.expire import expire
from lamina.cli.forget import add_erasure_commands, add_forget_command
from lamina.cli.group import INTERRUPTED, Commands, leave_at_once, told
from lamina.cli.hook import hook
from lamina.cli.mcp import mcp_commands
from lamina.cli.memory import add_memory_commands
from lamina.cli.options import DEFAULT_URL, AsJson, Data, chosen_settings, setting_default
from lamina.cli.reread_command import reread
from lamina.cli.streams import ready_streams, unwritten
from lamina.cli.tokens import token_commands
from lamina.settings import PRESETS

__all__ = ["app", "app_for", "main"]

app = typer.Typer(
    name="lamina",
    cls=Commands,
    help="A memory server for AI agents.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(audit_commands, name="audit")
app.add_typer(capsule_commands, name="capsule")
app.add_typer(erasure_commands, name="erasure")
app.add_typer(mcp_commands, name="mcp")
app.add_typer(phrase_commands, name="phrase")
app.add_typer(token_commands, name="token")
app.add_typer(vocabulary_commands, name="vocabulary")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"lamina {__version__}")
        raise typer.Exit


@app.callback()
def _lamina(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """A memory server for AI agents."""
    if context.invoked_subcommand is None:
        from lamina.cli.start import next_steps

        typer.echo(next_steps(os.environ.get("LAMINA_URL") or DEFAULT_URL))


@app.command()
def serve(
    port: Annotated[
        int | None,
        typer.Option(help="The port to listen on; 0 picks a free one.", show_default=setting_default("port")),
    ] = None,
    data: Data = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"The deployment preset: {', '.join(PRESETS)}, or a .yaml file of your own.",
            show_default=setting_default("preset"),
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on.", show_default=setting_default("host"))
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Derivation processes; 0 leaves it to lamina worker.",
            show_default=setting_default("workers"),
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            help="How many processes serve the port; 0 is one below the cores, and at least one.",
            show_default=setting_default("processes"),
        ),
    ] = None,
    local: Annotated[int | None, typer.Option(hidden=True)] = None,
    share: Annotated[str | None, typer.Option(hidden=True)] = None,
    forks: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Start the server and its worker. Everything is kept in one folder."""
    if sys.stderr.isatty() and share is None and forks is None:
        typer.echo("starting ...", err=True)  # loading takes seconds, and a person wonders
    from lamina.cli.share import ServingProcess, SupervisorLine, processes_of

    line = None
    shared = None if share is None else ServingProcess.parse(share)
    if forks is not None:
        from lamina.cli.fork_server import forked

        if (shared := forked(forks)) is None:
            return
    if shared is not None:
        line = SupervisorLine.of(shared)  # before anything is loaded: a process that begins has the port, too
        line.end_with_it()
    settings = chosen_settings(
        port=port, data=data, preset=preset, host=host, workers=workers, processes=processes
    )
    wanted = processes_of(settings.processes)
    if local is None and shared is None and wanted > 1:
        from lamina.cli.supervisor import run_supervisor

        raise typer.Exit(run_supervisor(settings, wanted))
    from lamina.cli.serve import run_server

    run_server(settings, local, shared, line)


@app.command()
def worker(
    data: Data = None,
    workers: Annotated[
        int | None,
        typer.Option(help="How many processes derive.", show_default=setting_default("workers")),
    ] = None,
    parent: Annotated[int | None, typer.Option(hidden=True)] = None,
    helper: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Derive what is queued, beside a server that was started with --workers 0."""
    from lamina.cli.work import run_helper, run_worker

    settings = chosen_settings(data=data, workers=workers)
    if helper is not None and parent is not None:
        run_helper(settings, parent, helper)
    else:
        run_worker(settings, parent)


@app.command()
def retry(data: Data = None) -> None:
    """Try again to derive what failed for good. A server may run; what came after was derived without it, until a replay."""
    from lamina.cli.work import run_retry

    stages = run_retry(chosen_settings(data=data))
    typer.echo(f"{stages} stages are tried again")


@app.command()
def replay(data: Data = None) -> None:
    """Drop every derived layer and rebuild it from the log. The server must not run."""
    from lamina.cli.replay import run_replay

    replayed = run_replay(chosen_settings(data=data), partial(typer.echo, err=True))
    typer.echo(f"replayed {replayed.events} events")
    if replayed.failed:
        typer.echo(
            f"{replayed.failed} of them could not be derived and are found by their words alone; the lines above name "
            "them, and once the cause is gone, replay again",
            err=True,
        )
        raise typer.Exit(6)


app.command()(reread)
app.command()(expire)
add_backup_commands(app)


@app.command()
def doctor(
    data: Data = None,
    url: Annotated[
        str | None,
        typer.Option("--url", envvar="LAMINA_URL", help="A server that has to answer; by default one may."),
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Build damaged repositories of documents anew; the server must not run."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check this machine, the data folder and the server, and say what to do about what is wrong."""
    from lamina.cli.doctor import run_doctor

    settings = chosen_settings(data=data)
    if not run_doctor(settings, url, as_json=as_json, repair=repair):
        raise typer.Exit(6)


app.command()(hook)
add_memory_commands(app)
add_entity_commands(app)
add_forget_command(app)
add_erasure_commands(erasure_commands)


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The app with the one command that is called, and with all of them where none is: for help, or to say which there are.

    Typer makes what every command takes before it looks at the first argument, which is a tenth of a second for all of ours.
    """
    called = arguments[0] if arguments else ""
    commands = [each for each in app.registered_commands if _name_of(each) == called]
    groups = [each for each in app.registered_groups if each.name == called]
    if not commands and not groups:
        return app
    one = copy(app)
    one.registered_commands, one.registered_groups = commands, groups
    return one


def _name_of(command: CommandInfo) -> str:
    return command.name or get_command_name(getattr(command.callback, "__name__", ""))


def main() -> None:
    """The entry point of the installed command."""
    # Before anything loads numpy: its library would otherwise spin a thread per core for products of a few milliseconds,
    # which multiplies what a recall costs by twenty.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    ready_streams()
    try:
        app_for(sys.argv[1:])()
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            leave_at_once(INTERRUPTED)
        raise
    except OSError as error:
        lost = unwritten(error)
        if lost is None:
            raise
        sys.exit(told(lost))
