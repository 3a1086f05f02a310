"""Documents that are written, and their repository as git shows it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from given import TENANT
from lamina.store.documents.repository import folder_name
from lamina.store.ports.documents import Change, ChangeKind, Commit, Write
from lamina.store.sqlite import SqliteStore

__all__ = ["APPEND", "PUT", "REMOVE", "files", "git", "history", "needs_git", "packs", "repository", "write"]

PUT, APPEND, REMOVE = ChangeKind.PUT, ChangeKind.APPEND, ChangeKind.REMOVE

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def write(store: SqliteStore, *changes: Change, tenant_id: str = TENANT, message: str = "write: x") -> Commit:
    made = Write(tenant_id=tenant_id, author="agent:nia", message=message, changes=changes)
    return store.documents.write([made])[0].commit


def repository(folder: Path, tenant_id: str = TENANT) -> Path:
    return folder / "relay" / folder_name(tenant_id)


def git(path: Path, *arguments: str) -> str:
    command = ["git", "-C", str(path), "-c", "safe.directory=*", *arguments]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    return done.stdout.decode("utf-8", "replace")


def history(folder: Path, tenant_id: str = TENANT) -> list[str]:
    return git(repository(folder, tenant_id), "rev-list", "--reverse", "main").split()


def files(folder: Path, tenant_id: str = TENANT) -> dict[str, str]:
    path = repository(folder, tenant_id)
    names = git(path, "ls-tree", "-r", "-z", "--name-only", "main").split("\0")
    return {name: git(path, "show", f"main:{name}") for name in names if name}


def packs(folder: Path) -> list[Path]:
    return sorted((repository(folder) / "objects" / "pack").glob("*.pack"))
