"""Whom and what a loop speaks of, where its words have a pronoun only.

A person is named when the talk leaves one in question. Else the turn's own sentence is quoted: a guess would be worse, and a
loop holds no words of turns that it does not rest on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lamina.language.sentences import split_sentences
from lamina.language.wordsets import word_set
from lamina.pipeline.loops.matching import key_terms
from lamina.pipeline.loops.values import Heard

__all__ = ["resolved"]

_PERSON = re.compile(r"\b(?P<word>him|her|his)\b(?! own\b)", re.IGNORECASE)
_THEY: Final = re.compile(r"\b(?:them|their|theirs)\b", re.IGNORECASE)
_THING = re.compile(r"\b(?:it|this|that|those|these)$", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![.!?“\"] )(?<!^)\b[A-Z][a-zà-ÿ]+(?:-[A-Z][a-z]+)?\b|"
    r"^[A-Z][a-zà-ÿ]+(?= (?:said|told|asked|rang|called|texted|emailed|thinks|wants|met|lives|works)\b)|^[A-Z][a-zà-ÿ]+(?='s (?:my|his|her|going|coming|moving)\b)"
)
_PERHAPS_NAME = re.compile(r"^[A-Z][a-zà-ÿ]+(?= (?:is|was|has|and|needs|\w+ed|\w+s)\b)")
_KIN: Final = (
    r"(?:mum|mom|mother|sister|daughter|wife|girlfriend|aunt|grandma|gran|niece|dad|father|brother|son|husband|boyfriend|uncle|"
    r"grandpa|grandad|nephew|boss|landlord|landlady|manager|neighbour|neighbor|dentist|doctor|partner|colleague|friend)"
)
_KINSHIP = re.compile(
    rf"\bmy {_KIN}(?: (?-i:[A-Z][\w-]+))?\b|\b(?:mum|mom|dad|gran|grandma|grandpa)\b", re.IGNORECASE
)
_NO_NAMES = word_set(
    "I Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September "
    "October November December Christmas Easter The This That It She He They We You My Our Not Also And But So Then Ok Okay Yes No Hi "
    "Hey Thanks Bus Saw Got English French German Spanish Portuguese Italian God"
)
_WORDS_MAX: Final = 12
_ANOTHER = re.compile(r"\b(?:she|he|her|him|his|hers)\b", re.IGNORECASE)
"""Somebody whom an earlier sentence named: a name beside them is likely to be somebody else's."""
_SOMEBODY: Final = "?"
"""Perhaps a name: a word at the beginning of a sentence."""
_TERMS_MAX: Final = 1
"""Of a deed with more terms than these one can tell what it is."""

_PREPOSITION = re.compile(r"\b(?:at|in|to|from|near|on|of) $", re.IGNORECASE)
_TALKED = re.compile(
    r"\b(?:talk(?:s|ed|ing)?|sp(?:eak|eaks|eaking|oke|oken)|wr(?:ite|ites|iting|ote|itten)|listen(?:ed|ing)?|apologi[sz](?:e|ed|ing)|lied|married|engaged|nice|mean|rude) to $|"
    r"\b(?:hear|heard) from $",
    re.IGNORECASE,
)
"""Before a person, where other words with a "to" lead to places."""
_BARE = re.compile(
    r"(?:(?:yes|yep|yeah|yup|no|nope|nah|not really|not yet|ok|okay|sure|right|true|exactly|maybe|well|hm{1,9}|oh|ah|ugh|wow|lol|(?:ha){1,9}|thanks|thank you|hi|hey|hello|"
    r"good (?:morning|evening|question|idea|point))\b\W{0,4}){1,8}",
    re.IGNORECASE,
)


def resolved(wording: str, sentence: str, earlier: str, before: Sequence[Heard]) -> str:
    """The wording of a loop with the one person named that a pronoun may stand for, or with its sentence quoted.

    ``earlier`` is what the same turn said before; ``before`` are the turns before it, oldest first.
    """
    person = _PERSON.search(wording)
    vague = person is not None or _THEY.search(wording) or _is_vague_thing(wording, sentence)
    if not vague:
        return wording
    lead = sentence[: max(sentence.casefold().rfind(wording.casefold()[:12]), 0)]
    if person is not None and (name := _person_in(lead, earlier, before)) is not None:
        return _named(wording, name)
    if len(key_terms(wording)) > _TERMS_MAX and (person is None or not earlier.strip()):
        return wording
    quote = _quote(earlier, sentence)
    return f"{wording} (“{quote}”)" if quote.casefold() != wording.casefold() else wording


def _person_in(lead: str, earlier: str, before: Sequence[Heard]) -> str | None:
    """The person whom the nearest words before name, if these name just one."""
    own = [heard.text for heard in before if heard.own][-1:]
    for text in (lead, *reversed(_sentences(earlier)), *(s for t in own for s in reversed(_sentences(t)))):
        found = _people(text)
        if found or _ANOTHER.search(text):
            return (
                found[0]
                if len(found) == 1 and found != [_SOMEBODY] and _ANOTHER.search(text) is None
                else None
            )
    return None


def _people(text: str) -> list[str]:
    kin = list(_KINSHIP.finditer(text))
    found = [f"my{match.group()[2:]}" if match.group()[:2] == "My" else match.group() for match in kin]
    for match in _NAME.finditer(text):
        inside = any(each.start() <= match.start() < each.end() for each in kin)
        led = text[: match.start()]
        placed = _PREPOSITION.search(led) is not None and _TALKED.search(led) is None
        if inside or match.group() in _NO_NAMES or placed:
            continue
        found.append(match.group())
    perhaps = _PERHAPS_NAME.match(text)
    if perhaps is not None and perhaps.group() not in _NO_NAMES and not kin:
        found.append(perhaps.group() if perhaps.group() in found else _SOMEBODY)
    return list(dict.fromkeys(found))


def _named(wording: str, name: str) -> str:
    """The name in the place of the pronouns; "her" before a noun is whose it is."""

    def put(match: re.Match[str]) -> str:
        word, after = match["word"].casefold(), wording[match.end() :].split()
        follows = after[0].casefold() if after else ""
        own = word == "his" or (word == "her" and follows.isalpha() and follows not in _NOT_OWNED)
        return f"{name}'s" if own else name

    return _PERSON.sub(put, wording, count=1)


_NOT_OWNED = word_set(
    "a an the to with about for at in on of and or if by from that this my our some any back up out over again what how when where why "
    "who before after until tomorrow today tonight next later now move get find know do go come see it them there one two all"
)


def _is_vague_thing(wording: str, sentence: str) -> bool:
    """ "Mention it": what is meant stands outside the sentence, unless a thing was named in it before."""
    return len(wording.split()) <= 3 and _THING.search(wording) is not None and len(sentence.split()) <= 9


def _quote(earlier: str, sentence: str) -> str:
    """The last sentence of the turn before this one that says something, or the one itself, shortened."""
    told = [each for each in _sentences(earlier) if key_terms(each) and _BARE.fullmatch(each) is None]
    words = (told[-1] if told else sentence).split()
    return " ".join(words[:_WORDS_MAX]).strip(' .,;:!?…“”"()') + ("…" if len(words) > _WORDS_MAX else "")


def _sentences(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text[-1000:])]
