"""Triples by plain patterns: the fallback without a parser, and all there is for other languages than English.

What is said in English is read elsewhere: from a parse, by the handlers of ``parsed.py`` with the words of
``vocabulary.py``.

Each pattern is anchored at a clause start and has bounded repetitions, so matching is linear in the sentence. It sees
only what the table spells out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from lamina.language.attributed import is_attributed
from lamina.language.english import is_english
from lamina.language.entities import NAME_RUN
from lamina.language.tables import table
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.extract.confidence import FACTS
from lamina.pipeline.extract.phrases import VAGUE
from lamina.pipeline.extract.references import References, entity
from lamina.pipeline.extract.times import Times
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, Triple
from lamina.pipeline.extract.vocabulary import PETS, describe

_MATCHES_MAX = 4
_TABLE: Final = table(__name__, name_run=NAME_RUN, pets="|".join(sorted(PETS)))


class Rule(NamedTuple):
    predicate: str
    pattern: re.Pattern[str]


def _rules(name: str, until: str = "") -> tuple[Rule, ...]:
    return tuple(
        Rule(row[0], re.compile("".join(row[1:]) + until, re.IGNORECASE)) for row in _TABLE.rows(name)
    )


_ENGLISH: Final = _rules("english")
_CONDITION: Final = _TABLE.pattern("condition")

# language: (predicate, pattern); shapes that are unambiguous without grammar.
_O: Final = _TABLE.part("o")
# "No longer", where the language has it between the verb and its object.
_OTHER_DENIALS: Final = _rules("others_denied", _O)
_NOT_BEFORE = re.compile(r"\b(?:no|não|nao|non|nunca|tampoco|nie)\s+$", re.IGNORECASE)
_NOT_AFTER = re.compile(r"\s(?:nicht(?: mehr)?|gar nicht|non più)$", re.IGNORECASE)
_NO_WORD = re.compile(r"^(?:nicht|kein\w*|pas|plus|più|nada)\b", re.IGNORECASE)
_OTHER_RULES: Final = _rules("others", _O)


def plain_triples(text: str, refs: References, times: Times, offset: int) -> list[Triple]:
    """The triples of one sentence by patterns alone; questions give none."""
    if text.rstrip(" \"'”’)").endswith(("?", "？")):
        return []
    straight = text.replace("’", "'")
    found = list(dict.fromkeys(_drafts(straight, refs)))
    # The same words under two predicates ("plans to ...", "wants to ...") never happen: one rule, one triple.
    factor = 0.7 if refs.utterance.role == "assistant" else 1.0
    return [_triple(draft, straight, times, offset, factor) for draft in found][:6]


@dataclass(frozen=True, slots=True)
class _Draft:
    subject: EntityRef
    predicate: str
    object: EntityRef | LiteralValue
    at: int | None = None
    negated: bool = False


def _drafts(text: str, refs: References) -> Iterator[_Draft]:
    speaker = refs.speaker
    if speaker is not None and not _CONDITION.search(text):
        yield from _first_person(text, speaker)


def _first_person(text: str, speaker: EntityRef) -> Iterator[_Draft]:
    for rule in _ENGLISH:
        found = rule.pattern.search(text)
        if found and not _empty(found["object"]) and _is_own(text, found):
            yield _Draft(speaker, rule.predicate, _value(found["object"], rule.predicate))
            if rule.predicate == "moved_to":
                yield _Draft(speaker, "lives_in", _value(found["object"], "lives_in"))
    if not is_english(text):
        yield from _other_languages(text, speaker)


def _is_own(text: str, match: re.Match[str]) -> bool:
    return not is_attributed(text[: match.start()], text[match.end() :])


def _other_languages(text: str, speaker: EntityRef) -> Iterator[_Draft]:
    """What the patterns of other languages find, each beside what it denies: "ya no vivo en Sevilla, ahora vivo en
    Cádiz"."""
    for rule, denies in (*((r, True) for r in _OTHER_DENIALS), *((r, False) for r in _OTHER_RULES)):
        for found in islice(rule.pattern.finditer(text), _MATCHES_MAX):
            words = _NOT_AFTER.sub("", found["object"])
            if _empty(words) or _NO_WORD.match(words):
                continue
            negated = (
                denies or words != found["object"] or _NOT_BEFORE.search(text[: found.start()]) is not None
            )
            value = _value(words, rule.predicate)
            yield _Draft(speaker, rule.predicate, value, at=found.start(), negated=negated)


_TRIM = re.compile(r"^(?:the|an?|my|our|some|to) ", re.IGNORECASE)


def _trim(text: str) -> str:
    return _TRIM.sub("", text.strip(" \"'“”*:-"), count=1)


def _empty(text: str) -> bool:
    words = _trim(text).casefold().split()
    return (
        not words
        or words[0] in ("it", "that", "this", "you", "be", "how", "what", "when", "them", "him", "her", "see")
        or (words[-1] in VAGUE and len(words) < 3)
    )


def _value(text: str, predicate: str) -> EntityRef | LiteralValue:
    words = _trim(text)
    known = describe(predicate, past=False)
    if words[:1].isupper() and known.kind not in ("plan", "commitment") and predicate != "name_is":
        return entity(words, known.object_type or "thing")
    return LiteralValue("string", words)


def _times_of(draft: _Draft, text: str, times: Times) -> list[TemporalMatch]:
    """The times of the clause that a claim stands in; a name has none."""
    if draft.at is None or draft.predicate == "name_is":
        return [] if draft.predicate == "name_is" else times.all()
    ends = [match.start() for match in _CLAUSE_END.finditer(text)]
    begins = max((end for end in ends if end <= draft.at), default=0)
    until = min((end for end in ends if end > draft.at), default=len(text))
    return [match for match in times.all() if begins <= match.start < until]


_CLAUSE_END = re.compile(r"[,;.!?](?=\s|$)|\s(?:und|aber|et|mais|y|pero|e|ma|mas)\s", re.IGNORECASE)


def _triple(draft: _Draft, text: str, times: Times, offset: int, factor: float) -> Triple:
    known = describe(draft.predicate, past=draft.predicate.endswith("ed"))
    validity = times.validity(_times_of(draft, text, times), known.kind)
    qualifiers = () if validity.due is None else (("due", validity.due),)
    return Triple(
        subject=draft.subject,
        predicate=draft.predicate,
        object=draft.object,
        kind=known.kind,
        confidence=round(FACTS[known.kind] * factor, 3),
        evidence=Span(offset, offset + len(text)),
        valid_from=validity.valid_from,
        valid_to=validity.valid_to,
        negated=draft.negated,
        corrects=not draft.negated
        and text[:9].casefold().startswith(("actually", "no,", "no "))
        and known.single_valued,
        single_valued=known.single_valued,
        qualifiers=qualifiers,
    )
