"""What all commands have in common: an expected error is one line and its exit code, Ctrl-C is silent, and flags take no value."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from lamina.errors import LaminaError, outcome_of

__all__ = ["INTERRUPTED", "Commands"]

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""


class Commands(TyperGroup):
    """A group of commands."""

    def invoke(self, ctx: Any) -> Any:  # Any: Typer's own copy of click is private
        """Run the command; ``lamina.errors`` end it with their message on stderr and their exit code."""
        try:
            return super().invoke(ctx)
        except LaminaError as error:
            from lamina.cli.advice import at_the_terminal
            from lamina.kernel.shown import shown

            typer.echo(f"lamina: {shown(at_the_terminal(error))}", err=True)
            raise typer.Exit(outcome_of(error).exit_code) from error
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


def _flags_without_a_type(parameters: Any) -> Any:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
