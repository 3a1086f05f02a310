"""A claim as one English sentence, from its parts alone: what users read and what is searched."""

from __future__ import annotations

from datetime import datetime

from lamina.language.entities import possessive
from lamina.language.temporal.calendar import last_day
from lamina.pipeline.extract.inflect import base_form, in_past, is_plural, third_person, with_article
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Triple
from lamina.pipeline.extract.vocabulary import CANON, GERUND_OBJECT, describe
from lamina.pipeline.extract.wording import display_name

__all__ = ["object_text", "restate"]

_TOLD_PAST = (*(lemma for lemma, _ in CANON), *GERUND_OBJECT, "move", "switch", "get", "accept", "have")
_BASE_OF_PAST = {in_past(lemma): lemma for lemma in _TOLD_PAST}
_SHOWN_ROLES = ("with", "at", "in", "for", "to", "from")
_PLURAL = {"is": "are", "was": "were", "has": "have"}
_PET_VERBS = {"has_pet": "has", "got_pet": "got"}


def restate(triple: Triple, *, seen_at: datetime | None = None) -> str:
    """The claim in words: "Alice prefers tea to coffee", "Alice lived in Rome", "Alice does not like tea".

    A state that was over by `seen_at` is told in the past.
    """
    if triple.restated:
        return triple.restated
    subject, verb = _subject(triple), _phrase(triple)
    ended = _has_ended(triple, seen_at)
    if verb.startswith("'s "):
        subject, verb = f"{possessive(subject)}{verb[2 : -len(verb.split()[-1]) - 1]}", verb.split()[-1]
    first, _, rest = verb.partition(" ")
    first = _inflected(first, triple, past=ended, plural=is_plural(subject))
    return _sentence(f"{subject} {first} {rest}".rstrip(), triple)


def object_text(triple: Triple) -> str:
    """The object as words, with its unit and without its determiner."""
    if isinstance(triple.object, EntityRef):
        return triple.object.name
    value = triple.object
    return f"{value.value} {value.unit}" if value.unit else str(value.value)


def _sentence(start: str, triple: Triple) -> str:
    value = _object(triple)
    text = start.replace("{}", value) if "{}" in start else f"{start} {value}"
    known = describe(triple.predicate, past=False).known
    for role, words in triple.qualifiers:
        if role == "over":
            text = f"{text} to {words}" if triple.predicate == "prefers" else text
        elif role in _SHOWN_ROLES and not known:
            text = f"{text} {role} {words}"
    due = any(role == "due" for role, _ in triple.qualifiers)
    if due and triple.valid_to is not None:
        text = f"{text} (by {last_day(triple.valid_to).isoformat()})"
    return text


def _phrase(triple: Triple) -> str:
    species = dict(triple.qualifiers).get("species")
    if triple.predicate in _PET_VERBS:
        verb = _PET_VERBS[triple.predicate]
        if isinstance(triple.object, LiteralValue):
            return verb
        return f"{verb} {with_article(species)} named" if species else f"{verb} a pet named"
    known = describe(triple.predicate, past=False)
    if known.known:
        return known.phrase
    first, _, rest = triple.predicate.removeprefix("did_").replace("_", " ").partition(" ")
    if first in ("is", "was", "are", "were", "has", "had"):
        return f"{first} {rest}"
    return f"{in_past(first) if triple.kind == 'event' else third_person(first)} {rest}".rstrip()


def _has_ended(triple: Triple, seen_at: datetime | None) -> bool:
    lasting = triple.kind not in ("event", "plan", "commitment")
    if not lasting or triple.valid_to is None:
        return False
    return triple.valid_from is None or (seen_at is not None and triple.valid_to <= seen_at)


def _inflected(verb: str, triple: Triple, *, past: bool, plural: bool) -> str:
    """`verb`, as the phrases have it, in the tense, number and polarity of the claim."""
    is_past = triple.kind == "event" or verb in ("was", "were", "had") or verb in _BASE_OF_PAST
    if past and not is_past:
        verb = "was" if verb == "is" else in_past(base_form(verb))
        is_past = True
    if triple.negated:
        if verb in ("is", "was"):
            return f"{_PLURAL[verb] if plural else verb} not"
        base = _BASE_OF_PAST.get(verb, base_form(verb)) if is_past else base_form(verb)
        return f"{'did' if is_past else 'do' if plural else 'does'} not {base}"
    if plural:
        return _PLURAL.get(verb, verb if is_past else base_form(verb))
    return verb


def _subject(triple: Triple) -> str:
    name = display_name(triple.subject)
    common = triple.subject.type == "thing" and name[:1].islower()
    return f"The {name}" if common else name


def _object(triple: Triple) -> str:
    text, value = object_text(triple), triple.object
    if isinstance(value, EntityRef):
        return display_name(value)
    if value.determiner == "a" or (not value.determiner and _needs_article(triple, text)):
        return with_article(text) if text[:1].isalpha() else text
    return f"{value.determiner} {text}" if value.determiner else text


def _needs_article(triple: Triple, text: str) -> bool:
    counted = triple.predicate in ("works_as", "is_a") or triple.predicate in _PET_VERBS
    return counted and not is_plural(text)
