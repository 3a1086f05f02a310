"""Triples by plain patterns, of other languages than English. What is said in English is read from a parse.

Each pattern has bounded repetitions, so matching is linear in the sentence. It sees only what the table spells out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lamina.language.english import is_english
from lamina.pipeline.extract.confidence import FACTS
from lamina.pipeline.extract.phrases import VAGUE
from lamina.pipeline.extract.references import References, entity
from lamina.pipeline.extract.times import Times
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, TimeMatch, Triple
from lamina.pipeline.extract.vocabulary import describe

_MATCHES_MAX = 4


@dataclass(frozen=True, slots=True)
class Rule:
    predicate: str
    pattern: re.Pattern[str]


_CONDITION = re.compile(
    r"(?:^|[,;] )(?:wenn |falls |sobald |si |s'il |se )|\b(?:wenn|falls) ich\b", re.IGNORECASE
)

# language: (predicate, pattern); shapes that are unambiguous without grammar.
_O = (
    r" (?P<object>[^\W\d_][^,.;!?()\n]{1,60}?)(?=$|[,.;!?()\n]| (?:und|aber|et|mais|y|pero|e|ma|mas|seit|desde|"
    r"depuis) )"
)
_SEIT = r"(?: seit [\w. ]{2,20}?)?"
_OTHERS: tuple[tuple[str, str], ...] = (
    (
        "name_is",
        r"\b(?:ich hei(?:ß|ss)e|mein name ist|je m'appelle|mon nom est|me llamo|mi nombre es|mi chiamo|il mio nome "
        r"è|me chamo|meu nome é)",
    ),
    (
        "lives_in",
        rf"\b(?:(?:ich|und) (?:wohne|lebe){_SEIT} in|j'habite (?:à|en|au)|je vis (?:à|en|au)|vivo (?:en|a|em)|abito "
        rf"a|moro em)",
    ),
    (
        "works_at",
        rf"\b(?:(?:ich|und) arbeite{_SEIT} (?:bei|für)|je travaille (?:chez|pour)|trabajo (?:en|para)|lavoro (?:per|"
        rf"presso)|trabalho (?:na|no|para))",
    ),
    ("works_as", r"\b(?:ich arbeite als|je travaille comme|trabajo (?:como|de)|lavoro come|trabalho como)"),
    ("from", r"\b(?:ich komme aus|je viens (?:de|du)|soy de|vengo da|sou d[eoa])"),
    (
        "likes",
        r"\b(?:ich (?:mag|liebe)|j'(?:aime|adore)|me (?:gusta|encanta)n?|mi piac(?:e|ciono)|eu (?:gosto de|adoro|amo))",
    ),
    ("dislikes", r"\b(?:ich hasse|je déteste|odio|detesto)"),
)
# "No longer", where the language has it between the verb and its object.
_OTHERS_DENIED: tuple[tuple[str, str], ...] = (
    (
        "lives_in",
        r"\b(?:(?:ich|und) (?:wohne|lebe) nicht (?:mehr )?in|je n'habite (?:plus|pas) (?:à|en|au)|je ne vis (?:plus|"
        r"pas) (?:à|en|au)|"
        r"non (?:abito|vivo) più a|não moro mais em)",
    ),
    (
        "works_at",
        r"\b(?:(?:ich|und) arbeite nicht (?:mehr )?(?:bei|für)|je ne travaille (?:plus|pas) (?:chez|pour)|non "
        r"lavoro più (?:per|presso)|"
        r"não trabalho mais (?:na|no|para))",
    ),
    ("likes", r"\b(?:je n'aime (?:plus|pas)|non mi piac(?:e|ciono) più)"),
)
_OTHER_DENIALS = tuple(Rule(p, re.compile(start + _O, re.IGNORECASE)) for p, start in _OTHERS_DENIED)
_NOT_BEFORE = re.compile(r"\b(?:no|não|nao|non|nunca|tampoco|nie)\s+$", re.IGNORECASE)
_NOT_AFTER = re.compile(r"\s(?:nicht(?: mehr)?|gar nicht|non più)$", re.IGNORECASE)
_NO_WORD = re.compile(r"^(?:nicht|kein\w*|pas|plus|più|nada)\b", re.IGNORECASE)
_OTHER_RULES = tuple(Rule(p, re.compile(start + _O, re.IGNORECASE)) for p, start in _OTHERS)


def plain_triples(text: str, refs: References, times: Times, offset: int) -> list[Triple]:
    """The triples of one sentence by patterns alone; questions give none."""
    if text.rstrip(" \"'”’)").endswith(("?", "？")):
        return []
    straight = text.replace("’", "'")
    if refs.speaker is None or is_english(text) or _CONDITION.search(text):
        return []
    found = list(dict.fromkeys(_other_languages(straight, refs.speaker)))
    return [_triple(draft, straight, times, offset) for draft in found][:6]


@dataclass(frozen=True, slots=True)
class _Draft:
    subject: EntityRef
    predicate: str
    object: EntityRef | LiteralValue
    at: int
    negated: bool = False


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


def _times_of(draft: _Draft, text: str, times: Times) -> list[TimeMatch]:
    """The times of the clause that a claim stands in; a name has none."""
    if draft.predicate == "name_is":
        return []
    ends = [match.start() for match in _CLAUSE_END.finditer(text)]
    begins = max((end for end in ends if end <= draft.at), default=0)
    until = min((end for end in ends if end > draft.at), default=len(text))
    return [match for match in times.all() if begins <= match.start < until]


_CLAUSE_END = re.compile(r"[,;.!?](?=\s|$)|\s(?:und|aber|et|mais|y|pero|e|ma|mas)\s", re.IGNORECASE)


def _triple(draft: _Draft, text: str, times: Times, offset: int) -> Triple:
    known = describe(draft.predicate, past=draft.predicate.endswith("ed"))
    validity = times.validity(_times_of(draft, text, times), known.kind)
    qualifiers = () if validity.due is None else (("due", validity.due),)
    return Triple(
        subject=draft.subject,
        predicate=draft.predicate,
        object=draft.object,
        kind=known.kind,
        confidence=FACTS[known.kind],
        evidence=Span(offset, offset + len(text)),
        valid_from=validity.valid_from,
        valid_to=validity.valid_to,
        negated=draft.negated,
        single_valued=known.single_valued,
        qualifiers=qualifiers,
    )
