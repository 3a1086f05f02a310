"""The hosts of agents that ``lamina mcp install`` knows: which file each reads, where in it a server stands, and in which shape."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

__all__ = ["HOSTS", "NAME", "Host", "Machine", "command_of", "this_machine"]

NAME: Final = "lamina"
"""What the server is called in every host's file."""

Entry = dict[str, Any]
"""A server as a host's file has it: JSON, or TOML of the same shape."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where hosts keep their files: the system, the home folder, the environment and the current folder."""

    system: str
    home: Path
    environment: Mapping[str, str]
    current: Path

    def settings_folder(self) -> Path:
        """Where programs with windows keep the settings of a user."""
        if self.system == "darwin":
            return self.home / "Library/Application Support"
        if self.system == "win32":
            return Path(self.environment.get("APPDATA") or self.home / "AppData/Roaming")
        return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config")

    def plain_folder(self, variable: str, name: str) -> Path:
        """A folder that a variable names, else one in the home folder."""
        return Path(self.environment.get(variable) or self.home / name)


def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(sys.platform, Path.home(), os.environ, Path.cwd())


@dataclass(frozen=True, slots=True)
class Host:
    """A host. ``keys`` lead to its servers by their names; ``shape`` says how one is written.

    ``reads_path`` says whether the host starts commands with the path of the user's shell.
    """

    name: str
    title: str
    form: Literal["json", "toml"]
    keys: tuple[str, ...]
    shape: Literal["stdio", "typed stdio", "local"]
    project: str | None
    reads_path: bool = True

    def user_file(self, machine: Machine) -> Path:
        """The file that holds for all of a user's projects."""
        return _USER_FILES[self.name](machine)

    def project_file(self, machine: Machine) -> Path | None:
        """The file of the current folder; None where the host has none of that kind."""
        return None if self.project is None else _existing(machine.current / self.project)

    def is_here(self, machine: Machine) -> bool:
        """Whether the host seems to be installed: its file is there, or a folder of its own to hold it."""
        file = self.user_file(machine)
        return file.is_file() or (file.parent != machine.home and file.parent.is_dir())

    def path_in(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        """Where the server stands in a document, or would."""
        keys = self.keys
        inner = document.get(keys[0])
        # OpenCode 2 has the names one level deeper, and reads both.
        if self.name == "opencode" and isinstance(inner, dict) and isinstance(inner.get("servers"), dict):
            keys = (*keys, "servers")
        return (*keys, NAME)

    def entry(self, command: list[str], environment: Mapping[str, str]) -> Entry:
        """The server as this host's file has it."""
        if self.shape == "local":
            return {"type": "local", "command": command, "environment": dict(environment), "enabled": True}
        kind: Entry = {"type": "stdio"} if self.shape == "typed stdio" else {}
        return kind | {"command": command[0], "args": command[1:], "env": dict(environment)}

    @property
    def environment_key(self) -> str:
        """Under which key the environment of the command stands."""
        return "environment" if self.shape == "local" else "env"


def _existing(file: Path) -> Path:
    """The file, or its twin with comments where only that is there."""
    twin = file.with_suffix(".jsonc")
    return twin if file.suffix == ".json" and not file.exists() and twin.exists() else file


def _claude_code(machine: Machine) -> Path:
    return machine.plain_folder("CLAUDE_CONFIG_DIR", "") / ".claude.json"


def _opencode(machine: Machine) -> Path:
    base = machine.environment.get("XDG_CONFIG_HOME") or machine.home / ".config"
    return _existing(Path(base) / "opencode/opencode.json")


_USER_FILES: Final[Mapping[str, Callable[[Machine], Path]]] = {
    "claude-code": _claude_code,
    "claude-desktop": lambda machine: machine.settings_folder() / "Claude/claude_desktop_config.json",
    "codex": lambda machine: machine.plain_folder("CODEX_HOME", ".codex") / "config.toml",
    "cursor": lambda machine: machine.home / ".cursor/mcp.json",
    "vscode": lambda machine: machine.settings_folder() / "Code/User/mcp.json",
    "opencode": _opencode,
}

HOSTS: Final[Mapping[str, Host]] = {
    host.name: host
    for host in (
        Host("claude-code", "Claude Code", "json", ("mcpServers",), "typed stdio", ".mcp.json"),
        Host(
            "claude-desktop", "Claude Desktop", "json", ("mcpServers",), "stdio", None, reads_path=False
        ),
        Host("codex", "Codex", "toml", ("mcp_servers",), "stdio", ".codex/config.toml"),
        Host("cursor", "Cursor", "json", ("mcpServers",), "stdio", ".cursor/mcp.json"),
        Host("vscode", "VS Code", "json", ("servers",), "typed stdio", ".vscode/mcp.json"),
        Host("opencode", "OpenCode", "json", ("mcp",), "local", "opencode.json"),
    )
}  # fmt: skip
"""By the word that ``--client`` takes."""


def command_of(*, whole_path: bool) -> list[str]:
    """How another program starts this ``lamina``: by its name where the shell finds it, else by its path.

    ``whole_path`` is for a program that does not know the shell's path. What ``uvx`` runs has no lasting path: uvx is started again.
    """
    if any(part in ("archive-v0", "environments-v2") for part in Path(sys.prefix).parts):
        uvx = shutil.which("uvx")
        return [uvx if whole_path and uvx else "uvx", NAME]
    found = shutil.which(NAME)
    if found is not None:
        return [str(Path(found).absolute()) if whole_path else NAME]
    beside = Path(sys.executable).parent / NAME
    return [str(beside)] if beside.exists() else [sys.executable, "-m", NAME]
