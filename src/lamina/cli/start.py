"""What ``lamina`` alone says: whether a server answers, and the commands that come next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lamina import __version__
from lamina.client import Client
from lamina.client.responses import without_password
from lamina.errors import LaminaError

__all__ = ["next_steps"]

_LOOK_S: Final = 1.0

_AGENT: Final = (
    "lamina mcp install --client claude-code",
    "give an agent a memory; or codex, cursor, vscode, opencode, claude-desktop; others start: lamina mcp",
)
_UNSERVED: Final = (
    _AGENT,
    (
        "lamina serve",
        "start a server, with everything in one folder; then, in a second terminal: lamina demo",
    ),
)
_SERVED: Final = (
    ("lamina demo", "store a conversation of 67 turns and ask it four questions"),
    ('lamina remember "I moved to Lisbon."', "tell it something"),
    ('lamina recall "Where do I live?"', "and ask"),
    _AGENT,
)
_ALWAYS: Final = (
    ("lamina doctor", "look whether all is well"),
    ("lamina --help", "every command"),
)


def next_steps(url: str) -> str:
    """What there is to do next, in lines; it asks for at most a second whether a server answers at ``url``."""
    served = _answers(url)
    shown = without_password(url)
    state = f"A server answers at {shown}." if served else f"No server answers at {shown}."
    steps = (*(_SERVED if served else _UNSERVED), *_ALWAYS)
    return "\n".join(
        [f"Lamina {__version__}, a memory server for AI agents. {state}", "", "Next:", *_table(steps)]
    )


def _answers(url: str) -> bool:
    try:
        with Client(url, timeout_s=_LOOK_S, retries=0) as client:
            client.version()
    except LaminaError:
        return False
    return True


def _table(steps: Sequence[tuple[str, str]]) -> list[str]:
    width = max(len(command) for command, _ in steps)
    return [f"  {command:{width}}  {what}" for command, what in steps]
