"""The plugin of coding agents: what each host reads of it, and that its hooks run where Lamina is not installed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from hosting import is_of
from lamina import __version__
from lamina.cli.main import app
from lamina.hooks.choices import choices_in
from lamina.hooks.hosts import EVENTS, HOSTS, moment_of
from lamina.mcp.tools import TOOLS

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "integrations/agents"
MANIFESTS = {"claude-code": ".claude-plugin", "codex": ".codex-plugin", "cursor": ".cursor-plugin"}
SERVERS = {"claude-code": ".mcp.json", "codex": ".codex-mcp.json", "cursor": ".cursor-mcp.json"}
HOOKS = {"claude-code": "hooks.json", "codex": "codex.json", "cursor": "cursor.json"}
PLACES = {"claude-code": "CLAUDE_PLUGIN_ROOT", "codex": "PLUGIN_ROOT", "cursor": "CURSOR_PLUGIN_ROOT:-."}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_reads_the_manifest_and_all_that_it_names(host: str) -> None:
    manifest = read(PLUGIN / MANIFESTS[host] / "plugin.json")
    is_of(f"{host}.plugin", manifest)
    assert manifest["version"] == __version__
    named = [manifest[name] for name in ("skills", "rules", "hooks", "mcpServers") if name in manifest]
    assert all((PLUGIN / each).exists() for each in named)
    assert [path.name for path in (PLUGIN / MANIFESTS[host]).iterdir()] == ["plugin.json"]
    is_of(f"{host}.mcp", read(PLUGIN / SERVERS[host]))


def test_the_repository_is_a_marketplace_of_the_plugin() -> None:
    for host, folder in (("claude-code", ".claude-plugin"), ("cursor", ".cursor-plugin")):
        marketplace = read(ROOT / folder / "marketplace.json")
        is_of(f"{host}.marketplace", marketplace)
        (entry,) = marketplace["plugins"]
        assert (ROOT / entry["source"]).samefile(PLUGIN)
        assert entry["name"] == read(PLUGIN / MANIFESTS[host] / "plugin.json")["name"]


@pytest.mark.parametrize("host", HOSTS)
def test_every_event_runs_the_script_in_the_words_of_its_host(host: str) -> None:
    hooks = read(PLUGIN / "hooks" / HOOKS[host])
    is_of(f"{host}.hooks", hooks)
    events = set()
    for event, groups in hooks["hooks"].items():
        for entry in [each for group in groups for each in group.get("hooks", [group])]:
            assert entry["timeout"] == 5
            assert entry["command"] == f'python3 "${{{PLACES[host]}}}/hooks/lamina_hook.py" {host} {event}'
            events.add(moment_of(host, event, {}).event)
    left_out = {"claude-code": {"AgentResponse"}, "codex": {"AgentResponse", "SessionEnd"}, "cursor": set()}
    assert events == set(EVENTS) - left_out[host]


@pytest.mark.parametrize("host", HOSTS)
def test_the_tools_of_a_host_are_started_by_options_that_there_are(host: str) -> None:
    server = read(PLUGIN / SERVERS[host])["mcpServers"]["lamina"]
    command, *options = server["args"]
    known = {each for item in get_command(app).commands[command].params for each in item.opts}
    assert set(options) <= known
    assert server["env"] == {"LAMINA_AGENT": f"agent:{host}"}


def test_a_memory_of_ones_own_is_looked_for_behind_that_of_the_project(tmp_path: Path) -> None:
    project, home = tmp_path / "app", {"HOME": str(tmp_path)}
    below = project / "src"
    below.mkdir(parents=True)
    (project / ".git").mkdir()
    found = choices_in(below, home).data
    own = tmp_path / ".local/share/lamina"
    assert found == (below / "lamina-data", project / "lamina-data", own)
    assert choices_in(below, {**home, "LAMINA_DATA": "/m"}).data == (Path("/m"),)


def test_skills_have_the_front_matter_that_hosts_read_and_name_real_tools() -> None:
    for path in sorted((PLUGIN / "skills").glob("*/SKILL.md")):
        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
        is_of("skill", yaml.safe_load(front))
        assert yaml.safe_load(front)["name"] == path.parent.name
        assert set(re.findall(r"`(capsule_[a-z0-9]+)", body)) - {"capsule_sha256"} <= TOOLS.keys()
        assert len(body.splitlines()) < 120
    rule = (PLUGIN / "rules/lamina.mdc").read_text(encoding="utf-8").split("---\n", 2)[1]
    assert yaml.safe_load(rule)["alwaysApply"] is True


def test_the_plugins_copy_is_what_the_modules_are() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/plugin", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_hooks_import_the_standard_library_alone() -> None:
    found = set()
    for path in sorted((PLUGIN / "hooks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    assert found - sys.stdlib_module_names == {"lamina"}
