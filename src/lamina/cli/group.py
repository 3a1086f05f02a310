"""What all commands have in common: an expected error is one line and its exit code, Ctrl-C is silent, and flags take no value."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Any

import typer
from typer.core import TyperGroup

from lamina.errors import Invalid, LaminaError, outcome_of

__all__ = ["INTERRUPTED", "Commands", "leave_at_once", "told"]

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""


class Commands(TyperGroup):
    """A group of commands."""

    def invoke(self, ctx: Any) -> Any:  # Any: Typer's own copy of click is private
        """Run the command; ``lamina.errors`` end it with their message on stderr and their exit code."""
        try:
            return super().invoke(ctx)
        except LaminaError as error:
            raise typer.Exit(told(error)) from error
        except FileNotFoundError as error:
            if _stands_somewhere():
                raise
            gone = Invalid(
                "INVALID_REQUEST", "the current folder is gone", hint="change to one that is there"
            )
            raise typer.Exit(told(gone)) from error
        except KeyboardInterrupt as interrupt:
            raise typer.Exit(INTERRUPTED) from interrupt

    def get_params(self, ctx: Any) -> Any:
        """Mirrors ``TyperGroup.get_params``."""
        return _flags_without_a_type(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, in whose help a flag is not followed by ``<bool>``, as if it took a value."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _flags_without_a_type(command.get_params(ctx))
        return command


def told(error: LaminaError) -> int:
    """Say an error on stderr; returns its exit code."""
    from lamina.cli.advice import at_the_terminal
    from lamina.kernel.shown import shown

    with contextlib.suppress(OSError):  # the exit code says it all the same
        typer.echo(f"lamina: {shown(at_the_terminal(error))}", err=True)
    return outcome_of(error).exit_code


def _stands_somewhere() -> bool:
    """Whether the current folder is there; one that was removed from elsewhere is not."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def leave_at_once(code: int) -> None:
    """End the process with ``code`` and without the interpreter's own end, unless another thread is still at work.

    Taking apart what the client loads costs 0.2 s of a quiet core, seconds of a busy one, and whoever pressed Ctrl-C looks
    on. What a command holds (connections, stores) it has given back by then: they are context managers.
    """
    if threading.active_count() > 1:
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a pipe whose reader left
            stream.flush()
    os._exit(code)


def _flags_without_a_type(parameters: Any) -> Any:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
