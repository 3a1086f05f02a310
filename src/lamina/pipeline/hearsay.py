"""Whose word a claim is. Nobody's is what a tool or a document says, what an assistant says of people, and what a person
pastes or quotes (``language/running_speech.py``).

Hearsay ends no word of a person's (rule 5 of ``timeline.py``). What an assistant says of the world, of what it did and of
what it decided is its own word, as anybody's is. Of a person speak for good they themselves, and an envelope that names them as
its subject, which takes ``scope.write.about_other`` (seed 002, 3.5.1 and 5.2). What others say of them is under its author's name
(``sides.py``).
"""

from __future__ import annotations

from typing import Final

from lamina.kernel.events import Event, Trust
from lamina.kernel.records import Author
from lamina.pipeline.reading import role_of
from lamina.pipeline.view import View

__all__ = ["author_of", "is_assistants", "is_handed_over", "is_hearsay"]

_OF_PEOPLE: Final = frozenset({"identity", "role", "relation", "preference"})
_ALSO: Final = frozenset({"lives_in", "lives_in_some", "grew_up_in", "has_pet"})
_NOT: Final = frozenset({"uses", "switched_to", "back_to"})
"""Projects use things, too."""
_PROGRAMS: Final = frozenset({"agent", "service", "app", "system"})


def is_hearsay(event: Event, kind: str, predicate: str) -> bool:
    """Whether what an event says with this predicate is nobody's word."""
    return event.origin.trust is Trust.EXTERNAL or is_assistants(event, kind, predicate)


def is_assistants(event: Event, kind: str, predicate: str) -> bool:
    """Whether it is an assistant that tells of people."""
    if event.origin.trust is Trust.EXTERNAL or role_of(event) != "assistant":
        return False
    return predicate in _ALSO or (kind in _OF_PEOPLE and predicate not in _NOT)


def is_handed_over(event: Event, *, stands_apart: bool) -> bool:
    """Whether a claim of a person's turn may be words that they paste or quote. Notes of agents and services have shapes of their own."""
    return stands_apart and event.observed_actor.type not in _PROGRAMS


def author_of(view: View, event: Event, person_id: str) -> Author | None:
    """Who says what an event says of a person; None for the person themselves, for who speaks for them, and for a stated triple."""
    stated = event.content.get("kind") == "triple"
    actor = event.observed_actor
    if stated or person_id in (view.entity_of(actor, event), view.entity_of(event.subject, event)):
        return None
    return Author(actor.id, actor.display_name)
