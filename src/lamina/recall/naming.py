"""What the user of a scope is called.

What is stored names them by their id, and an id is often nobody's name ("U 4471"). Readers get the name that the user
gave, and a question that has it is about the user. Nothing stored changes: a name may be learned late, or change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Final

from lamina.kernel.events import Party
from lamina.kernel.records import Claim, Fact, Layer, ObjectValue, Record, value_slot
from lamina.kernel.scopes import LOCAL_ACTOR, Scope
from lamina.kernel.time import Axes, Instant
from lamina.language.entities import entity_id, normalise_name
from lamina.language.sentences import split_sentences
from lamina.store.ports.records import RecordQuery, Records

__all__ = ["NAMES", "Called", "Names", "Naming", "called"]

NAMES: Final = ("goes_by", "name_is")
"""The predicates of a name, the one that counts first."""

Naming = Callable[[str], str | None]
"""Tells of an actor the name that they gave."""

_NAMELESS: Final = "User"
_OWNS: Final = re.compile(r"'s\b")
_ABOUT: Final = re.compile(r"'s\b| (?=[^\W\d])")
_SPEAKS: Final = re.compile(r": ")
_FIGURE: Final = re.compile(r"\d{1,4}")
"""A number that may be an amount, a decade or a year: "90's music" is nobody's."""

_HELD_MAX: Final = 4


@dataclass(frozen=True)
class Called:
    """A user: the ``stored`` name, whether it is ``opaque`` and so no name (it has digits, or says that nobody was named), and
    how to learn the name that they gave, if they did."""

    stored: str
    opaque: bool
    naming: Callable[[], str | None]

    @cached_property
    def name(self) -> str | None:
        """The name that they gave."""
        return self.naming()

    @property
    def keys(self) -> frozenset[str]:
        """The normal forms under which a question may name the user."""
        if self.name is None:
            return frozenset()
        whole = normalise_name(self.name)
        return frozenset({whole, whole.split(" ")[0]} - {""})

    def who(self, name: str) -> str:
        """The name of somebody or something, for readers: the user's own, or what is named as the user's."""
        at = self._stood_in(name)
        return name if at is None else self._shown + name[at:]

    def said_of(self, claim: Claim, sentence: str) -> str:
        """The sentence that words a claim. The user may be what it is about or whom it names, and may own what it speaks of; in
        amounts, dates, quotations and names of other things the same letters mean something else."""
        if not self._stands_in:
            return sentence
        subject = claim.subject.name if sentence.startswith(claim.subject.name) else ""
        return self.who(subject) + self._named_in(claim.object, sentence[len(subject) :])

    def understood(self, name: str, summary: str) -> tuple[str, str]:
        """A concept's name, of a subject or of one side of it, and its sentences, which have the same subject."""
        topic = name[len(self.stored) :] if name.startswith(f"{self.stored}: ") else None
        shown = self.who(name) if topic is None else self.who(self.stored) + topic
        return (name, summary) if shown == name else (shown, self._at_beginnings(summary, _ABOUT))

    def spoken(self, summary: str) -> str:
        """What several people said, each sentence behind its speaker."""
        return self._at_beginnings(summary, _SPEAKS)

    @property
    def _shown(self) -> str:
        return self.name or _NAMELESS

    @cached_property
    def _stands_in(self) -> bool:
        """Whether another name is shown: an opaque one gives way to the one that they gave, any other may be a name."""
        return self.opaque and self.stored != self.name

    def _stood_in(self, name: str) -> int | None:
        """Where a name goes on behind the user's; None for one that is not theirs."""
        if not self._stands_in or not name.startswith(self.stored):
            return None
        rest = name[len(self.stored) :]
        return len(self.stored) if not rest or _OWNS.match(rest) else None

    def _named_in(self, value: ObjectValue, text: str) -> str:
        """What a sentence says behind its subject."""
        if value.type == "entity" and value.text == self.stored:
            named = re.search(rf"(?<!\w){re.escape(self.stored)}(?!\w)", text)
            if named is not None:
                return text[: named.start()] + self._shown + text[named.end() :]
        if '"' in text or _FIGURE.fullmatch(self.stored):
            return text
        return re.sub(rf"(?<!\w){re.escape(self.stored)}(?='s\b)", lambda _: self._shown, text)

    def _at_beginnings(self, text: str, goes_on: re.Pattern[str]) -> str:
        if not self._stands_in or self.stored not in text:
            return text
        parts, last = [], 0
        for sentence in split_sentences(text):
            behind = sentence.start + len(self.stored)
            if text.startswith(self.stored, sentence.start) and goes_on.match(text, behind):
                parts += [text[last : sentence.start], self._shown]
                last = behind
        return "".join([*parts, text[last:]])


def called(scopes: Sequence[Scope], naming: Naming) -> Called | None:
    """The user of the first scope; None where it is nobody's."""
    segments = scopes[0].segments if scopes else ()  # nothing may be readable
    actor = next((each for each in reversed(segments) if each.startswith("user:")), None)
    if actor is None:
        return None
    stored = Party.of(actor).display_name
    return Called(stored, actor == LOCAL_ACTOR or any(map(str.isdigit, stored)), lambda: naming(actor))


@dataclass(frozen=True, slots=True)
class Names:
    """``Naming`` by what users said in those of the scopes that are theirs, as the axes see it; ``held_at`` as in a plan."""

    records: Records
    tenant_id: str
    scopes: Sequence[Scope]
    axes: Axes
    held_at: Instant | None

    def __call__(self, actor: str) -> str | None:
        """The name that an actor said is theirs."""
        entity = entity_id(self.tenant_id, normalise_name(Party.of(actor).display_name))
        slots = [value_slot(entity, predicate) for predicate in NAMES]
        scopes = [scope for scope in self.scopes if actor in scope.segments]
        facts = [each for each in self._held(scopes, slots) if isinstance(each, Fact) and _holds(each)]
        said = self.records.statements(self.tenant_id, [fact.id for fact in facts]) if facts else {}
        own = (fact for fact in facts if any(each.actor == actor for each in said.get(fact.id, ())))
        return next((fact.object.text for fact in own), None)

    def _held(self, scopes: Sequence[Scope], slots: Sequence[str]) -> Iterator[Record]:
        """The versions of the slots, scope by scope and slot by slot."""
        for scope in scopes:
            if self.held_at is None:
                held = self.records.in_slots(self.tenant_id, scope, slots, limit=_HELD_MAX)
                yield from chain(*(held.get(slot, ()) for slot in slots))
                continue
            query = RecordQuery(
                tenant_id=self.tenant_id,
                layer=Layer.FACTS,
                scopes=[scope],
                axes=self.axes,
                limit=_HELD_MAX,
            )
            yield from chain(*(self.records.query(replace(query, slot=slot)) for slot in slots))


def _holds(fact: Fact) -> bool:
    return fact.valid_to is None and not (fact.negated or fact.external)
