"""What commands say of themselves, and of what they were given, before any server is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click.testing
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lamina.cli.main import app, app_for
from lamina.continuity.capsule.bound_rows import all_rows
from tables import every_row

WIDE = {"COLUMNS": "200"}


def _commands(group: Any, *before: str) -> Iterator[list[str]]:
    for name, command in group.commands.items():
        yield [*before, name]
        if hasattr(command, "commands"):
            yield from _commands(command, *before, name)


MADE = get_command(app)
"""A tenth of a second of making: once for all commands."""


@every_row("command", [[], *_commands(MADE)], ids=" ".join)
def test_a_flag_is_not_shown_as_if_it_took_a_value(command: list[str]) -> None:
    said = click.testing.CliRunner().invoke(MADE, [*command, "--help"], env=WIDE).stdout
    assert "--help" in said
    assert "<bool>" not in said


def test_a_call_makes_its_command_alone_and_the_same() -> None:
    for name, command in MADE.commands.items():
        one: Any = get_command(app_for([name, "--help"]))
        assert list(one.commands) == [name]
        assert _said_of(one.commands[name]) == _said_of(command)


def _said_of(command: Any) -> list[Any]:
    """Options, arguments and commands, by what their help shows."""
    taken = [
        (each.name, each.opts, each.help, each.required) for each in command.params if each.name != "help"
    ]
    return [command.help, taken, *map(_said_of, getattr(command, "commands", {}).values())]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["recal", "x"]], ids=" ".join)
def test_where_no_command_is_called_all_of_them_are_there(arguments: list[str]) -> None:
    assert app_for(arguments) is app


@pytest.mark.parametrize("verb", ["archive", "delete"])
def test_the_help_says_how_long_a_reason_may_be(verb: str) -> None:
    (row,) = (row for row in all_rows() if row.path == f"continuity.{verb}.reason")
    said = CliRunner().invoke(app, ["capsule", verb, "--help"], env=WIDE).stdout
    assert f"{row.minimum} to {row.max_length} characters" in said


def test_what_is_wrong_with_an_option_is_said_by_its_name() -> None:
    said = CliRunner().invoke(app, ["serve", "--port", "99999"]).stderr
    assert said.startswith("lamina: INVALID_SETTING: --port is 99999; accepted: 0 to 65535 (")
    said = CliRunner().invoke(app, ["serve"], env={"LAMINA_PORT": "99999"}).stderr
    assert said.startswith("lamina: INVALID_SETTING: LAMINA_PORT is 99999; accepted: 0 to 65535 (")


def test_a_setting_of_the_server_alone_does_not_stop_a_command_that_asks_one() -> None:
    wrong = {"LAMINA_PRESET": "prod", "LAMINA_PORT": "no port"}
    said = CliRunner().invoke(app, ["recall", "x", "--url", "http://127.0.0.1:1"], env=wrong).stderr
    assert "SERVER_UNREACHABLE" in said


def test_words_of_time_belong_to_recall() -> None:
    said = CliRunner().invoke(app, ["remember", "x", "--at", "yesterday"]).stderr
    assert "INVALID_TIMESTAMP: --at is not a timestamp" in said
    assert "recall --when" in said


def test_a_token_without_an_actor_asks_for_the_actor() -> None:
    said = CliRunner().invoke(app, ["remember", "x"], env={"LAMINA_TOKEN": "of somebody"}).stderr
    assert said.startswith("lamina: INVALID_REQUEST: no --actor was named (")
