"""Decides cheaply whether a sentence can hold a claim, so that chatter never reaches the parser.

A sentence passes when it is not a question, has at least three words, and has an anchor: somebody or something a
claim could be about (first person, a third person, a name, a number, or a definite noun at its start). Greetings,
thanks and praise have none, or are known by their first words.
"""

from __future__ import annotations

import re

from lamina.pipeline.extract.own_names import names_speaker

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OPENER = re.compile(
    r"(?:(?:oh|wow|yeah|yep|yes|yup|hey|hi|hello|haha+|hehe+|lol|aww*|ah+|hmm+|well|so|and|but|ok|okay|cool|great|nice|"
    r"awesome|amazing|absolutely|definitely|totally|exactly|agreed|sure|right|anyway|btw|by the way|"
    r"actually)\b[\s,.!:…-]*){1,6}",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"(?:thanks?\b|thank you|thx|no problem|no worries|you'?re welcome|(?:that|it|this)(?:'s|’s|\b)|(?:sounds?|"
    r"looks?|seems?) |"
    r"good (?:luck|morning|night|evening|afternoon|job|to|for)|congrats|congratulations|glad |happy (?:to|for)|"
    r"keep |take care|bye|see (?:you|ya)|talk (?:to you )?soon|cheers|welcome|have (?:a|fun)|hope |what (?:a|an) |"
    r"how |can'?t wait|way to go|well done|i(?:'m|’m| am) (?:so |really |very |super )*(?:glad|happy|sorry|sure|"
    r"excited|fine|good|"
    r"great|okay|ok|proud of you|here)\b|i (?:hope|agree|see|know|understand|hear you|bet|appreciate|totally agree|"
    r"wish)\b|"
    r"let me know|please |i(?:'d| would) love to (?:hear|see it|know))",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|im|my|me|mine|we|we['’](?:re|ve|ll|d)|our|us|myself)\b", re.IGNORECASE
)
_ANCHOR = re.compile(
    r"\b(?:he|she|they|his|her|their|remind|let['’]?s|mom|dad|mum|died|passed away)\b|\d", re.IGNORECASE
)
_NAME = re.compile(r"(?<=[\w,;:’'\")] )[A-ZÀ-ÖØ-ÞА-Я][\w’'-]*\w|[A-Z]{2,}")
_DEFINITE_SUBJECT = re.compile(r"(?:the|our|my|this|each|every) \w+", re.IGNORECASE)
_NAMED_SUBJECT = re.compile(
    r"^[A-ZÀ-ÞА-Я][\w.&'’-]* (?:[A-Z][\w.&'’-]* ){0,4}(?:is|was|are|were|has|had|\w+(?:ed|s)|can|\w+n['’]t|cannot|"
    r"quit|left)\b"
)
_NON_LATIN = re.compile(r"[^\x00-\u024f\u2000-\u206f\U0001f000-\U0001ffff]")
_YOU_START = re.compile(r"you(?:['’](?:re|ve|ll|d))?\b", re.IGNORECASE)

_SWAPS = re.compile(
    r"^(?:it|that)(?:['’]s| is| was) [^,.;!?]{2,40}, not \w", re.IGNORECASE
)  # "it's tea, not coffee"

_STANDING = re.compile(
    r"^(?:please )?(?:always|never|don['’]?t ever|from now on)\b|^please\b.*\b(?:always|never|from now on)\b",
    re.IGNORECASE,
)
"""Requests that are to hold from then on."""

WORDS_MIN = 3
_INTRODUCTION_WORDS_MAX = 10


def worth_parsing(sentence: str, *, personal: bool = True) -> bool:
    """Whether `sentence` may hold a claim worth a parse. Written text (`personal=False`) needs no anchor."""
    if sentence.rstrip(" \"'”’)").endswith(("?", "？")):
        return False
    if _NON_LATIN.search(sentence):
        return True
    words = _WORD.findall(sentence[:400])
    if personal and len(words) < _INTRODUCTION_WORDS_MAX and names_speaker(sentence):
        return True
    brief = words and (words[0].casefold() in ("i'm", "i’m") or words[-1].casefold() in ("died", "dead"))
    least = WORDS_MIN - 1 if brief else WORDS_MIN
    if len(words) < least:
        return False
    if not personal:
        return True
    opener = _OPENER.match(sentence)
    body = sentence[opener.end() :] if opener else sentence
    if _SWAPS.match(body) or _STANDING.match(body):
        return True
    if _is_chatter(body):
        return False
    if _FIRST_PERSON.search(body) or _ANCHOR.search(body):
        return True
    return bool(_NAME.search(body) or _NAMED_SUBJECT.match(body) or _DEFINITE_SUBJECT.match(body))


def _is_chatter(body: str) -> bool:
    if len(_WORD.findall(body[:120])) < WORDS_MIN - 1:
        return True
    if _YOU_START.match(body) and not re.search(r"\d|[a-z] [A-Z]", body):
        return True
    chatter = _CHATTER.match(body)
    if chatter is None:
        return False
    # "Thanks, I moved to Lisbon yesterday" is worth it: a second clause with its own first person.
    return re.search(r"[,;-] ?(?:and |but )?(?:I|my|we|our)\b|\d", body[chatter.end() :]) is None
