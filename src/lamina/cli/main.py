"""The ``lamina`` command: options in, operations or a server out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lamina.cli.audit import audit_commands
from lamina.cli.serve import run_server
from lamina.cli.work import run_replay, run_worker
from lamina.settings import load_settings

__all__ = ["main"]

app = typer.Typer(
    name="lamina", help="A memory server for AI agents.", no_args_is_help=True, add_completion=False
)

app.add_typer(audit_commands, name="audit")


@app.callback()
def _lamina() -> None:
    """A memory server for AI agents."""


@app.command()
def serve(
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 picks a free one.")] = None,
    data: Annotated[Path | None, typer.Option(help="The folder that holds everything.")] = None,
    preset: Annotated[str | None, typer.Option(help="The deployment preset.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    workers: Annotated[int | None, typer.Option(help="Derivation processes; 0 for none.")] = None,
) -> None:
    """Start the server and its worker. Everything is kept in one folder."""
    run_server(load_settings(os.environ, port=port, data=data, preset=preset, host=host, workers=workers))


@app.command()
def worker(
    data: Annotated[Path | None, typer.Option(help="The folder that holds everything.")] = None,
    parent: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Derive what is queued, beside a server that was started with --workers 0."""
    run_worker(load_settings(os.environ, data=data), parent)


@app.command()
def replay(
    data: Annotated[Path | None, typer.Option(help="The folder that holds everything.")] = None,
) -> None:
    """Drop every derived layer and rebuild it from the log. The server must not run."""
    events = run_replay(load_settings(os.environ, data=data))
    typer.echo(f"replayed {events} events")


def main() -> None:
    """The entry point of the installed command."""
    app()
