"""The one place where paths and ids from outside become paths of documents.

A path that comes out is relative, its parts are separated by single slashes, and it means the same in the database, in
the repository and in a working copy of it. What would have to be guessed is refused, never mended.
"""

from __future__ import annotations

import unicodedata

from lamina import limits
from lamina.errors import Conflict, Invalid

__all__ = ["check_same_id", "document_path", "path_part"]

_RESERVED = frozenset({".", "..", ".git"})


def document_path(text: str) -> str:
    """The path named by ``text``, in Unicode's NFC; raises ``Invalid`` (INVALID_PATH)."""
    path = unicodedata.normalize("NFC", text)
    if len(path.encode("utf-8", "replace")) > limits.DOCUMENT_PATH_BYTES_MAX:
        raise _invalid(text, f"it is longer than {limits.DOCUMENT_PATH_BYTES_MAX} bytes")
    parts = path.split("/")
    if len(parts) > limits.DOCUMENT_PATH_DEPTH_MAX:
        raise _invalid(text, f"it is deeper than {limits.DOCUMENT_PATH_DEPTH_MAX} folders")
    for part in parts:
        reason = _wrong_with(part)
        if reason:
            raise _invalid(text, reason)
    return path


def path_part(id_: str) -> str:
    """An id as one part of a path; raises ``Invalid`` (INVALID_PATH) where it holds a slash or is no part of a path."""
    if "/" in id_:
        raise _invalid(id_, "an id has no slashes")
    return document_path(id_)


def check_same_id(path: str, stored_id: str, given_id: str) -> None:
    """Nothing, or ``Conflict`` (PATH_COLLISION) when the document at a path belongs to another id that leads there.

    Ids that differ by case or punctuation may be normalised to one path; the document holds the id that it is of.
    """
    if stored_id != given_id:
        raise Conflict(
            "PATH_COLLISION",
            f"{path} belongs to the id {stored_id[:120]!r}, and {given_id[:120]!r} leads to the same path",
            hint="choose an id that differs in more than case and punctuation",
            details={"path": path, "id": stored_id[:256]},
        )


def _wrong_with(part: str) -> str | None:
    """What is wrong with a part. ``.git`` is refused in the spellings that file systems take for it, too."""
    if not part:
        return "it is empty, or has an empty part"
    if part.lower().rstrip(" .") in _RESERVED or part in _RESERVED or _visible(part).lower() == ".git":
        return f"{part!r} is reserved"
    if part.lower().startswith("git~"):
        return f"{part!r} is reserved"
    if len(part.encode("utf-8", "replace")) > limits.DOCUMENT_NAME_BYTES_MAX:
        return f"a part is longer than {limits.DOCUMENT_NAME_BYTES_MAX} bytes"
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in part):
        return "it has control characters"
    if "\\" in part:
        return "it has a backslash"
    return None


def _visible(part: str) -> str:
    """Without the characters that HFS+ ignores in names."""
    return "".join(character for character in part if unicodedata.category(character) != "Cf")


def _invalid(text: str, reason: str) -> Invalid:
    shown = text[:120].encode("utf-8", "replace").decode()
    return Invalid(
        "INVALID_PATH",
        f"the path {shown!r} cannot be used: {reason}",
        hint="a path is relative, such as memory/notes/today.md",
        details={"path": shown, "reason": reason},
    )
