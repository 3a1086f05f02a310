"""What hooks keep between two events, in small files of the user's own: processes that live for a moment remember nothing.

Texts in them are masked already. A file that cannot be read is as none: memory is worth less than the work.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar

__all__ = ["LineNotes", "Notes", "SessionNotes", "Turn", "notes_folder"]

_KEPT_SESSIONS_MAX: Final = 200
"""Of sessions that never ended. The oldest go."""

NotesT = TypeVar("NotesT", "SessionNotes", "LineNotes")


@dataclass
class Turn:
    """What was said and answered; ``at`` is RFC 3339 with an offset."""

    at: str
    prompt: str
    reply: str | None = None


@dataclass
class SessionNotes:
    """Of one session of one host. ``open`` is a turn that was not answered yet (with ``sent`` where another session sent it),
    ``unsent`` are those that no server took yet."""

    folder: str = ""
    host: str = ""
    session: str = ""
    open: dict[str, Any] | None = None
    unsent: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    private: bool = False
    page_arrived: bool = False
    compacted: bool = False
    recalled: list[str] = field(default_factory=list)


@dataclass
class LineNotes:
    """Of one line of work: how many turns since the capsule was asked for at ``since``, and when each host was here last."""

    turns: int = 0
    since: str = ""
    here_at: dict[str, str] = field(default_factory=dict)


def notes_folder(environment: Mapping[str, str]) -> Path:
    """Where the notes are: ``lamina/hooks`` in the user's folder of state (XDG Base Directory)."""
    state = environment.get("XDG_STATE_HOME") or os.path.join(
        environment.get("HOME") or "~", ".local", "state"
    )
    return Path(state).expanduser() / "lamina" / "hooks"


class Notes:
    """The files of a folder, which only the user may read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def session(self, host: str, session: str) -> SessionNotes:
        """The notes of a session; empty ones where there are none."""
        return _read(self._session(host, session), SessionNotes)

    def keep_session(self, host: str, session: str, notes: SessionNotes) -> None:
        """Keep the notes of a session."""
        self._write(self._session(host, session), asdict(notes))

    def end_session(self, host: str, session: str) -> None:
        """Forget a session."""
        with contextlib.suppress(OSError):
            self._session(host, session).unlink(missing_ok=True)

    def left_over(self, host: str, session: str, folder: str) -> list[tuple[Path, SessionNotes]]:
        """Other sessions of a project that have something to send: they were cut off, or go on beside this one."""
        own = self._session(host, session)
        files = sorted(self._folder.glob("session-*.json"), key=_age, reverse=True)
        for stale in files[_KEPT_SESSIONS_MAX:]:
            with contextlib.suppress(OSError):
                stale.unlink()
        read = ((path, _read(path, SessionNotes)) for path in files[:_KEPT_SESSIONS_MAX] if path != own)
        return [(path, each) for path, each in read if each.folder == folder and _has_something(each)]

    def take_away(
        self, path: Path, sent: Sequence[Mapping[str, Any]], sent_open: Mapping[str, Any] | None
    ) -> None:
        """Take turns that were sent out of notes that ``left_over`` gave, and mark an open one. Their session may have gone on
        meanwhile: what it noted since stays, and so does its end."""
        notes = _read(path, SessionNotes)
        unsent = [turn for turn in notes.unsent if turn not in sent]
        is_open = sent_open is not None and notes.open == sent_open
        if unsent == notes.unsent and not is_open:
            return
        notes.unsent = unsent
        if is_open and notes.open is not None:
            notes.open["sent"] = True
        self._write(path, asdict(notes))

    def line(self, folder: str, label: str) -> LineNotes:
        """The notes of a line of work in a project."""
        return _read(self._line(folder, label), LineNotes)

    def keep_line(self, folder: str, label: str, notes: LineNotes) -> None:
        """Keep the notes of a line of work."""
        self._write(self._line(folder, label), asdict(notes))

    def _session(self, host: str, session: str) -> Path:
        return self._folder / f"session-{_name(host, session)}.json"

    def _line(self, folder: str, label: str) -> Path:
        return self._folder / f"line-{_name(folder, label)}.json"

    def _write(self, path: Path, value: dict[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, beside = tempfile.mkstemp(dir=self._folder)  # made for the user alone
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(beside, path)


def _has_something(notes: SessionNotes) -> bool:
    return bool(notes.unsent) or (notes.open is not None and not notes.open.get("sent"))


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _name(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def _read(path: Path, kind: type[NotesT]) -> NotesT:
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        fresh = kind()
        known = {
            each.name: given[each.name]
            for each in fields(kind)
            if each.name in given and _like(given[each.name], getattr(fresh, each.name))
        }
        return kind(**known)
    except (OSError, ValueError, TypeError, AttributeError):
        return kind()


def _like(value: object, default: object) -> bool:
    return value is None or isinstance(value, dict) if default is None else type(value) is type(default)
