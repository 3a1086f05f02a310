"""The one place where paths from outside become paths of documents.

A path that comes out is relative, its parts are separated by single slashes, and it means the same in the database and in
the repository. A new document's path (``check_portable``) means the same in every working copy too. What would have to be
guessed is refused, never mended.
"""

from __future__ import annotations

import re
import unicodedata

from lamina import limits
from lamina.errors import Invalid

__all__ = ["check_portable", "document_path", "holds_secrets"]

_SECRETS = frozenset({"config/peer_tokens.json", "config/security_keys.json"})
"""Where the original server of this layout keeps tokens and keys, some of them in the clear."""

_RESERVED = frozenset({".", "..", ".git"})
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *\..*| +)?", re.DOTALL)
_SHORT_GIT = re.compile(r"gi[^.]*~[0-9].*", re.DOTALL)


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


def check_portable(path: str) -> None:
    """Nothing for a path that git and common file systems hold as it is; raises ``Invalid`` (INVALID_PATH).

    For new documents only: what was stored before this was asked stays what it is.
    """
    for part in path.split("/"):
        reason = _not_portable(part)
        if reason:
            raise _invalid(path, reason)


def holds_secrets(path: str) -> bool:
    """Whether a path is one of the original server's secrets, also where letters do not count: no document stands there."""
    return path.casefold() in _SECRETS


def _not_portable(part: str) -> str | None:
    name = _visible(part).lower()
    if name.startswith(".git") or _SHORT_GIT.fullmatch(name):
        return f"{part!r} is a name that git reads by itself"
    if _DEVICE.fullmatch(name):
        return f"{part!r} is a device on some machines"
    if _NOT_ON_WINDOWS.search(part):
        return 'it has one of < > : " | ? *, which some file systems do not take'
    if part.endswith((".", " ")):
        return "a part ends in a dot or a space, which some file systems drop"
    return None


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
