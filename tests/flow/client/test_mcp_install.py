"""``lamina mcp install``: the host's own file gets one entry, and loses nothing."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lamina.cli.commented_json import json_value
from lamina.cli.doctor import _agents
from lamina.cli.main import app
from lamina.cli.mcp_hosts import HOSTS, Machine, command_of
from lamina.cli.mcp_install import is_known, plan_install, write_planned
from lamina.errors import LaminaError

WHERE = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "opencode": ".config/opencode/opencode.json",
}
KEYS = {"codex": "mcp_servers", "vscode": "servers", "opencode": "mcp"}

Run = Callable[..., Any]


@pytest.fixture(name="home")
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin/lamina").touch(mode=0o755)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "LAMINA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.chdir(tmp_path)
    return home


@pytest.fixture(name="run")
def _run(home: Path) -> Run:
    def run(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["mcp", *arguments])
        assert result.exit_code == code, result.output
        return result

    return run


def said(file: Path) -> Any:
    text = file.read_text()
    return tomllib.loads(text) if file.suffix == ".toml" else json_value(text)


def entry_of(client: str, file: Path) -> Any:
    return said(file)[KEYS.get(client, "mcpServers")]["lamina"]


@pytest.mark.parametrize("client", HOSTS)
def test_a_host_is_told_and_told_otherwise(client: str, home: Path, run: Run) -> None:
    file = home / WHERE[client]
    run("install", "--client", client, "--actor", "user:ana")
    memory = str(home / ".local/share/lamina")
    variables = {"LAMINA_DATA": memory, "LAMINA_ACTOR": "user:ana", "LAMINA_AGENT": f"agent:{client}"}
    command = str(home / "bin/lamina") if client == "claude-desktop" else "lamina"
    entry = entry_of(client, file)
    if client == "opencode":
        whole = {"type": "local", "command": ["lamina", "mcp"], "environment": variables, "enabled": True}
        assert said(file)["$schema"].startswith("https://opencode.ai/")
    else:
        whole = {"command": command, "args": ["mcp"], "env": variables}
        whole |= {"type": "stdio"} if client in ("claude-code", "vscode") else {}
    assert entry == whole
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    assert "already" in run("install", "--client", client, "--actor", "user:ana").output
    assert file.read_bytes() == before
    assert client in _agents().found
    assert _agents().state == "ok"
    run("uninstall", "--client", client)
    assert "lamina" not in said(file).get(KEYS.get(client, "mcpServers"), {})
    assert "does not know" in run("uninstall", "--client", client).output
    assert (_agents().state, f"--client {client}" in _agents().hint) == (
        "note",
        True,
    ) or client == "claude-code"


COMMENTED = {
    "vscode": """\
// mine
{
\t"inputs": [],
\t"servers": {
\t\t/* git */ "git": {"command": "git-mcp", "env": {"KEY": "s3cret"}}, // keep
\t},
}
""",
    "codex": """\
# mine
model = "o9"   # the good one

[mcp_servers.git]   # git
command = "git-mcp"
args = [ "a",
  "b", # second
]

