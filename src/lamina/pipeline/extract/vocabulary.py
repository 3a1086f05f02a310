"""The predicates that extraction gives, and the words that lead to them.

A predicate in `PREDICATES` has a fixed kind and says whether a newer value supersedes an older one. Everything else
is the verb's lemma with particle and preposition ("sign_up_for"), kind event when past and attribute otherwise.
Open families: `favourite_<noun>` and `<noun>_count`, both single-valued.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, cast

from lamina.language.tables import table
from lamina.pipeline.extract.inflect import plural
from lamina.pipeline.extract.values import EntityType, Kind


@dataclass(frozen=True, slots=True)
class Predicate:
    """`object_type` corrects the type of a named object: what somebody lives in is a place.

    `phrase` is what stands between subject and object of a restatement, in the singular, or has `{}` for the object.
    Without one (`known` is false) the predicate is a verb that nobody wrote a phrase for.
    """

    kind: Kind
    single_valued: bool = False
    object_type: EntityType | None = None
    phrase: str = ""

    @property
    def known(self) -> bool:
        return self.phrase != ""


_TABLE: Final = table(__name__)
PREDICATES: Final[dict[str, Predicate]] = {
    name: Predicate(cast(Kind, kind), many == "one", cast(EntityType | None, of_type or None), phrase)
    for name, kind, many, of_type, phrase in _TABLE.rows("predicates")
}

# (lemma, slot): the slot is "dobj" or particle and preposition. Present and past lead to the same predicate; the
# tense decides about validity (a past state has ended).
CANON: Final = {(lemma, slot): predicate for lemma, slot, predicate in _TABLE.rows("canon")}

ADJECTIVE_CANON: Final = {(word, slot): predicate for word, slot, predicate in _TABLE.rows("adjective_canon")}
ADJECTIVE_ATTRIBUTES: Final = _TABLE.by_word("adjective_attributes")

RELATIONS: Final = {
    noun: (predicate, gender)
    for predicate, gender, words in _TABLE.rows("relations")
    for noun in words.split()
}
"""From a noun to the predicate from the owner's side and a gender: f, m or n."""
OWN_KIN: Final = _TABLE.words("own_kin")
"""Kin that is the speaker's own when nobody's name stands before it: "dad died", "Mum lives in York"."""
BLENDED_KIN: Final = {kin: gender for gender, words in _TABLE.rows("blended_kin") for kin in words.split()}
"""Kin by marriage or by half, once "-in-law", "step" or "half" goes with it: no mother, but a relative."""
RELATIONS.update(
    {
        word: ("relative_of", gender)
        for kin, gender in BLENDED_KIN.items()
        for word in (f"{kin}-in-law", f"half-{kin}", f"step-{kin}", f"step{kin}", f"foster-{kin}")
    }
)
PETS: Final = _TABLE.words("pets")
OCCUPATIONS: Final = _TABLE.words("occupations")
ATTRIBUTE_NOUNS: Final = _TABLE.words("attribute_nouns")
_ONE_AT_A_TIME = _TABLE.words("one_at_a_time")
GERUND_OBJECT: Final = _TABLE.by_word("gerund_object")
LIGHT_NOUNS: Final = _TABLE.words("light_nouns")
FORMER: Final = _TABLE.words("former")
EVENT_NOUNS: Final = _TABLE.words("event_nouns")
HABITUAL: Final = _TABLE.words("habitual")
"""Said of the present they tell how somebody is; of the past, what they once did."""
CONSUMED: Final = frozenset(["eats", "drinks"])
TASTES: Final = _TABLE.words("tastes")
MUTUAL: Final = frozenset(name for name, known in PREDICATES.items() if known.kind == "relation")
"""Predicates that the addressee may be the object of; "I love you" and "I showed you" are no memory."""
STATIVE: Final = _TABLE.words("stative")
"""States by name; all of them are those that ``passes`` tells: in the past tense they have ended by `observed_at`. Who was
allergic is so still until they say otherwise."""


def passes(predicate: str, *, of_person: bool) -> bool:
    """Whether it tells a state: a favourite, a count or an attribute of a person is one, whatever its name. A book that had
    341 pages has them still."""
    if predicate in PREDICATES or not of_person:
        return predicate in STATIVE
    return describe(predicate, past=True).kind != "event"


def canonical_count(noun: str) -> str:
    """The predicate for a count of `noun` (already singular): "seat" gives "seat_count"."""
    return f"{slug(noun)}_count"


_NON_WORD = re.compile(r"[^\w]+")


def slug(words: str) -> str:
    """`words` as a snake_case predicate of at most 60 characters."""
    return _NON_WORD.sub("_", words.casefold()).strip("_")[:60]


def describe(predicate: str, *, past: bool) -> Predicate:
    """What is known about `predicate`; unknown ones are events when past and attributes otherwise."""
    known = PREDICATES.get(predicate)
    if known is not None:
        return known
    words = predicate.replace("_", " ")
    if words.split(" ")[-1] in ATTRIBUTE_NOUNS and not predicate.startswith("did_"):
        return Predicate("attribute", words.split(" ")[-1] in _ONE_AT_A_TIME, phrase=f"'s {words} is")
    if predicate.startswith("favourite_"):
        return Predicate("preference", True, phrase=f"'s {words} is")
    if predicate.endswith("_count"):
        return Predicate("quantity", True, phrase=f"has {{}} {plural(words.removesuffix(' count'))}")
    return Predicate("event" if past else "attribute")
