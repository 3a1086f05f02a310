"""Slips put right in words: "I live in Leeds. Sorry, I meant York." and "make that two".

The new value takes the place of the last one of its kind that the same speaker claimed, in the sentence before or in their turn before.
Days and hours are left to what is open: "I meant Tuesday" moves an appointment, not a fact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lamina.language.entities import normalise_name
from lamina.language.wordsets import word_set
from lamina.pipeline.extract.amounts import number_of_words
from lamina.pipeline.extract.medicines import DOSE, TAKES, dose_of
from lamina.pipeline.extract.phrases import is_time_word
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.restating import object_text
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, Triple

__all__ = ["Meant", "meant", "put_in_place", "put_right", "renamed_doses"]

_SORRY = r"(?:no|nope|oh|oops|whoops|sorry|wait|correction|my bad|my mistake|argh|ah|um|er|actually|typo)"
_MEANT = re.compile(
    rf"^(?P<sorry>(?:{_SORRY}[,.!:;… –-]+)*)"
    r"(?P<how>i (?:actually )?meant(?: to (?:say|write|type))?|i mean|make (?:that|it)|(?:that|it) should (?:be|say|have been|have said|read)|that's|it's|it is)"
    r"[,:]? (?P<new>[^,.;!?\n]{1,40}?)(?: now| instead| actually| of course|, not [^,.;!?\n]{2,40})?[.!]*$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:\w+[,.!] )?i was wrong about (?P<who>[A-ZÀ-Þ][\w’'-]{1,30})[,:;. –-]+(?:it's|it is) (?P<new>[\w-]{2,30}(?: [\w-]{2,30})?) "
    r"(?:that )?(?:she|he|they|\1) (?:can't|cannot|doesn't|don't|isn't|is|are|'s|likes|loves|hates|eats|drinks|uses|plays)\b[^.!?]{0,40}[.!]*$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|an?|my|our|in|at|from|as) ", re.IGNORECASE)
_IDIOMS = word_set(
    "it that this what well no every for as you him her them those these business harm offence offense trouble to how when who why "
    "everything nothing something anything all both so yes not just only really everyone someone me us i we if because quick snappy happen "
    "fun easy hard simple short clear sure great good fine true right wrong better worse"
)
_SWAPPED: frozenset[str] = frozenset(
    (
        "identity",
        "role",
        "place",
        "possession",
        "relation",
        "preference",
        "quantity",
        "state_change",
        "event",
        "attribute",
    )
)


@dataclass(frozen=True, slots=True)
class Meant:
    """A value that was meant instead of another; ``about`` names whose. ``near`` when it can only be of the sentence before."""

    new: str
    about: str | None = None
    near: bool = False


def meant(text: str) -> Meant | None:
    """The value that a sentence puts right, None for any other sentence."""
    straight = text.strip().replace("’", "'")
    wrong = _ABOUT.match(straight)
    if wrong is not None:
        return Meant(wrong["new"], wrong["who"])
    found = _MEANT.match(straight)
    if found is None:
        return None
    new = _ARTICLE.sub("", found["new"].strip())
    near = found["how"].casefold() in ("that's", "it's", "it is")
    words = new.split()
    if not words or len(words) > 4 or words[0].casefold() in _IDIOMS or is_time_word(new):
        return None
    if near and (not found["sorry"] or not (new[:1].isupper() or new[:1].isdigit())):
        return None
    return Meant(new, near=near)


def put_in_place(said: Meant, claims: Sequence[Triple], span: Span) -> dict[Triple, Triple]:
    """What stands in the place of claims of the same utterance: of those of its last sentence that has any."""
    last = [each for each in claims if each.evidence == claims[-1].evidence] if claims else []
    swapped = _swapped(said, last)
    swapped |= _doses_of(swapped, last)
    return {old: replace(new, evidence=span, corrects=True) for old, new in swapped.items()}


def put_right(said: Meant, claims: Sequence[Triple], span: Span) -> list[Triple]:
    """The right claims, and where values stand beside each other the denial of the wrong ones, of a turn before."""
    found = []
    for old, new in _swapped(said, claims).items():
        base = replace(old, evidence=span, valid_from=None, valid_to=None)
        found.append(replace(base, object=new.object, corrects=True))
        if not old.single_valued:
            wrong = replace(base, negated=not old.negated, corrects=False, qualifiers=())
            # That she can't have dairy was wrong; whether she has any was not said.
            found.append(
                replace(wrong, hedged=True, confidence=round(0.6 * old.confidence, 3))
                if old.negated
                else wrong
            )
    return found


def _swapped(said: Meant, claims: Sequence[Triple]) -> dict[Triple, Triple]:
    """The claims of the one value of the kind, each with the value that it becomes."""
    about = None if said.about is None else normalise_name(said.about)
    fitting = [
        (each, value)
        for each in claims
        if each.kind in _SWAPPED
        and about in (None, each.subject.key)
        and (value := _like(each, said.new)) is not None
    ]
    states = [(each, value) for each, value in fitting if each.kind != "event"]
    texts = {object_text(each) for each, _ in states or fitting}
    # Of two values either may be the wrong one.
    if len(texts) != 1:
        return {}
    (old,) = texts
    swapped = {}
    for each, value in fitting:
        if object_text(each) == old:
            swapped[each] = replace(each, object=value)
        elif isinstance(value, LiteralValue):  # "stopped taking metformin" beside "takes metformin"
            words = object_text(each).replace(old, said.new)
            swapped[each] = replace(each, object=replace(value, value=words))
    return {each: new for each, new in swapped.items() if new != each}


def _doses_of(swapped: Mapping[Triple, Triple], claims: Sequence[Triple]) -> dict[Triple, Triple]:
    """The doses of the medicines that were meant, in the place of those that were said."""
    renamed = renamed_doses(swapped)
    return {
        each: replace(each, predicate=renamed[each.predicate]) for each in claims if each.predicate in renamed
    }


def renamed_doses(swapped: Mapping[Triple, Triple]) -> dict[str, str]:
    """The predicates of doses of one medicine that are those of another now."""
    return {
        dose_of(object_text(old)): dose_of(object_text(new))
        for old, new in swapped.items()
        if old.predicate == TAKES
    }


def _like(claim: Triple, new: str) -> EntityRef | LiteralValue | None:
    """``new`` as a value of the kind that a claim has, None where it is of another."""
    value = claim.object
    number = number_of_words(new)
    if isinstance(value, EntityRef):
        return entity(new, value.type) if new[:1].isupper() and number is None else None
    if value.datatype in ("integer", "number", "quantity", "duration"):
        return None if number is None else replace(value, value=number)
    if value.datatype != "string" or number is not None:
        return None
    amount = DOSE.match(new)
    if claim.predicate.endswith("_dose") or amount is not None:
        of_a_dose = claim.predicate.endswith("_dose") and amount is not None
        return replace(value, value=DOSE.sub(new, str(value.value), count=1)) if of_a_dose else None
    named = str(value.value)[:1].isupper()
    return replace(value, value=new) if named == new[:1].isupper() else None
