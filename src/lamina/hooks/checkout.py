"""The mechanical facts of a folder: its branch and what is changed there, as git says."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Checkout", "checkout_of"]

_WAIT_S: Final = 1.0
_FILES_MAX: Final = 20


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
    """What git says of a folder; nothing where it says nothing within a second."""
    status = _git(
        folder, environment, "status", "--porcelain=v1", "-z", "--branch", "--untracked-files=normal"
    )
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
        skip = entry[0] in "RC"
    return Checkout(branch, tuple(names[:_FILES_MAX]), max(0, len(names) - _FILES_MAX))


def _git(folder: Path, environment: Mapping[str, str], *arguments: str) -> str | None:
    # A repository may name a program to run as its file system monitor.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    quiet = {**environment, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, timeout=_WAIT_S, env=quiet, check=True)  # noqa: S603 - no shell
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")
