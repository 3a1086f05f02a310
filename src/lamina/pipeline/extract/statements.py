"""What is told beside a question or a request, and behind "remember that": a sentence of its own.

Of "I'm allergic to nuts, is this safe?" the first half is told; of "is pesto okay given that I'm vegan?" and of "can
you remember that I'm vegan?" the last. A question about the claim itself ("right?", "is that true?", "or not?")
leaves nothing told, nor does a condition before it. Patterns over words decide, before the gate and the parser, and
when in doubt all of it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from lamina.language.sentences import Sentence
from lamina.language.tables import table

__all__ = ["Part", "told_apart"]


class Part(NamedTuple):
    """A sentence, or a part of one; `asked` when nothing in it is to be taken for a claim."""

    sentence: Sentence
    asked: bool


_END = " \"'”’)"
_MARKS = ("?", "？")
_TABLE: Final = table(__name__)
_ASKED: Final = _TABLE.pattern("asked")
"""Where a question begins behind something else."""

_OPENING: Final = _TABLE.part("opening")
_NOT_TOLD: Final = _TABLE.pattern("not_told")
_DOUBTED: Final = _TABLE.pattern("doubted")
_TAGGED: Final = _TABLE.pattern("tagged")
_FALSE = re.compile(r",\s{0,2}(?:right|correct|true|innit)[\s?？!\"'”’)]{0,6}$", re.IGNORECASE)

_REASON: Final = _TABLE.pattern("reason")
_LIKENESS: Final = _TABLE.pattern("likeness")
_WISHED = re.compile(rf"{_OPENING}(?:can|could|will|would) you\b", re.IGNORECASE)
_FIRST_REASON: Final = _TABLE.pattern("first_reason")

_ASSERTED: Final = _TABLE.pattern("asserted")
_TOLD_TO: Final = _TABLE.pattern("told_to")


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
