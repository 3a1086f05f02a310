"""Two people of one name: "my friend Ben lives in Leeds" and "my colleague Ben lives in Cardiff" need not be about the same Ben.

Nobody can tell from the words. What is said of somebody who is introduced by another relation than before takes no other claim's
place, so that neither is lost; said of a bare "Ben" it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lamina.kernel.records import Fact, Layer, claim_key_of
from lamina.kernel.scopes import Scope
from lamina.pipeline.extract.values import Triple
from lamina.pipeline.view import View

__all__ = ["INTRODUCING", "introduced", "introduces", "is_another"]

_CIRCLES: Final[Mapping[str, str]] = {
    "friend_of": "friends",
    "colleague_of": "work",
    "manager": "work",
    "partner_of": "couple",
    "engaged_to": "couple",
    "married_to": "couple",
    "sibling_of": "siblings",
    "child_of": "parents",
    "parent_of": "children",
    "relative_of": "relatives",
}
INTRODUCING: Final = tuple(_CIRCLES)
"""The predicates that say who somebody is to somebody."""
_HELD_MAX: Final = 4


def introduces(triple: Triple) -> bool:
    """Whether it says who somebody is to somebody."""
    return triple.predicate in _CIRCLES and not triple.negated


def is_another(view: View, owner_id: str, person_id: str, predicates: Sequence[str]) -> bool:
    """Whether the person is held to be something else to the owner than ``predicates`` say."""
    own = {_CIRCLES[predicate] for predicate in predicates}
    for predicate, circle in _CIRCLES.items():
        if circle in own:
            continue
        key = claim_key_of(owner_id, predicate, person_id, negated=False)
        held = view.query(Layer.FACTS, claim_key=key, limit=_HELD_MAX)
        if any(isinstance(fact, Fact) and fact.event_id != view.event.id for fact in held):
            return True
    return False


def introduced(view: View, scope: Scope, owner_id: str, person_id: str) -> list[tuple[Fact, str]]:
    """The facts of a scope that say who somebody is to an owner, each with the circle that it is of."""
    found: list[tuple[Fact, str]] = []
    for predicate, circle in _CIRCLES.items():
        key = claim_key_of(owner_id, predicate, person_id, negated=False)
        held = view.query(Layer.FACTS, scope=scope, claim_key=key, limit=_HELD_MAX)
        found += [(fact, circle) for fact in held if isinstance(fact, Fact)]
    return found