[profiles.x]
model = "y"
""",
}


@pytest.mark.parametrize("client", COMMENTED)
def test_comments_and_other_entries_stay_and_a_copy_lies_beside(client: str, home: Path, run: Run) -> None:
    file, text = home / WHERE[client], COMMENTED[client]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    file.chmod(0o640)
    said_before = said(file)
    output = run("install", "--client", client, "--data", "m").output
    backup = file.with_name(f"{file.name}.lamina.bak")
    assert (backup.read_text(), stat.S_IMODE(backup.stat().st_mode)) == (text, 0o640)
    assert str(backup) in output
    assert "s3cret" not in output
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    lines = iter(file.read_text().splitlines())
    assert all(any(line == other for other in lines) for line in text.splitlines()), (
        "every line stands, in order"
    )
    told = said(file)
    del told[KEYS[client]]["lamina"]
    assert told == said_before
    run("uninstall", "--client", client)
    assert file.read_text().rstrip() == text.rstrip()
    assert len(list(file.parent.glob("*.bak"))) == 2


def test_what_somebody_added_to_the_entry_stays_and_another_way_goes(home: Path, run: Run) -> None:
    for client, text in {
        "cursor": '{"mcpServers": {"lamina": {"url": "http://x/mcp", "disabled": true, // mine\n'
        '"env": {"LAMINA_URL": "http://x", "LAMINA_TOKEN": "t"}}}}',
        "codex": '[mcp_servers.lamina]\nurl = "http://x/mcp"\nbearer_token_env_var = "T"\ndisabled = true # mine\n'
        '[mcp_servers.lamina.env]\nLAMINA_URL = "http://x"\nLAMINA_TOKEN = "t"\n',
    }.items():
        file = home / WHERE[client]
        file.parent.mkdir(parents=True)
        file.write_text(text)
        run("install", "--client", client, "--data", "/m")
        entry = entry_of(client, file)
        assert entry == {
            "disabled": True,
            "command": "lamina",
            "args": ["mcp"],
            "env": {"LAMINA_TOKEN": "t", "LAMINA_DATA": "/m", "LAMINA_AGENT": f"agent:{client}"},
        }
        assert "mine" in file.read_text()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("cursor", '{"mcpServers": {'),
        ("cursor", '{"mcpServers": []}'),
        ("cursor", "[]"),
        ("codex", "[mcp_servers"),
        ("codex", "mcp_servers = 7"),
        ("codex", "a = 1\na = 2"),
        ("vscode", b"\xff\xfe{}"),
    ],
)
def test_a_file_that_does_not_parse_is_refused(client: str, text: Any, home: Path, run: Run) -> None:
    file = home / WHERE[client]
    file.parent.mkdir(parents=True)
    raw = text if isinstance(text, bytes) else text.encode()
    file.write_bytes(raw)
    for command in ("install", "uninstall"):
        output = run(command, "--client", client, code=2).output
        assert "HOST_FILE_UNREADABLE" in output
    assert file.read_bytes() == raw
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    assert (_agents().state, str(file) in _agents().hint) == ("note", True)


def test_what_is_no_file_is_neither_waited_for_nor_replaced(home: Path, run: Run) -> None:
    pipe = home / WHERE["cursor"]
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    for command in ("install", "uninstall"):
        assert "HOST_FILE_UNREADABLE" in run(command, "--client", "cursor", code=2).output
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = {}\n",
        'mcp_servers = { git = { command = "g" } } # inline\n',
        "mcp_servers.git.command = 'g'\n",
        "[mcp_servers]\n# none yet\n",
        "[a]\nx = 1\n[mcp_servers.git]\ncommand = 'g'\n[b]\ny = 2\n[mcp_servers.hub]\nurl = 'h'\n",
        "\r\n# words\r\n[a]\r\nb = 1\r\n",
        "[[list]]\nx = 1\n\n[[list]]\nx = 2\n",
    ],
)
def test_toml_in_all_its_forms(text: str, home: Path, run: Run) -> None:
    file = home / WHERE["codex"]
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    before = said(file)
    run("install", "--client", "codex", "--data", "/m")
    told = said(file)
    assert told["mcp_servers"].pop("lamina")["command"] == "lamina"
    assert told == {"mcp_servers": {}} | before
    for words in ("# inline", "# none yet", "# words"):
        assert (words in text) == (words in file.read_text())
    run("uninstall", "--client", "codex")
    assert "lamina" not in said(file).get("mcp_servers", {})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_comment_on_the_table_behind_ours_stays_when_ours_goes(home: Path, run: Run, end: str) -> None:
    file = home / WHERE["codex"]
    file.parent.mkdir()
    lines = [
        "# mine",
        "[mcp_servers.lamina]",
        'command = "lamina"',
        "",
        "[mcp_servers.lamina.env]",
        'A = "1"',
    ]
    behind = ["", "# the one for work, its key is in the safe", "[mcp_servers.git]", 'command = "git"', ""]
    file.write_bytes(end.join(lines + behind).encode())
    run("uninstall", "--client", "codex")
    assert file.read_bytes().decode() == end.join(["# mine", *behind])


def test_print_writes_nothing(home: Path, run: Run) -> None:
    for client in HOSTS:
        result = run(
            "install", "--client", client, "--print", "--url", "http://h:1", "--tools", "cortex,relay"
        )
        text = result.stdout
        shown = tomllib.loads(text) if client == "codex" else json.loads(text)
        entry = shown[KEYS.get(client, "mcpServers")]["lamina"]
        assert entry.get("env", entry.get("environment"))["LAMINA_URL"] == "http://h:1"
        assert "cortex,relay" in (entry["command"] if client == "opencode" else entry["args"])
        assert str(home / WHERE[client]) in result.stderr
    assert [each.name for each in home.iterdir()] == ["bin"]


def test_a_project_has_a_file_of_its_own(home: Path, run: Run, tmp_path: Path) -> None:
    for client, name in {"claude-code": ".mcp.json", "vscode": ".vscode/mcp.json"}.items():
        run("install", "--client", client, "--project")
        assert "LAMINA_DATA" not in entry_of(client, tmp_path / name)["env"]
    (tmp_path / "opencode.jsonc").write_text('{"mcp": {"servers": {"git": {"type": "local"}}}} // two')
    run("install", "--client", "opencode", "--project")
    assert set(said(tmp_path / "opencode.jsonc")["mcp"]["servers"]) == {"git", "lamina"}
    assert not (tmp_path / "opencode.json").exists()
    assert "--project" in run("install", "--client", "claude-desktop", "--project", code=2).output
    for wrong in (["--client", "emacs"], ["--client", "cursor", "--actor", "ana"]):
        run("install", *wrong, code=2)
    assert not (home / ".cursor").exists()


def test_a_link_stays_a_link_and_what_changed_meanwhile_is_not_written_over(
    home: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "dotfiles/mcp.json"
    kept.parent.mkdir()
    kept.write_text("{}")
    file = home / WHERE["cursor"]
    file.parent.mkdir()
    file.symlink_to(kept)
    planned = plan_install(HOSTS["cursor"], file, ["lamina", "mcp"], {})
    kept.write_text('{"new": 1}')
    with pytest.raises(LaminaError, match="HOST_FILE_NOT_WRITTEN"):
        write_planned(planned)
    assert kept.read_text() == '{"new": 1}'
    write_planned(plan_install(HOSTS["cursor"], file, ["lamina", "mcp"], {}))
    assert file.is_symlink()
    assert json.loads(kept.read_text())["new"] == 1
    assert is_known(HOSTS["cursor"], file)


def test_what_a_host_writes_while_the_disk_is_waited_for_is_not_written_over(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / WHERE["claude-code"]
    file.write_text("{}")
    planned = plan_install(HOSTS["claude-code"], file, ["lamina", "mcp"], {})
    monkeypatch.setattr("os.fsync", lambda _: file.write_text('{"new": 1}'))
    with pytest.raises(LaminaError, match="HOST_FILE_NOT_WRITTEN"):
        write_planned(planned)
    assert file.read_text() == '{"new": 1}'
    assert not list(home.glob(".*.claude.json.*"))


def test_where_hosts_keep_their_files_on_other_systems() -> None:
    mac = Machine("darwin", Path("/h/ana"), {}, Path("/"))
    assert str(HOSTS["vscode"].user_file(mac)).endswith("Library/Application Support/Code/User/mcp.json")
    windows = Machine("win32", Path("/c/ana"), {"APPDATA": "/c/roaming", "CODEX_HOME": "/c/codex"}, Path("/"))
    assert HOSTS["claude-desktop"].user_file(windows) == Path("/c/roaming/Claude/claude_desktop_config.json")
    assert HOSTS["codex"].user_file(windows) == Path("/c/codex/config.toml")


def test_the_command_is_one_that_lasts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command_of(whole_path=False) == ["lamina"]
    (home / "bin/lamina").unlink()
    assert Path(command_of(whole_path=False)[0]).is_absolute()
    monkeypatch.setattr("sys.prefix", "/h/ana/.cache/uv/archive-v0/x1y2")
    assert command_of(whole_path=False) == ["uvx", "lamina"]
