"""``lamina hook``: what a coding agent's host runs at an event, as the plugin's script does."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from typing import Annotated

import typer

__all__ = ["hook"]


def hook(
    event: Annotated[
        str,
        typer.Argument(
            help="SessionStart, UserPromptSubmit, Stop, PreCompact or SessionEnd, or as Cursor calls its events."
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Whose JSON comes in and goes out: claude-code, codex or cursor.")
    ] = "claude-code",
) -> None:
    """Run a hook of a coding agent: its JSON on standard input, the answer on standard output."""
    from lamina.hooks.running import print_hook

    print_hook(host, event, sys.stdin, sys.stdout, sys.stderr, os.environ, datetime.now().astimezone())
