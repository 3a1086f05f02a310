"""What is told beside a question or a request, and behind "remember that": a sentence of its own.

Of "I'm allergic to nuts, is this safe?" the first half is told; of "is pesto okay given that I'm vegan?" and of "can
you remember that I'm vegan?" the last. A question about the claim itself ("right?", "is that true?", "or not?")
leaves nothing told, nor does a condition before it. Patterns over words decide, before the gate and the parser, and
when in doubt all of it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lamina.language.sentences import Sentence

__all__ = ["Part", "told_apart"]


class Part(NamedTuple):
    """A sentence, or a part of one; `asked` when nothing in it is to be taken for a claim."""

    sentence: Sentence
    asked: bool


_END = " \"'”’)"
_MARKS = ("?", "？")
_AUX = (
    r"(?:(?:can|could|will|would|shall|should|is|are|was|were|do|does|did|have|has|had)(?:n['’]?t)?|am|ain['’]?t|"
    r"can['’]?t|won['’]?t|"
    r"may|might|must)"
)
_PRONOUN = r"(?:i|you|he|she|it|we|they|this|that|there)"
_INVERTED = (
    r"(?:(?:can|could|will|would|shall|should|is|are|was|were|do|does|did)(?:n['’]?t)?|am|can['’]?t|won['’]?t)\b"
    rf"|(?:may|might|must|have|has|had|haven['’]?t|hasn['’]?t) (?:{_PRONOUN}|my|your|our|his|her|their|the|an?|"
    rf"any\w*|some\w*)\b"
)
_ASKING = rf"(?:{_INVERTED}|(?:what|why|how|any)\b|(?:where|when|who) {_AUX}\b|wh(?:ich|ose|at) \w+ {_AUX}\b)"
_ALSO = r"(?:(?:so|and|but|then|now|also|please|ok|okay|well|therefore|hence|anyway)\b,? ){0,3}"
_ASKED = re.compile(
    rf"(?:[,;:–—]\s{{0,3}}|\s--?\s|\s(?=(?:so|and|but)\s)){_ALSO}(?={_ASKING}|(?<=so )wh\w+\b|(?<=and )wh\w+\b)",
    re.IGNORECASE,
)
"""Where a question begins behind something else."""

_OPENING = (
    r"\s{0,9}(?:(?:oh|hey|hi|hello|hiya|well|so|and|but|also|ok|okay|yes|yeah|no|now|then|btw|by the way|actually|"
    r"just|please|pls|kindly|"
    r"good (?:morning|evening|afternoon))\b[\s,.!:–-]{1,4}){0,5}(?:(?-i:[A-ZÀ-Þ][\w'’-]{1,20}),\s)?"
)
_NOT_TOLD = re.compile(
    rf"{_OPENING}(?:{_AUX}|wh\w+|how|any|if|unless|after|before|until|till|once|in case|suppos\w+|imagine|pretend|"
    rf"assum\w+|provid\w+|say|let['’]?s|"
    r"though|although|even|not|because)\b",
    re.IGNORECASE,
)
_DOUBTED = re.compile(
    r"\bor (?:not|am|is|are|was|were|do|does|did|have|has)(?:n['’]?t)?\b"
    r"|\b(?:is|isn['’]?t|was) (?:this|that|it) (?:all |really |even )?(?:right|correct|true|so|wrong|false|possible|"
    r"what)\b"
    r"|\bam i (?:right|wrong|correct|mistaken)\b|\b(?:do|did|don['’]?t|would|can) you (?:really )?(?:know|think|"
    r"believe|remember|recall|agree|say|tell|see)\s*[?？]"
    r"|\bwhat do you think\b|\bdid(?:n['’]?t)? i (?:say|tell|mention)\b|\b(?:sound|seem)s? right\b",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    rf"(?:[,;–—-]\s{{0,2}}(?:right|correct|true|yes|no|yeah|ok|okay|huh|eh|innit|really|maybe|surely|remember|"
    rf"(?:you|i) (?:know|think|guess|say|remember))"
    rf"|\b{_AUX} (?:not )?{_PRONOUN}(?: not)?)[\s?？!\"'”’)]{{0,6}}$",
    re.IGNORECASE,
)
_FALSE = re.compile(r",\s{0,2}(?:right|correct|true|innit)[\s?？!\"'”’)]{0,6}$", re.IGNORECASE)

_FIRST = r"(?:i(?:['’]?(?:m|ve|ll|d))?|we(?:['’](?:re|ve|ll|d))?|my|our)"
_NAMED = r"(?-i:[A-ZÀ-Þ][\w'’-]*)"
_SOMEBODY = rf"(?:{_FIRST}|he|she|they|his|her|their|the|it['’]s|mum|mom|dad|{_NAMED})"
_STATE = (
    r"(?:i|we)(?:['’]?(?:m|re|ve)| (?:am|are|have|live|work|can['’]?t|cannot|can not|do not|don['’]?t|hate|love|"
    r"need|take)\b)"
    r"|(?:my|our) [\w'’-]{1,20} (?:[\w'’-]{1,20} )?(?:is|are|has|have|lives?|works?|can['’]?t|cannot|hates?|loves?|"
    r"takes?)\b"
)
_REASON = re.compile(
    rf"\b(?P<mark>as|since|given(?: that)?|seeing (?:that|as)|considering(?: that)?|now that|because) (?={_STATE})",
    re.IGNORECASE,
)
_LIKENESS = re.compile(
    r"(?:\b(?:same|such|just|long|soon|far|much|well|so|not|even|exactly|like)|\bas\s+\S{1,20})\s+$",
    re.IGNORECASE,
)
_WISHED = re.compile(rf"{_OPENING}(?:can|could|will|would) you\b", re.IGNORECASE)
_FIRST_REASON = re.compile(
    rf"{_OPENING}(?:given(?: that)?|considering(?: that)?|seeing (?:that|as)) (?={_STATE})", re.IGNORECASE
)

_KEEP = (
    r"(?:remember|note|know|(?:keep|bear) in mind|be aware|take note|make a note|make sure (?:to|you) remember|"
    r"write down|jot down)"
)
_REQUESTED = (
    rf"(?:(?:always |never )?{_KEEP}|(?:do not|don['’]?t|never) (?:ever )?forget"
    r"|(?:just )?(?:to |a quick note to )?let(?:ting)? you know|(?:just )?so you(?: know|['’]re aware)"
    rf"|you(?:['’]d better| (?:should|must|need to|have to|ought to))(?: also| please)? {_KEEP}"
    rf"|i(?: just)?(?:['’]d like| would like| want(?:ed)?| need) (?:you to (?:please )?{_KEEP}|to let you know|to "
    rf"tell you|to remind you|to mention)"
    r"|let me (?:tell you|remind you|mention)|did you know"
    rf"|(?:can|could|will|would) you (?:please |kindly |also |just ){{0,2}}{_KEEP})"
)
_ASSERTED = re.compile(
    rf"{_OPENING}(?:{_REQUESTED}|(?P<known>do you (?:know|remember)))(?: please)?(?:(?P<that>[,:]? that)|[,:])?\s"
    rf"(?={_SOMEBODY}[\s'’]|(?P<word>[a-z]+ (?:is|has|lives|works|likes|hates|loves|can['’]?t|cannot|takes)\b))",
    re.IGNORECASE,
)
_TOLD_TO = re.compile(
    r"\b(?:remember|note|mind|aware|forget|know|mention|tell|remind|write|jot|given|considering|seeing)\b",
    re.IGNORECASE,
)


def told_apart(sentences: Sequence[Sentence]) -> Iterator[Part]:
    """The sentences in order, with what is told in one by itself."""
    for sentence in sentences:
        text = sentence.text
        if text.rstrip(_END).endswith(_MARKS):
            yield from _of_question(sentence)
        elif _TOLD_TO.search(text[:80]) is not None:
            begins = _request(text) or _FIRST_REASON.match(text)
            yield Part(_cut(sentence, begins.end() if begins else 0, len(text)), asked=False)
        else:
            yield Part(sentence, asked=False)


def _of_question(sentence: Sentence) -> Iterator[Part]:
    text = sentence.text
    begins, until = _told(text)
    if begins >= until:
        yield Part(sentence, asked=True)
        return
    for start, end, asked in ((0, begins, True), (begins, until, False), (until, len(text), True)):
        part = _cut(sentence, start, end)
        if any(c.isalpha() for c in part.text):
            yield Part(part, asked)


def _told(text: str) -> tuple[int, int]:
    """Which characters of a question tell; an empty range for none."""
    if _DOUBTED.search(text) is not None:
        return 0, 0
    end = len(text.rstrip(_END + "?？!"))
    request = _request(text)
    if request is not None and _FALSE.search(text) is None:
        asked = _ASKED.search(text, request.end())
        return request.end(), asked.start() if asked else end
    if _TAGGED.search(text) is not None:
        return 0, 0
    reason = next(_reasons(text), None)
    asked = _ASKED.search(text)
    if asked is not None and _NOT_TOLD.match(text[: asked.start()]) is None:
        leading = reason is not None and not text[: reason.start()].strip()
        return reason.end() if reason is not None and leading else 0, asked.start()
    if reason is None:
        return 0, 0
    again = _ASKED.search(text, reason.end())
    return reason.end(), again.start() if again else end


def _request(text: str) -> re.Match[str] | None:
    """The request that opens a text, where what it is about follows as a clause."""
    found = _ASSERTED.match(text)
    if found is None or ((found["known"] or found["word"]) and not found["that"]):
        return None
    return found


def _reasons(text: str) -> Iterator[re.Match[str]]:
    for found in _REASON.finditer(text):
        mark, before = found["mark"].lower(), text[max(0, found.start() - 40) : found.start()]
        if mark == "because" and _WISHED.match(text) is None:
            continue
        if mark == "as" and _LIKENESS.search(before) is not None:
            continue
        yield found


def _cut(sentence: Sentence, start: int, end: int) -> Sentence:
    text = sentence.text
    while start < end and text[start] in " ,;:–—-\t":
        start += 1
    while end > start and text[end - 1] in " ,;:–—-\t":
        end -= 1
    return Sentence(sentence.start + start, sentence.start + end, text[start:end])
