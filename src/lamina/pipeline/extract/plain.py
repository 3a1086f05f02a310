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

from lamina.language.attributed import is_attributed
from lamina.language.english import is_english
from lamina.language.entities import CONTRACTED, NAME_RUN
from lamina.pipeline.extract.confidence import FACTS
from lamina.pipeline.extract.phrases import VAGUE
from lamina.pipeline.extract.references import References, entity
from lamina.pipeline.extract.times import Times
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, TimeMatch, Triple
from lamina.pipeline.extract.vocabulary import OCCUPATIONS, PETS, RELATIONS, describe, slug

_MATCHES_MAX = 4
_I = r"(?:^|[,;.!] (?:and |but |so )?|\band |\bbut )(?:actually,? |well,? |no,? |yes,? )?i"
_UP_TO = (
    r"(?P<object>[^,.;!?()\n]{2,80}?)(?=$|[,.;!?()\n]| (?:and|but|because|since|so|while|when|which|who|for|with|"
    r"after|before) )"
)


@dataclass(frozen=True, slots=True)
class Rule:
    predicate: str
    pattern: re.Pattern[str]


def _rule(predicate: str, start: str, *, until: str = _UP_TO) -> Rule:
    return Rule(predicate, re.compile(start + " " + until, re.IGNORECASE))


_ENGLISH = (
    _rule("name_is", r"\bmy name(?:'s| is)", until=rf"(?P<object>{NAME_RUN})"),
    _rule("lives_in", _I + r"(?:'m|'ve been| am)? (?:currently )?(?:live|living|based) in"),
    _rule("from", _I + r"(?:'m| am| come) (?:originally )?from"),
    _rule("moved_to", _I + r"(?:'ve)? (?:just |recently )?(?:moved|relocated) to"),
    _rule("works_at", _I + r"(?:'m)? (?:currently )?(?:work|working) (?:at|for)"),
    _rule("works_as", _I + r"(?:'m)? (?:currently )?(?:work|working) as (?:an?|the)"),
    _rule("studies", _I + r"(?:'m)? (?:study|studying)"),
    _rule("allergic_to", _I + r"(?:'m| am) (?:\w{1,10} )?allergic to"),
    _rule("interested_in", _I + r"(?:'m| am) (?:\w{1,10} )?interested in"),
    _rule("dislikes", _I + r" (?:really )?(?:hate|dislike|can't stand|don't like|do not like)"),
    _rule("likes", _I + r" (?:really |also )?(?:like|love|enjoy|adore)"),
    _rule("bought", _I + r"(?:'ve)? (?:just |recently )?(?:bought|purchased)"),
    _rule("adopted", _I + r"(?:'ve)? (?:just |recently )?adopted"),
    _rule("plans_to", _I + r"(?:'m| am)? (?:plan|planning|going) to"),
    _rule("wants_to", _I + r"(?:'d like| would like| want| hope|'m hoping) to"),
    _rule("needs_to", _I + r" (?:need|have) to"),
    _rule("committed_to", _I + r"(?:'ll| will| promise to)"),
    _rule("asked_to_be_reminded_to", r"^(?:please )?remind me to"),
)
_PREFER = re.compile(
    _I + r" prefer (?P<object>[^,.;!?]{2,40}?) (?:to|over) (?P<over>[^,.;!?]{2,40}?)(?=$|[,.;!?])",
    re.IGNORECASE,
)
_FAVOURITE = re.compile(
    r"\bmy (?:all-time )?favou?rite (?P<topic>[\w -]{2,30}?)(?:'s| is| are) (?P<object>[^,.;!?]{2,60}?)(?=$|[,.;!?]|"
    r" and | but )",
    re.IGNORECASE,
)
_KIN = re.compile(
    r"(?<!not )(?<!n't )\b[Mm]y (?:(?!half|step|foster)\w{1,12} )?(?P<noun>\w{2,14})(?:'s name is|,? (?:named |"
    r"called )?) ?"
    rf"(?P<object>(?!{CONTRACTED})[A-Z][\w'-]{{1,30}})"
)
_PET = re.compile(
    r"\bi (?:have|got|adopted) an? (?:\w{1,12} )?(?P<noun>\w{2,12}) (?:named|called) (?P<object>[A-Z][\w'-]{1,30})",
    re.IGNORECASE,
)
_JOB = re.compile(r"\bi(?:'m| am) an? ([\w-]{2,16}(?: [\w-]{2,16}){0,3})", re.IGNORECASE)
_AGE = re.compile(r"\bi(?:'m| am) (?P<object>\d{1,3})(?: years old|$|[,.!])", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:^|[,;] |\b(?:and|but|or|so|even) )(?:if (?!you\b|that\b|it\b)|unless |suppos(?:e|ing) |imagine |assuming |"
    r"as soon as |in case (?!you\b)|wenn |falls |sobald |si |s'il |se )"
    r"|\b(?:if|unless|wenn|falls) (?:i|ich)\b(?! (?:remember|recall|may|can|could)\b)",
    re.IGNORECASE,
)  # fmt: skip

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
    found = list(dict.fromkeys(_drafts(straight, refs)))
    # The same words under two predicates ("plans to ...", "wants to ...") never happen: one rule, one triple.
    factor = 0.7 if refs.utterance.role == "assistant" else 1.0
    return [_triple(draft, straight, times, offset, factor) for draft in found][:6]


@dataclass(frozen=True, slots=True)
class _Draft:
    subject: EntityRef
    predicate: str
    object: EntityRef | LiteralValue
    over: str = ""
    at: int | None = None
    negated: bool = False


def _drafts(text: str, refs: References) -> Iterator[_Draft]:
    speaker = refs.speaker
    if speaker is not None and not _CONDITION.search(text):
        yield from _first_person(text, speaker)


def _first_person(text: str, speaker: EntityRef) -> Iterator[_Draft]:
    preferred = _PREFER.search(text)
    if preferred:
        yield _Draft(
            speaker, "prefers", LiteralValue("string", _trim(preferred["object"])), _trim(preferred["over"])
        )
    for match in _FAVOURITE.finditer(text):
        yield _Draft(speaker, f"favourite_{slug(match['topic'])}", _value(match["object"], ""))
    for match in _KIN.finditer(text):
        noun = match["noun"].lower()
        if noun in RELATIONS or noun in PETS:
            kin = noun in RELATIONS
            named = entity(match["object"], "person" if kin else "animal")
            yield _Draft(speaker, RELATIONS[noun][0] if kin else "has_pet", named)
    pet = _PET.search(text)
    if pet and pet["noun"].lower() in PETS:
        yield _Draft(speaker, "has_pet", entity(pet["object"], "animal"))
    age = _AGE.search(text)
    if age and _is_own(text, age):
        yield _Draft(speaker, "age", LiteralValue("integer", int(age["object"])))
    job = _JOB.search(text)
    if job and _is_own(text, job):
        words = job[1].split()
        last = next((n for n in range(len(words), 0, -1) if words[n - 1].lower() in OCCUPATIONS), 0)
        if last:
            yield _Draft(speaker, "works_as", LiteralValue("string", " ".join(words[:last])))
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


def _times_of(draft: _Draft, text: str, times: Times) -> list[TimeMatch]:
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
    qualifiers = (("over", draft.over),) if draft.over else ()
    if validity.due is not None:
        qualifiers = (*qualifiers, ("due", validity.due))
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
