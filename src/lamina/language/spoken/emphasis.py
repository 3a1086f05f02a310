"""How words are said rather than what they are: capitals and drawn-out letters, hesitations, gaps, lines broken at a width.

"I do NOT eat meat", "I'm nooot vegan" and "I'm, um, no, uh, longer vegan" deny; a parser that stumbles reads what is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from lamina.language.own_words import blanked
from lamina.language.sentences import split_sentences
from lamina.language.spoken.writing import Edit, WrittenText
from lamina.language.tables import table

__all__ = ["without_emphasis"]

_TABLE: Final = table(__name__)
_STRESSED: Final = _TABLE.words("stressed")
"""Words that are written small wherever they stand in capitals: those that tell what is denied, supposed, over or somebody's, none of which is
short for a name."""
_HESITATION: Final = _TABLE.pattern("hesitation", 0)
_LAUGHTER: Final = _TABLE.pattern("laughter")

_WORD: Final = re.compile(r"(?<![\w'])[A-Za-z']{3,24}(?![\w'])")
_REPEATED: Final = re.compile(r"([A-Za-z])\1{2,}")
_CAPITALS: Final = re.compile(r"\b[A-Z]{2,}(?:['’][A-Z]{1,2})?\b")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_SHOUTED_SHARE: Final = 0.8
_SHOUTED_WORDS_MIN: Final = 3
_I: Final = re.compile(r"\bi\b")
_GAP: Final = re.compile(r"(?<=\S)(?:[ \t]{2,}|\t)(?=\S)")
_WRAPPED: Final = re.compile(r"(?<=[^\s.!?:;])\n(?=[^\W\d_A-Z])")
_WIDTHS: Final = range(50, 121)
_LINES_MIN: Final = 3


def without_emphasis(written: WrittenText, words: frozenset[str]) -> WrittenText:
    """What was said, plainly written; ``words`` are those of the text in small letters."""
    if "\n" in written.text:
        written = written.in_letters(_unwrapped(written.text))
    written = written.edited(_drawn_out(written.text))
    written = written.in_letters(_small(written.text))
    told = " ".join(words)  # each word once: most texts have none of these
    if _LAUGHTER.search(told):
        written = written.in_letters(blanked(_LAUGHTER, written.text))
    if _HESITATION.search(told):
        written = written.replaced(_HESITATION, lambda _: "")
    if "  " in written.text or "\t" in written.text:
        written = written.replaced(_GAP, lambda _: " ")
    return written


def _drawn_out(text: str) -> Iterator[Edit]:
    """ "Nooo", "neverrr", "allll": with the letter once or twice where that is a word of those that count."""
    if not _REPEATED.search(text):
        return
    for found in _WORD.finditer(text):
        if _REPEATED.search(found[0]):
            words = (_REPEATED.sub(letters, found[0]) for letters in (r"\1", r"\1\1"))
            yield from ((*found.span(), word) for word in words if _is_stressed(word))


def _small(text: str) -> str:
    """Small letters for what is stressed by capitals, and for sentences that are shouted as a whole."""
    if not _CAPITALS.search(text):
        return text
    small = _CAPITALS.sub(lambda found: _unstressed(found[0]), text)
    for sentence in split_sentences(text):
        if _is_shouted(sentence.text):
            quiet = _I.sub("I", sentence.text.lower())
            quiet = quiet[:1].upper() + quiet[1:]
            if len(quiet) == len(sentence.text):  # small letters of some are two characters
                small = f"{small[: sentence.start]}{quiet}{small[sentence.end :]}"
    return small


def _unstressed(word: str) -> str:
    return word.lower() if _is_stressed(word) else word


def _is_stressed(word: str) -> bool:
    small = word.lower().replace("’", "'")
    return small in _STRESSED or small.endswith("n't")


def _is_shouted(sentence: str) -> bool:
    words = _LETTERS.findall(sentence)
    letters = "".join(words)
    capitals = sum(letter.isupper() for letter in letters)
    return len(words) >= _SHOUTED_WORDS_MIN and capitals > _SHOUTED_SHARE * len(letters)


def _unwrapped(text: str) -> str:
    """Blanks for the line ends of paragraphs that were broken at a width: no line has room for the next one's first word."""
    found = list(text)
    start = 0
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        width = max(map(len, lines))
        full = all(len(line) + 1 + len(behind.split(" ", 1)[0]) > width for line, behind in pairwise(lines))
        if len(lines) >= _LINES_MIN and width in _WIDTHS and full:
            for end in _WRAPPED.finditer(paragraph):
                found[start + end.start()] = " "
        start += len(paragraph) + 2
    return "".join(found)
