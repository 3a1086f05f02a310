"""The words of each host: what its events are called and carry, and in which JSON it takes an answer.

Claude Code: https://code.claude.com/docs/en/hooks. Codex: the schemas in codex-rs/hooks/schema of openai/codex, which refuse what
they do not know. Cursor: https://cursor.com/docs/hooks; of its events only ``sessionStart`` puts text before the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["EVENTS", "HOSTS", "HookEvent", "HookOutput", "UnknownHook", "moment_of", "worded"]

HOSTS: Final = ("claude-code", "codex", "cursor")
EVENTS: Final = ("SessionStart", "UserPromptSubmit", "AgentResponse", "Stop", "PreCompact", "SessionEnd")
"""What we call them: as Claude Code and Codex do; ``AgentResponse`` is Cursor's alone."""

_OF_CURSOR: Final = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "afterAgentResponse": "AgentResponse",
    "stop": "Stop",
    "preCompact": "PreCompact",
    "sessionEnd": "SessionEnd",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """An event of a host. ``continues`` says that the stop is that of a turn which a hook asked for."""

    host: str
    event: str
    session: str
    cwd: Path
    source: str = ""
    prompt: str = ""
    reply: str | None = None
    continues: bool = False
    transcript: Path | None = None


class UnknownHook(ValueError):
    """A host or an event that is none; the message names those that there are."""


@dataclass(frozen=True, slots=True)
class HookOutput:
    """What a hook says: ``context`` for the model, ``wish`` as a reason to go on, ``notice`` for the person."""

    context: str = ""
    wish: str = ""
    notice: str = ""


def moment_of(host: str, event: str, given: Mapping[str, Any]) -> HookEvent:
    """The event of a host's JSON. Raises ``UnknownHook`` for a host or an event that is none."""
    name = _OF_CURSOR.get(event, event)
    if host not in HOSTS:
        raise UnknownHook(f"{host!r} is none of {', '.join(HOSTS)}")
    if name not in EVENTS:
        raise UnknownHook(f"{event!r} is none of {', '.join((*EVENTS, *_OF_CURSOR))}")
    roots = given.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots else None
    transcript = _text(given, "transcript_path")
    return HookEvent(
        host=host,
        event=name,
        session=_text(given, "session_id") or _text(given, "conversation_id") or "unnamed",
        cwd=Path(_text(given, "cwd") or (root if isinstance(root, str) else "") or "."),
        source=_text(given, "source"),
        prompt=_text(given, "prompt"),
        reply=_text(given, "last_assistant_message") or _text(given, "text") or None,
        continues=given.get("stop_hook_active") is True or (_count(given, "loop_count") > 0),
        transcript=Path(transcript) if transcript else None,
    )


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


def _count(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    return value if isinstance(value, int) else 0


def worded(moment: HookEvent, answer: HookOutput) -> str:
    """The answer in the host's JSON; empty where there is nothing to say, which every host takes for leave to go on."""
    said = _cursors(moment, answer) if moment.host == "cursor" else _claudes(moment, answer)
    return json.dumps(said, ensure_ascii=False) if said else ""


def _claudes(moment: HookEvent, answer: HookOutput) -> dict[str, Any]:
    """Claude Code's words, which are Codex's too."""
    said: dict[str, Any] = {}
    if answer.context and moment.event in ("SessionStart", "UserPromptSubmit"):
        said["hookSpecificOutput"] = {"hookEventName": moment.event, "additionalContext": answer.context}
    if answer.wish and moment.event == "Stop":
        said |= {"decision": "block", "reason": answer.wish}
    if answer.notice:
        said["systemMessage"] = answer.notice
    return said


def _cursors(moment: HookEvent, answer: HookOutput) -> dict[str, Any]:
    if moment.event == "UserPromptSubmit":
        return {"continue": True}
    if answer.wish and moment.event == "Stop":
        return {"followup_message": answer.wish}
    return {"additional_context": answer.context} if answer.context and moment.event == "SessionStart" else {}
