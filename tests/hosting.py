"""A host of coding agents whose hooks reach a world in this process, and the scripted agent of the examples."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lamina.hooks.choices import WorkLine
from lamina.hooks.memory import LineMemory
from lamina.hooks.running import run_hook
from lamina.hooks.wire import ServerClient
from lamina.kernel.time import SECOND_US

__all__ = ["Host", "agent", "context", "is_of"]

ROOT = Path(__file__).parents[1]
SCHEMA: dict[str, Any] = json.loads(
    (ROOT / "tests/data/agents/hosts.schema.json").read_text(encoding="utf-8")
)
_SPEC = importlib.util.spec_from_file_location("coding_agent", ROOT / "examples/coding_agent/run.py")
assert _SPEC is not None
assert _SPEC.loader is not None
agent = sys.modules["coding_agent"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(agent)


def is_of(kind: str, value: Any) -> None:
    """Nothing, or an error where a value is not what a host takes."""
    Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}).validate(value)


class Host:
    """A host in the folder of a project, whose hooks reach a world in this process. Each event is a minute after the one before.

    Every answer is held to what the host takes.
    """

    def __init__(self, world: Any, folder: Path, host: str = "claude-code", **environment: str) -> None:
        self.world, self.folder, self.host = world, folder, host
        self.environment = {"XDG_STATE_HOME": str(folder / "state"), "PATH": "/usr/bin:/bin", **environment}
        self.is_away = False
        self.answers: tuple[int, str, bytes] | None = None
        self.asked: list[str] = []

    def __call__(self, event: str, given: Mapping[str, Any]) -> Any:
        self.world.clock.at += 60 * SECOND_US
        now = datetime.fromtimestamp(self.world.clock.at / SECOND_US, UTC)
        told = json.dumps({"cwd": str(self.folder), **given, "hook_event_name": event})
        said = run_hook(self.host, event, told, self.environment, now, self._send)
        answer = json.loads(said) if said else {}
        is_of(f"{self.host}.{event}", answer if said or self.host != "cursor" else {})
        return answer

    def _send(
        self, verb: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, str, bytes]:
        if self.is_away:
            raise ConnectionRefusedError
        if self.answers is not None:
            return self.answers
        self.asked.append(f"{verb} {path.partition('?')[0]}")
        given = None if body is None else json.loads(body)
        answer = self.world.call(verb, path, headers=dict(headers), body=given)
        return answer.status_code, answer.headers["content-type"].partition(";")[0], answer.content

    def use(self, tool: str, arguments: Mapping[str, Any]) -> None:
        self.world.clock.at += 60 * SECOND_US
        headers = {"X-Lamina-Agent": f"agent:{self.host}"}
        memory = LineMemory(
            ServerClient(self._send, headers), WorkLine("thread", "x"), "s", agent="a", scope=None, caller=""
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
