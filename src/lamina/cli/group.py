"""How every command ends: an expected error is one line and its exit code, Ctrl-C is silent."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from lamina.errors import LaminaError, outcome_of

__all__ = ["INTERRUPTED", "Commands"]

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""


class Commands(TyperGroup):
    """The group of all commands."""

    def invoke(self, ctx: Any) -> Any:  # Any: Typer's own copy of click is private
        """Run the command; ``lamina.errors`` end it with their message on stderr and their exit code."""
        try:
            return super().invoke(ctx)
        except LaminaError as error:
            from lamina.cli.advice import at_the_terminal

            typer.echo(f"lamina: {at_the_terminal(error)}", err=True)
            raise typer.Exit(outcome_of(error).exit_code) from error
        except KeyboardInterrupt as interrupt:
            raise typer.Exit(INTERRUPTED) from interrupt
