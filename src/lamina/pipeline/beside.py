"""Slots of what one person says of another, beside what that person or somebody else says (``sides.py``), and whose word may end whose."""

from __future__ import annotations

from hashlib import sha256

from lamina.kernel.events import Event
from lamina.kernel.records import Author, Fact
from lamina.pipeline.hearsay import is_hearsay
from lamina.pipeline.matters import chain_of, is_told_over, slots_of_value

__all__ = ["ends", "is_of_matter", "may_end", "own_slot", "under_author"]

_DIGEST_CHARS = 16


def under_author(slot: str, author: Author) -> str:
    """The slot of what one author says of a matter beside others."""
    subject, _, matter = slot.partition("|")
    return f"{subject}@{sha256(author.id.encode()).hexdigest()[:_DIGEST_CHARS]}|{matter}"


def ends(said: Fact, held: Fact) -> bool:
    """Whether what is said of a fact may end it: hearsay ends nobody's word, and a person's word of another only their own."""
    return held.external or (not said.external and _is_own(held, said.said_by))


def may_end(event: Event, held: Fact, author: Author | None) -> bool:
    """Whether an event may end a fact by other words than a claim; ``author`` speaks in it of another person."""
    if held.external:
        return True
    return _is_own(held, author) and not is_hearsay(event, held.kind, held.predicate)


def _is_own(held: Fact, author: Author | None) -> bool:
    return author is None or (held.said_by is not None and held.said_by.id == author.id)


def own_slot(fact: Fact) -> str:
    """The slot of the values of a claim's matter as the subject's own word."""
    subject, _, rest = chain_of(fact).partition("|")
    return f"{subject.partition('@')[0]}|{rest}"


def is_of_matter(fact: Fact, slot: str) -> bool:
    """Whether a fact is on a timeline of a matter, of which the slot is given: in it, denying a value of it, beside it, or apart."""
    if fact.slot is not None:
        return own_slot(fact) == slot
    return is_told_over(fact) and slot in slots_of_value(fact)
