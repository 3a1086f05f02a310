"""What the user of a scope is called.

What is stored names them by their id, and an id is often nobody's name ("U 4471"). Readers get the name that the user
gave, and a question that has it is about the user. Nothing stored changes: a name may be learned late, or change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from lamina.kernel.events import Party
from lamina.kernel.records import Fact, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes
from lamina.language.entities import entity_id, normalise_name
from lamina.store.ports.records import RecordQuery, Records

__all__ = ["NAMES", "Called", "called"]

NAMES: Final = ("goes_by", "name_is")
"""The predicates of a name, the one that counts first."""

_NAMELESS: Final = "User"
_LOCAL: Final = "user:local"
"""Who calls without saying who they are."""
_HELD_MAX: Final = 4


@dataclass(frozen=True)
class Called:
    """A user: the ``stored`` name, the entity behind it, and the name that they gave, if they did. ``opaque`` where the
    stored one is no name: it has digits, or says that nobody was named."""

    stored: str
    entity: str
    name: str | None
    opaque: bool

    @property
    def keys(self) -> frozenset[str]:
        """The normal forms under which a question may name the user."""
        if self.name is None:
            return frozenset()
        whole = normalise_name(self.name)
        return frozenset({whole, whole.split(" ")[0]} - {""})

    def line(self, text: str) -> str:
        """A text for readers. An opaque name gives way to the one that they gave; any other may be a name, and stays."""
        return text if self._found is None else self._found.sub(lambda _: self.name or _NAMELESS, text)

    @cached_property
    def _found(self) -> re.Pattern[str] | None:
        if not self.opaque or self.stored == self.name:
            return None
        return re.compile(rf"(?<!\w){re.escape(self.stored)}(?!\w)")


def called(
    records: Records, tenant_id: str, scopes: Sequence[Scope], axes: Axes, *, now: bool
) -> Called | None:
    """The user of the first scope, by what they said of their name in any of the scopes; None where it is nobody's.

    ``now`` says that the axes are those of a reader of the present, who needs one statement alone.
    """
    segments = scopes[0].segments if scopes else ()  # nothing may be readable
    actor = next((each for each in reversed(segments) if each.startswith("user:")), None)
    if actor is None:
        return None
    stored = Party.of(actor).display_name
    entity = entity_id(tenant_id, normalise_name(stored))
    slots = [f"{entity}|{predicate}" for predicate in NAMES]
    found: list[Fact] = []
    for scope in (each for each in scopes if actor in each.segments):
        if now:
            held = records.in_slots(tenant_id, scope, slots, limit=_HELD_MAX)
            versions = [each for slot in slots for each in held.get(slot, ())]
        else:
            query = RecordQuery(
                tenant_id=tenant_id, layer=Layer.FACTS, scopes=[scope], axes=axes, limit=_HELD_MAX
            )
            versions = [each for slot in slots for each in records.query(replace(query, slot=slot))]
        found += [each for each in versions if isinstance(each, Fact) and _holds(each)]
    said = records.statements(tenant_id, [fact.id for fact in found]) if found else {}
    own = [fact for fact in found if any(each.actor == actor for each in said.get(fact.id, ()))]
    opaque = actor == _LOCAL or any(map(str.isdigit, stored))
    return Called(stored, entity, str(own[0].object.text) if own else None, opaque)


def _holds(fact: Fact) -> bool:
    return fact.valid_to is None and not (fact.negated or fact.external)
