"""Related documents: bounded references with metadata only, never the text of a document.

One problem is reported, by a fixed precedence: somebody who embeds a document should hear of that first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lamina.continuity.capsule.bounds import BOUNDS, items_max
from lamina.errors import Malformed

__all__ = ["OMITTED_EMBEDDED", "OMITTED_INVALID", "Problem", "check_related", "first_problem"]

OMITTED_EMBEDDED = "related_documents_omitted_non_metadata"
OMITTED_INVALID = "related_documents_omitted_invalid"

_FIELD = "continuity.related_documents"
_RESERVED = frozenset({"content", "body", "text", "excerpt", "markdown", "html", "payload"})
_REQUIRED = ("path", "kind", "label")
_RELEVANCE = ("primary", "supporting", "background")
_PATH = re.compile(r"[A-Za-z0-9._/\-]+")
_KIND = re.compile(r"[a-z][a-z0-9_]*")
_DEPTH_MAX = 32

_PRECEDENCE = (
    "embedded", "unknown", "type", "missing", "path", "format", "empty", "whitespace", "long", "duplicate", "many",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a list of related documents: its kind, and words for it."""

    kind: str
    reason: str


def first_problem(value: Any) -> Problem | None:  # Any: whatever a caller sent
    """The problem that counts most; None when the list is right."""
    found = list(_problems(value))
    return min(found, key=lambda problem: _PRECEDENCE.index(problem.kind), default=None)


def check_related(value: Any) -> None:  # Any: as above
    """Nothing, or ``Malformed`` (INVALID_CAPSULE) with the problem that counts most."""
    problem = first_problem(value)
    if problem is not None:
        raise Malformed(
            "INVALID_CAPSULE",
            f"{_FIELD} {problem.reason}",
            details={"field": _FIELD, "reason": problem.kind},
        )


def _problems(value: Any) -> Iterator[Problem]:
    if _embeds(value, 0):
        yield Problem("embedded", "must hold metadata only, no embedded content")
    if not isinstance(value, list):
        yield Problem("type", "must be a list")
        return
    for entry in value:
        if isinstance(entry, dict):
            yield from _entry_problems(entry)
        else:
            yield Problem("type", "must be a list of objects")
    if len({_identity(entry) for entry in value}) < len(value):
        yield Problem("duplicate", "must not repeat an entry")
    if len(value) > items_max(_FIELD):
        yield Problem("many", f"must have at most {items_max(_FIELD)} entries")


def _entry_problems(entry: dict[str, Any]) -> Iterator[Problem]:
    known = BOUNDS[_FIELD].parts
    unknown = sorted(entry.keys() - known.keys())
    if unknown:
        yield Problem("unknown", f"has an unknown key {unknown[0][:64]!r}")
    for name in _REQUIRED:
        if name not in entry:
            yield Problem("missing", f"entries need {name}")
    for name, most in known.items():
        if name not in entry:
            continue
        text = entry[name]
        if not isinstance(text, str):
            yield Problem("type", f"{name} must be a string")
            continue
        yield from _text_problems(name, text, most)


def _text_problems(name: str, text: str, most: int) -> Iterator[Problem]:
    if name == "path" and not _fits_path(text):
        yield Problem("path", "path must be repo-relative, of letters, digits and ._/- only")
    if (name == "kind" and not _KIND.fullmatch(text)) or (name == "relevance" and text not in _RELEVANCE):
        yield Problem("format", f"{name} has an unsupported value")
    if not text.strip():
        yield Problem("empty", f"{name} must not be empty")
    if text != text.strip():
        yield Problem("whitespace", f"{name} must not begin or end with blanks")
    if len(text) > most:
        yield Problem("long", f"{name} must have at most {most} characters")


def _fits_path(text: str) -> bool:
    return bool(_PATH.fullmatch(text)) and not text.startswith("/") and ".." not in text


def _identity(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return id(entry)
    return tuple(repr(entry[name]) if name in entry else None for name in BOUNDS[_FIELD].parts)


def _embeds(value: Any, depth: int) -> bool:
    if depth > _DEPTH_MAX:
        return True
    if isinstance(value, dict):
        return any(key in _RESERVED or _embeds(item, depth + 1) for key, item in value.items())
    return isinstance(value, list) and any(_embeds(item, depth + 1) for item in value)
