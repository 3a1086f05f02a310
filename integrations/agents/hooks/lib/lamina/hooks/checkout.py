"""The mechanical facts of a folder: its branch and what is changed there, as git says."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Checkout", "checkout_of"]

_WAIT_S: Final = 1.0
_FILES_MAX: Final = 20
_STATUS: Final = (
    "status",
    "--porcelain=v1",
    "-z",
    "--branch",
    "--untracked-files=normal",
    "--ignore-submodules=dirty",  # whose own settings name programs, too
)
_OF_THE_FOLDER: Final = ("local", "worktree")


@dataclass(frozen=True, slots=True)
class Checkout:
    """``branch`` is empty outside of a repository; of the changed files at most twenty are named."""

    branch: str = ""
    changed: tuple[str, ...] = ()
    more: int = 0

    @property
    def words(self) -> str:
        """On one line; empty where nothing is known."""
        if not self.branch:
            return ""
        files = ", ".join(self.changed) or "nothing"
        return f"branch {self.branch}; changed: {files}" + (f" and {self.more} more" if self.more else "")


def checkout_of(folder: Path, environment: Mapping[str, str]) -> Checkout:
    """What git says of a folder; nothing where it says nothing within a second, or cannot say it without a program that the folder names."""
    filters = _filters(folder, environment)
    if filters is None:
        return Checkout()
    status = _git(folder, environment, *filters, *_STATUS)
    if status is None:
        return Checkout()
    head, *entries = status.split("\0")
    branch = head.removeprefix("## ").removeprefix("No commits yet on ").split("...")[0]
    names, skip = [], False
    for entry in entries:
        if skip or not entry:  # behind a rename its older name stands by itself
            skip = False
            continue
        names.append(entry[3:])
        skip = not {"R", "C"}.isdisjoint(entry[:2])
    return Checkout(branch, tuple(names[:_FILES_MAX]), max(0, len(names) - _FILES_MAX))


def _filters(folder: Path, environment: Mapping[str, str]) -> Sequence[str] | None:
    """Options that leave out the filters of the repository's own settings, which git would run on what is changed; None where one cannot
    be left out."""
    named = _git(folder, environment, "config", "--show-scope", "-z", "--name-only", "--list")
    if named is None:
        return None
    words = named.split("\0")
    own = {
        key
        for scope, key in zip(words[::2], words[1::2], strict=False)
        if scope in _OF_THE_FOLDER and key.startswith("filter.")
    }
    if any("=" in key for key in own):
        return None
    return [word for key in sorted(own) for word in ("-c", f"{key}=")]


def _git(folder: Path, environment: Mapping[str, str], *arguments: str) -> str | None:
    # A repository may name a program to run as its file system monitor, and one that fetches objects which it says are elsewhere.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    quiet = {**environment, "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, timeout=_WAIT_S, env=quiet, check=True)  # noqa: S603 - no shell
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")
