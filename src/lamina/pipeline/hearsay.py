"""Claims that are nobody's word: what a tool or a document says, and what an assistant says of people.

Hearsay ends no word of a person's (rule 5 of ``timeline.py``). What an assistant says of the world, of what it did and of
what it decided is its own word, as anybody's is.
"""

from __future__ import annotations

from typing import Final

from lamina.kernel.events import Event, Trust
from lamina.pipeline.reading import role_of

__all__ = ["is_assistants", "is_hearsay"]

_OF_PEOPLE: Final = frozenset({"identity", "role", "relation", "preference"})
_ALSO: Final = frozenset({"lives_in", "grew_up_in", "has_pet"})
_NOT: Final = frozenset({"uses", "switched_to", "back_to"})
"""Projects use things, too."""


def is_hearsay(event: Event, kind: str, predicate: str) -> bool:
    """Whether what an event says with this predicate is nobody's word."""
    return event.origin.trust is Trust.EXTERNAL or is_assistants(event, kind, predicate)


def is_assistants(event: Event, kind: str, predicate: str) -> bool:
    """Whether it is an assistant that tells of people."""
    if event.origin.trust is Trust.EXTERNAL or role_of(event) != "assistant":
        return False
    return predicate in _ALSO or (kind in _OF_PEOPLE and predicate not in _NOT)
