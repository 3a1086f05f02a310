"""What a host's own transcript shows: whether a start reached the model, and what it answered last."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

__all__ = ["arrived", "last_reply"]

_PART_BYTES: Final = 512 * 1024
"""Of the beginning and of the end of a transcript: starts are noted at both, the last answer at the end."""
_NOT_INGESTED: Final = frozenset({"stdout", "stderr", "command"})
"""What a hook printed is noted under these even where the host dropped it."""


def arrived(transcript: Path | None, mark: str) -> bool:
    """Whether a transcript shows that a start reached the model. What a hook printed is noted there even where it was dropped."""
    escaped = json.dumps(mark)[1:-1]
    twice = json.dumps(escaped)[1:-1]
    rows = (row for row in _rows(transcript) if mark in row or escaped in row or twice in row)
    return any(_holds(json.loads(row), mark) for row in rows if _is_json(row))


def _holds(value: Any, mark: str) -> bool:  # Any: a host's JSON
    if isinstance(value, str):
        return mark in value
    if isinstance(value, list):
        return any(_holds(each, mark) for each in value)
    if isinstance(value, dict):
        return any(_holds(each, mark) for name, each in value.items() if name not in _NOT_INGESTED)
    return False


def last_reply(transcript: Path | None) -> str | None:
    """The text that the model answered last, in a transcript of Claude Code."""
    for row in reversed(list(_rows(transcript))):
        if '"assistant"' not in row or not _is_json(row):
            continue
        message = json.loads(row).get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list) or message.get("role") != "assistant":
            continue
        parts = [
            each.get("text", "") for each in content if isinstance(each, dict) and each.get("type") == "text"
        ]
        if any(parts):
            return "\n".join(part for part in parts if part)
    return None


def _is_json(row: str) -> bool:
    try:
        return isinstance(json.loads(row), dict)
    except ValueError:
        return False


def _rows(transcript: Path | None) -> Iterable[str]:
    """The first and the last lines of a file of lines; none where it cannot be read."""
    if transcript is None:
        return ()
    try:
        with transcript.open("rb") as file:
            head = file.read(_PART_BYTES)
            size = file.seek(0, 2)
            file.seek(max(len(head), size - _PART_BYTES))
            tail = file.read(_PART_BYTES)
    except OSError:
        return ()
    return [line for part in (head, tail) for line in part.decode(errors="replace").splitlines()]
