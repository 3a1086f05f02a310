"""Options that several commands share."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from lamina.errors import Invalid
from lamina.kernel.scopes import LOCAL_ACTOR
from lamina.settings import Settings, load_settings

__all__ = ["DEFAULT_URL", "Actor", "AsJson", "Data", "Scope", "Url", "chosen_settings", "setting_default"]


def setting_default(name: str) -> str:
    """What a setting is where nobody says anything, and the variable that says otherwise: for help."""
    (default,) = [item.default for item in fields(Settings) if item.name == name]
    return f"LAMINA_{name.upper()}, or {default}"


def chosen_settings(**given: Any) -> Settings:
    """The settings of the environment and of a command's options; what is wrong with an option is said by its name."""
    try:
        return load_settings(os.environ, **given)
    except Invalid as error:
        name = str(error.details.get("setting", "")).removeprefix("LAMINA_").lower()
        if given.get(name) is None:
            raise
        _, _, wrong = error.message.partition(" is ")
        raise Invalid(error.code, f"--{name} is {wrong}", hint=error.hint) from error


DEFAULT_URL: Final = "http://127.0.0.1:8700"

Url = Annotated[str, typer.Option("--url", envvar="LAMINA_URL", help="The server's address.")]
Actor = Annotated[
    str | None,
    typer.Option(
        "--actor",
        envvar="LAMINA_ACTOR",
        help="Who calls, such as user:maya. The server says who by default.",
    ),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", help=f"Which memory is meant. By default the actor's own, or {LOCAL_ACTOR}."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="The folder that holds everything.", show_default=setting_default("data")),
]
