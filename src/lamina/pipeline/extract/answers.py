"""Yes to a question that names a relation: "Is Rex your dog?" "Yes, three years old." says that Rex is."""

from __future__ import annotations

import re

from lamina.pipeline.extract.references import References, entity
from lamina.pipeline.extract.values import Previous, Span, Triple
from lamina.pipeline.extract.vocabulary import PETS, RELATIONS, describe

__all__ = ["confirmed"]

CONFIDENCE = 0.8
_YES = re.compile(
    r"^\s*+(?:yes|yeah|yep|yup|right|correct|exactly|indeed|of course)\b(?![^.!?]{0,40}\bbut\b)",
    re.IGNORECASE,
)
_NAME = r"(?P<name>[A-ZÀ-Þ][\w’'-]{1,30})"
_ASKED = re.compile(
    rf"(?:\b{_NAME} is your (?P<noun>\w{{2,14}})(?:, right)?|\b[Ii]s {_NAME.replace('name', 'other')} your (?P<role>\w{{2,14}}))\?"
)


def confirmed(refs: References) -> list[Triple]:
    """The relation that the turn before asked about and that this one says yes to."""
    utterance = refs.utterance
    last = utterance.previous[-1] if utterance.previous else None
    if refs.speaker is None or last is None or not _is_reply(refs, last) or not _YES.match(utterance.text):
        return []
    asked = _ASKED.search(last.text[:2_000])
    if asked is None:
        return []
    name, noun = asked["name"] or asked["other"], (asked["noun"] or asked["role"]).lower()
    is_pet = noun in PETS
    if not is_pet and noun not in RELATIONS:
        return []
    predicate = "has_pet" if is_pet else RELATIONS[noun][0]
    ref = refs.remember(entity(name, "animal" if is_pet else "person"))
    refs.note(ref, "n" if is_pet else RELATIONS[noun][1])
    known = describe(predicate, past=False)
    return [
        Triple(
            refs.speaker, predicate, ref, known.kind, CONFIDENCE, Span(0, len(utterance.text)),
            single_valued=known.single_valued, qualifiers=(("species" if is_pet else "as", noun),),
        )
    ]  # fmt: skip


def _is_reply(refs: References, last: Previous) -> bool:
    return last.speaker not in (refs.utterance.speaker, refs.utterance.speaker_name)
