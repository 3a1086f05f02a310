"""The page of commands and the commands are the same."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from lamina.cli.main import app

DOCS = Path(__file__).parents[2] / "docs"


def _commands(group, before: str = "") -> dict[str, set[str]]:
    """Every command by its full name, with its options."""
    found: dict[str, set[str]] = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= _commands(command, f"{before}{name} ")
            if command.invoke_without_command:  # a command as well as a group
                found[f"{before}{name}"] = {option for item in command.params for option in item.opts}
        else:
            found[f"{before}{name}"] = {option for item in command.params for option in item.opts}
    return found


COMMANDS = _commands(typer.main.get_command(app))


def _sections() -> dict[str, str]:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    parts = re.split(r"^### (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_has_a_heading_and_no_other_has():
    assert set(_sections()) == set(COMMANDS)


def test_options_that_the_page_names_exist():
    for name, text in _sections().items():
        named = set(re.findall(r"(--[a-z0-9-]+)", text)) - {"--workers"}
        assert named <= COMMANDS[name] | {"--url", "--scope", "--actor"}, name


def test_commands_that_the_docs_show_exist():
    for page in sorted(DOCS.rglob("*.md")):
        shown = re.findall(
            r"^ *lamina ([a-z]+)(?: ([a-z]+)\b)?", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        for first, second in shown:
            named = {first, f"{first} {second}"}
            assert first == "serves" or named & COMMANDS.keys(), f"{page.name}: lamina {first} {second}"
