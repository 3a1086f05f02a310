"""Which paths a memory file may have, and which of the folders a path lies in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lamina.errors import Forbidden, Invalid, Malformed, Unavailable
from lamina.kernel.time import Instant, to_datetime
from lamina.store.documents.paths import check_portable, document_path

__all__ = ["CORE", "FOLDERS", "check_new", "check_open_day", "file_path", "folder_of", "is_text"]

FOLDERS: Final = (
    "journal", "essays", "projects", "memory", "messages", "peers", "snapshots", "tasks", "patches", "runs",
    "index", "archive", "config", "logs", "backups",
)  # fmt: skip
"""The folders of the repository."""

CORE: Final = ("memory/core/identity.md", "memory/core/long_term_facts.json", "memory/core/values.md")
"""Who the agent is: part of every retrieval."""

_TEXT: Final = (".md", ".txt", ".json", ".jsonl")
_DERIVED: Final = "index/"
_DAY = re.compile(r"journal/(?:.+/)?(\d{4}-\d{2}-\d{2})\.md")


def file_path(text: str) -> str:
    """The path that a caller names.

    Raises ``Forbidden`` (NAMESPACE_DENIED) where it leads out of the repository, ``Malformed`` (INVALID_FILE_PATH) where it
    lies in none of the folders or cannot be used.
    """
    if not text or text.startswith("/") or _leaves(text):
        raise Forbidden(
            "NAMESPACE_DENIED",
            f"Path namespace not allowed: {text[:120]}",
            hint="a path is relative, such as memory/notes/today.md",
        )
    with _as_file_path():
        path = document_path(text)
    if folder_of(path) not in FOLDERS or "/" not in path:
        raise Malformed(
            "INVALID_FILE_PATH",
            f"the path {path[:120]!r} lies in none of the folders",
            hint=f"the folders are {', '.join(FOLDERS)}",
            details={"path": path[:120], "reason": "it lies in none of the folders"},
        )
    return path


def check_new(path: str) -> None:
    """Nothing for a path that a new file may have; ``Malformed`` (INVALID_FILE_PATH) for what a working copy cannot hold."""
    with _as_file_path():
        check_portable(path)


@contextmanager
def _as_file_path() -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        raise Malformed("INVALID_FILE_PATH", error.message, hint=error.hint, details=error.details) from error


def folder_of(path: str) -> str:
    """The first part of a path."""
    return path.partition("/")[0]


def is_text(path: str) -> bool:
    """Whether a document is for reading: of a kind of text, and not derived from the others."""
    return path.endswith(_TEXT) and not path.startswith(_DERIVED)


def check_open_day(path: str, now: Instant) -> None:
    """Nothing, or ``Unavailable`` (JOURNAL_DAY_CLOSED) for a page of the journal that is not today's."""
    page = _DAY.fullmatch(path)
    today = to_datetime(now).strftime("%Y-%m-%d")
    if page is not None and page[1] != today:
        raise Unavailable(
            "JOURNAL_DAY_CLOSED",
            f"{path} is not the page of today, {today}",
            hint="append to the page of today; /v1/write replaces another one as a whole",
        )


def _leaves(text: str) -> bool:
    depth = 0
    for part in text.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return depth == 0
