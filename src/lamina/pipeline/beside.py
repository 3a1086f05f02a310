"""What one person says of another, beside what that person or somebody else says: each author's word in slots of its own.

Of a person speak for good they themselves (``hearsay.py``). What others say is placed as ever while nobody else has spoken of the
matter. Where somebody has, it stands beside that, follows only what the same author said, and ends when the person speaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from lamina.kernel.events import Event
from lamina.kernel.records import Author, Fact, value_slot
from lamina.pipeline.hearsay import is_hearsay
from lamina.pipeline.matters import is_denial, is_shared, is_told_over, slots_of_value, value_of
from lamina.pipeline.versions import put_version
from lamina.store.ports.writes import Writes

__all__ = [
    "apart_of",
    "end_others",
    "ends",
    "goes_with",
    "is_beside",
    "may_end",
    "stands_beside",
    "under_author",
]

_DIGEST_CHARS = 16


def stands_beside(fact: Fact, held: Sequence[Fact]) -> bool:
    """Whether a fact that somebody says of another person goes beside those of its matter: somebody else spoke of it as their own
    word, and does not say now what is said again."""
    author = fact.said_by
    if author is None:
        return False
    words = [each for each in held if not each.external]
    again = not is_told_over(fact) and any(
        value_of(each) == value_of(fact) and is_denial(each) == is_denial(fact) and each.valid_to is None
        for each in words
    )
    return not again and any(each.said_by is None or each.said_by.id != author.id for each in words)


def under_author(slot: str, author: Author) -> str:
    """The slot of what one author says of a matter beside others."""
    subject, _, matter = slot.partition("|")
    return f"{subject}@{sha256(author.id.encode()).hexdigest()[:_DIGEST_CHARS]}|{matter}"


def goes_with(over: Fact, fact: Fact) -> bool:
    """Whether what was told as over bears on a fact: as the person's own word, or as the same author's."""
    return over.said_by is None or (fact.said_by is not None and over.said_by.id == fact.said_by.id)


def apart_of(chain: Sequence[Fact], facts: Sequence[Fact]) -> list[Fact]:
    """Those of the facts that tell of the slot of a chain, or of its values, what was over, and stand apart."""
    matter = _matter(chain[0])
    return [
        each
        for each in facts
        if each.slot is None
        and is_told_over(each)
        and matter in slots_of_value(each)
        and any(goes_with(each, one) for one in chain)
    ]


def is_beside(fact: Fact) -> bool:
    """Whether a fact stands beside what others say."""
    return fact.is_beside


def end_others(event: Event, fact: Fact, held: Sequence[Fact], writes: Writes) -> None:
    """End what stood beside of the matter in which the person themselves says ``fact``; ``held`` is of its subject and predicate."""
    at = event.context.observed_at
    if fact.valid_to is not None or fact.valid_from > at or fact.external or fact.said_by is not None:
        return
    for each in held:
        if not is_beside(each) or each.valid_to is not None or each.valid_from >= at:
            continue
        if _matter(each) == _matter(fact) and (not is_denial(fact) or value_of(each) == value_of(fact)):
            put_version(event, each, replace(each, valid_to=at, to_offset=event.offset), writes)


def ends(event: Event, said: Fact, held: Fact) -> bool:
    """Whether what is said of a fact may end it: hearsay ends nobody's word, and a person's word of another only their own."""
    return held.external or (not said.external and may_end(event, held, said.said_by))


def may_end(event: Event, held: Fact, author: Author | None) -> bool:
    """Whether an event may end a fact by other words than a claim; ``author`` speaks in it of another person."""
    if held.external:
        return True
    own = author is None or (held.said_by is not None and held.said_by.id == author.id)
    return own and not is_hearsay(event, held.kind, held.predicate)


def _matter(fact: Fact) -> str:
    """The slot of a claim as the subject's own word, of its denial too."""
    assert fact.slot is not None, "what is beside has a slot, and what ends it"
    subject, _, rest = fact.slot.partition("|")
    own = f"{subject.partition('@')[0]}|{rest}"
    return own if is_shared(fact) else value_slot(own.partition("|")[0], rest.removeprefix(" "))
