"""What a list shows of a document: its type, tags, importance and first words, read from its bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from lamina import limits
from lamina.continuity.files.names import folder_of
from lamina.store.ports.documents import Document

__all__ = ["Card", "card_of", "front_matter", "snippet_of", "text_of"]

SNIPPET_LENGTH: Final = 240
_TAG = re.compile(r"#[A-Za-z0-9_-]+")
_FRONT = re.compile(r"---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Card:
    """A document as a list shows it."""

    type: str
    size: int
    snippet: str
    tags: tuple[str, ...]
    importance: float | None


def card_of(document: Document) -> Card:
    """The card of a document."""
    text = text_of(document.content)
    said = front_matter(text) if document.path.endswith(".md") else {}
    tags = sorted(set(_TAG.findall(text)))[: limits.CARD_TAGS_MAX]
    return Card(
        type=said.get("type") or folder_of(document.path),
        size=len(document.content),
        snippet=snippet_of(text, SNIPPET_LENGTH),
        tags=tuple(tags),
        importance=_number(said.get("importance")),
    )


def text_of(content: bytes) -> str:
    """The words of a document, up to a bound; what is no text reads as replacement characters."""
    return content[: limits.CARD_BYTES_READ_MAX].decode("utf-8", "replace")


def front_matter(text: str) -> dict[str, str]:
    """The flat ``key: value`` lines between two lines of dashes at the beginning."""
    match = _FRONT.match(text)
    if match is None:
        return {}
    pairs = (line.partition(":") for line in match[1].splitlines())
    return {name.strip(): _unquoted(value.strip()) for name, colon, value in pairs if colon and name.strip()}


def snippet_of(text: str, length: int) -> str:
    """The first words on one line."""
    # The words beyond are never looked at: a document may be long.
    words = " ".join(text[: 8 * length].split())
    cut = len(words) > length or len(text) > 8 * length
    return f"{words[:length]}..." if cut else words


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value
    return value


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if abs(value) < 1e9 else None  # neither infinite nor no number
