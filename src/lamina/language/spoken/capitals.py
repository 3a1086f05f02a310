"""Names in small letters, where a sentence says that they are names: "hattie is my girlfriend"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.spoken.writing import Edit
from lamina.language.wordsets import word_set

__all__ = ["TOLD", "with_capitals"]

TOLD: Final = word_set("is my")
"""Both are in a text that tells whose name it is, in small letters."""

_NO_NAMES: Final = word_set(
    "this that these those here there who what which she her his hers mine yours ours theirs one everyone everybody someone somebody nobody home work money food today "
    "tomorrow tonight mum mom dad mother father sister brother son daughter wife husband partner cat dog boss friend the such all only name family love music baby"
)
_NAMED = re.compile(
    r"(?:^|[.!?;:,\n]|\b(?:and|but|so|oh|yeah|well)) *(?P<name>[a-z]{3,14}) is my (?:(?:older|younger|little|big|twin|best|new|eldest|youngest) )?"
    r"(?:girlfriend|boyfriend|wife|husband|partner|fiance|fiancee|sister|brother|son|daughter|mum|mom|dad|mother|father|aunt|uncle|cousin|niece|nephew|gran|grandma|"
    r"grandad|grandpa|dog|cat|puppy|kitten|boss|manager|friend|mate|flatmate|roommate|neighbour|neighbor|colleague|landlord|landlady)\b(?! (?:['’]?s|who is)\b)"
)


def with_capitals(text: str) -> Iterator[Edit]:
    """A capital for each."""
    for match in _NAMED.finditer(text):
        start = match.start("name")
        if match["name"] not in _NO_NAMES and not match["name"].endswith(("ing", "ly")):
            yield start, start + 1, text[start].upper()
