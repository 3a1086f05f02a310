"""A scripted coding agent over three sittings: what comes back at each start with the hooks, and what is missing without."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lamina.hooks.running import run_hook
from lamina.kernel.time import SECOND_US

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("coding_agent", ROOT / "examples/coding_agent/run.py")
assert _SPEC is not None
assert _SPEC.loader is not None
agent = sys.modules["coding_agent"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(agent)

SUBJECT = {"subject_kind": "thread", "subject_id": "invoice-export"}


class Host:
    """A host in the folder of a project, whose hooks reach a world in this process. Each event is a minute after the one before."""

    def __init__(self, world: Any, folder: Path, host: str = "claude-code", **environment: str) -> None:
        self.world, self.folder, self.host = world, folder, host
        self.environment = {"XDG_STATE_HOME": str(folder / "state"), "PATH": "/usr/bin:/bin", **environment}
        self.is_away = False
        self.asked: list[str] = []

    def __call__(self, event: str, given: Mapping[str, Any]) -> Any:
        self.world.clock.at += 60 * SECOND_US
        now = datetime.fromtimestamp(self.world.clock.at / SECOND_US, UTC)
        told = json.dumps({"cwd": str(self.folder), **given, "hook_event_name": event})
        said = run_hook(self.host, event, told, self.environment, now, self._send)
        return json.loads(said) if said else {}

    def _send(
        self, verb: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, str, bytes]:
        if self.is_away:
            raise ConnectionRefusedError
        self.asked.append(f"{verb} {path.partition('?')[0]}")
        given = None if body is None else json.loads(body)
        answer = self.world.call(verb, path, headers=dict(headers), body=given)
        return answer.status_code, answer.headers["content-type"].partition(";")[0], answer.content

    def use(self, tool: str, arguments: Mapping[str, Any]) -> None:
        from lamina.hooks.choices import Line
        from lamina.hooks.memory import Memory
        from lamina.hooks.wire import Server

        self.world.clock.at += 60 * SECOND_US
        headers = {"X-Lamina-Agent": f"agent:{self.host}"}
        memory = Memory(
            Server(self._send, headers), Line("thread", "x"), "s", agent="a", scope=None, caller=""
        )
        memory._tool(tool, arguments)

    def says(self, prompt: str, session: str = "s-1", **more: Any) -> str:
        told = {"session_id": session, "prompt": prompt, **more}
        return context(self("UserPromptSubmit", told))

    def stops(self, reply: str = "Done.", session: str = "s-1", **more: Any) -> Any:
        return self("Stop", {"session_id": session, "last_assistant_message": reply, **more})

    def starts(self, source: str = "startup", session: str = "s-1") -> str:
        return context(self("SessionStart", {"session_id": session, "source": source}))


def context(answer: Mapping[str, Any]) -> str:
    return str((answer.get("hookSpecificOutput") or {}).get("additionalContext", ""))


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A repository on a branch, with a changed file."""
    folder = tmp_path / "billing"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "feature/stream"], check=True)
    (folder / "stream.py").write_text("x = 1\n")
    return folder


@pytest.fixture(name="host")
def _host(world: Any, folder: Path) -> Host:
    return Host(world, folder, LAMINA_SUBJECT="thread:invoice-export")


def test_goal_constraints_open_ends_and_decisions_come_back_at_every_start(host: Host) -> None:
    played = list(agent.play(host, host.use, host.folder))
    starts = [each for each in played if isinstance(each, agent.Started)]
    for row in agent.scores(starts):
        assert row.missing == [], row.start
        assert row.unsettled == [], row.start
        assert 300 < row.tokens <= 1200, row.start
    asked_behind = [each for each in played if isinstance(each, str)]
    assert [each[:12] for each in asked_behind] == ["Good, do it ", "Priya wants "]


def test_without_the_plugin_they_are_missing() -> None:
    played = agent.play(agent.without_plugin, lambda *_: None, ROOT)
    rows = agent.scores([each for each in played if isinstance(each, agent.Started)])
    back = {row.start: sum(back for back, _ in row.back.values()) for row in rows}
    assert back == {"Tuesday startup": 0, "Tuesday compact": 0, "Wednesday startup": 0}
    assert [sum(of for _, of in row.back.values()) for row in rows] == [8, 9, 11]
