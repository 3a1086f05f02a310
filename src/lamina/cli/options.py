"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

__all__ = ["DEFAULT_URL", "Actor", "AsJson", "Data", "Scope", "Url"]

DEFAULT_URL: Final = "http://127.0.0.1:8700"

Url = Annotated[str, typer.Option("--url", help="The server's address.")]
Actor = Annotated[
    str | None, typer.Option("--actor", help="Who calls, such as user:maya. The server says who by default.")
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", help="Which memory is meant. By default the actor's own, or user:local."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Data = Annotated[Path | None, typer.Option("--data", help="The folder that holds everything.")]
