"""The configuration that a page shows is what its host reads, and starts the command that there is."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
from jsonschema import Draft202012Validator

from lamina.cli.main import app
from lamina.settings import load_settings

ROOT = Path(__file__).parents[2]
HOSTS = sorted(path.name.removesuffix(".schema.json") for path in ROOT.glob("tests/data/hosts/*.schema.json"))

hosts = pytest.mark.parametrize("host", HOSTS)


def schema_of(host: str) -> Draft202012Validator:
    schema = json.loads((ROOT / "tests/data/hosts" / f"{host}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert "Source: " in schema["$comment"]
    return Draft202012Validator(schema)


def blocks_of(host: str) -> list[dict[str, Any]]:
    """The configurations of the host's page, in their order."""
    page = (ROOT / "docs/how-to" / f"use-with-{host}.md").read_text(encoding="utf-8")
    read = {"json": json.loads, "toml": tomllib.loads}
    found = re.findall(r"^```(json|toml)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [read[language](text) for language, text in found]


def servers(configuration: dict[str, Any]) -> list[dict[str, Any]]:
    """What a configuration says of each server called lamina, wherever it stands."""
    entries = [value for name, value in configuration.items() if name == "lamina"]
    inner = [value for value in configuration.values() if isinstance(value, dict) and value not in entries]
    return entries + [entry for value in inner for entry in servers(value)]


def test_every_page_of_a_host_has_its_schema():
    pages = {path.stem.removeprefix("use-with-") for path in ROOT.glob("docs/how-to/use-with-*.md")}
    assert pages - {"mcp"} == set(HOSTS)
    assert len(HOSTS) == 6


@hosts
def test_the_configurations_of_a_page_are_what_the_host_reads(host: str):
    schema = schema_of(host)
    blocks = blocks_of(host)
    assert len(blocks) >= 2, "one with a command, one for a server that runs"
    for block in blocks:
        schema.validate(block)


@hosts
def test_the_schema_refuses_what_the_host_would_not_understand(host: str):
    schema = schema_of(host)
    for block in blocks_of(host):
        (entry,) = servers(block)
        for wrong in (
            {**entry, "arguments": []},
            {name: entry[name] for name in entry.keys() - {"command", "url"}},
        ):
            broken = json.loads(json.dumps(block).replace(json.dumps(entry), json.dumps(wrong)))
            assert broken != block
            assert not schema.is_valid(broken), wrong
    others = [each for each in HOSTS if not schema_of(each).is_valid(blocks_of(host)[0])]
    assert len(others) >= 3, "hosts name the key in three ways and more"


@hosts
def test_what_a_configuration_starts_is_a_command_with_settings_that_exist(host: str):
    commands = typer.main.get_command(app).commands
    for block in blocks_of(host):
        (entry,) = servers(block)
        if "url" in entry:
            assert entry["url"] == "http://127.0.0.1:8700/mcp"
            continue
        command = entry["command"]
        words = command if isinstance(command, list) else [command, *entry["args"]]
        assert Path(words[0]).name == "lamina"
        commands[words[1]].make_context(words[1], words[2:])
        load_settings(entry.get("env") or entry["environment"])
