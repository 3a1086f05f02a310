"""Frequent words in one byte: capabilities, endpoints and the like, which rows of audit, keys and events repeat.

A word of the list is stored as a blob of one byte, its place in the list. Any other word is stored as text.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["stored_word", "word_of"]

_WORDS: Final = (
    "allow",
    "deny",
    "deployment",
    "tenant",
    "scope",
    "actor",
    "scope.write",
    "scope.read.local",
    "scope.read.descend",
    "scope.read.holistic",
    "understanding.read",
    "lifecycle.subscribe",
    "diagnostics.read",
    "POST /v1/experience",
    "POST /v1/experience/bulk",
    "POST /v1/recall",
    "POST /v1/ingest",
    "POST /v1/brief",
    "POST /v1/answer",
    "GET /v1/events",
    "GET /v1/lifecycle",
    "/v1/experience",
    "conversation",
)
"""What is stored is the place in this list. So the order never changes, and new words are added at the end."""
_NUMBERS: Final = {word: bytes([number]) for number, word in enumerate(_WORDS)}


def stored_word(text: str) -> str | bytes:
    """A word as it is stored: a byte, or itself."""
    return _NUMBERS.get(text, text)


def word_of(stored: Any) -> Any:  # Any: of a damaged file a column may hold whatever one can
    """The word that was stored, whichever release wrote it."""
    if not isinstance(stored, bytes):
        return stored
    number = int.from_bytes(stored, "big")
    return _WORDS[number] if len(stored) == 1 and number < len(_WORDS) else stored.decode(errors="replace")
