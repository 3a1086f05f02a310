"""What the environment and a folder choose: which server, whose memory, which line of work, and what is left alone.

A folder's ``.lamina.toml`` may come with somebody else's repository. So it says what work this is and what is not to be
remembered, and never where things are sent, as whom, or with which token: that is the environment's.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["FILE", "Choices", "WorkLine", "WrongChoice", "choices_in", "own_folder"]

FILE: Final = ".lamina.toml"
_KINDS: Final = ("user", "peer", "thread", "task")
_ID_LENGTH_MAX: Final = 200
"""Of a subject's id, as the bounds of capsules have it."""
_ASK_EVERY: Final = 5
"""Turns between two wishes that the capsule be brought up to date: a model that is asked after each does little else."""
_ASK_EVERY_MAX: Final = 1000
_DATA: Final = "lamina-data"
_OFF: Final = frozenset({"off", "0", "false", "no"})


class WrongChoice(ValueError):
    """A choice cannot be read; the message says which, and what is accepted."""


@dataclass(frozen=True, slots=True)
class WorkLine:
    """A line of work: the subject of its capsule."""

    kind: str
    id: str

    @property
    def label(self) -> str:
        """What its turns are labelled with."""
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """``folder`` is the project's, ``data`` the folders of memories whose sockets are tried where no ``url`` is given.

    ``ask_every`` is a number of turns, 0 for never. ``is_on`` false means that nothing is read, sent or shown.
    """

    folder: Path
    line: WorkLine
    data: tuple[Path, ...]
    url: str | None = None
    token: str = ""
    actor: str | None = None
    scope: str | None = None
    agent: str | None = None
    is_on: bool = True
    records: bool = True
    recalls: bool = True
    ask_every: int = _ASK_EVERY


def choices_in(cwd: Path, environment: Mapping[str, str]) -> Choices:
    """What holds for work in ``cwd``; raises ``WrongChoice``.

    The nearest ``.lamina.toml`` counts, not above the repository or, outside of one, ``cwd`` itself. ``LAMINA_SUBJECT``,
    ``LAMINA_SCOPE`` and ``LAMINA_HOOKS`` of the environment go before it. Without a subject the work is called after the folder.
    """
    cwd = Path(cwd).absolute()
    root = _repository(cwd) or cwd
    given = _file(cwd, root)
    subject = environment.get("LAMINA_SUBJECT") or given.get("subject")
    data = environment.get("LAMINA_DATA")
    switch = environment.get("LAMINA_HOOKS", "").lower()
    return Choices(
        folder=root,
        line=_line_of(root) if subject is None else _line(subject),
        data=(Path(data),) if data else (*_folders(cwd, root), own_folder(environment)),
        url=environment.get("LAMINA_URL") or None,
        token=environment.get("LAMINA_TOKEN", ""),
        actor=environment.get("LAMINA_ACTOR") or None,
        scope=environment.get("LAMINA_SCOPE") or given.get("scope"),
        agent=environment.get("LAMINA_AGENT") or None,
        is_on=switch not in _OFF if switch else given.get("hooks", True),
        records=given.get("record", True),
        recalls=given.get("recall", True),
        ask_every=given.get("ask_every", _ASK_EVERY),
    )


def _repository(cwd: Path) -> Path | None:
    return next((each for each in (cwd, *cwd.parents) if (each / ".git").exists()), None)


def own_folder(environment: Mapping[str, str]) -> Path:
    """The folder of a person's own memory for all projects (XDG Base Directory), where nothing else is chosen."""
    home = environment.get("XDG_DATA_HOME") or os.path.join(environment.get("HOME") or "~", ".local", "share")
    return Path(home).expanduser() / "lamina"


def _folders(cwd: Path, root: Path) -> list[Path]:
    """Where ``lamina serve`` or ``lamina mcp`` of a project keeps its memory; a shell may have gone further down since."""
    return [each / _DATA for each in (cwd, *cwd.parents) if each.is_relative_to(root)]


def _file(cwd: Path, root: Path) -> dict[str, Any]:  # Any: checked by `_CHECKS`
    for folder in (cwd, *cwd.parents):
        path = folder / FILE
        if path.is_file():
            return _checked(path)
        if folder == root:
            break
    return {}


def _checked(path: Path) -> dict[str, Any]:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WrongChoice(f"{FILE} cannot be read: {error}") from error
    for name, value in given.items():
        if name not in _CHECKS:
            raise WrongChoice(f"{FILE} has {name!r}, which is none of {', '.join(_CHECKS)}")
        kind, accepted = _CHECKS[name]
        if type(value) is not kind:
            raise WrongChoice(f"{FILE}: {name} is {accepted}")
    if not 0 <= given.get("ask_every", 0) <= _ASK_EVERY_MAX:
        raise WrongChoice(f"{FILE}: ask_every is {_CHECKS['ask_every'][1]}")
    return given


_CHECKS: Final[Mapping[str, tuple[type, str]]] = {
    "subject": (str, 'a text such as "thread:checkout-rewrite"'),
    "scope": (str, 'a scope such as "project:checkout"'),
    "hooks": (bool, "true or false"),
    "record": (bool, "true or false"),
    "recall": (bool, "true or false"),
    "ask_every": (int, f"a number of turns, 0 (never) to {_ASK_EVERY_MAX}"),
}


def _line(text: str) -> WorkLine:
    kind, colon, name = text.strip().partition(":")
    if not colon:
        kind, name = "thread", kind
    if kind not in _KINDS or not name.strip() or len(name) > _ID_LENGTH_MAX or "\0" in name:
        raise WrongChoice(
            f"the subject {text[:80]!r} is not KIND:ID, such as thread:checkout-rewrite; kinds: {', '.join(_KINDS)}"
        )
    return WorkLine(kind, name.strip())


def _line_of(folder: Path) -> WorkLine:
    """A name that two folders do not share: a capsule of another project is worse than none."""
    slug = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:40] or "work"
    return WorkLine("thread", f"{slug}-{hashlib.sha256(str(folder).encode()).hexdigest()[:6]}")
