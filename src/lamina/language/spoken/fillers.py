"""Words that fill a pause: "um", "uh", and "like" and "you know" where they can be nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Final

from lamina.language.spoken.writing import Edit
from lamina.language.wordsets import word_set

__all__ = ["BOTH", "FILLERS", "without_fillers"]

_PAUSES: Final = word_set("um umm ummm ummmm uh uhh uhhh uhm uhmm erm ermm ermmm er")
FILLERS: Final = _PAUSES | {"like", "know"}
"""One of these is in every text that has a filler, in small letters."""

_PAUSE = re.compile(
    r"(?<![\w'’-])(?:(?:um{1,4}|uh{1,4}m{0,3}|erm{1,3}|er(?=,|…|\.\.))(?![\w'’-]| huh\b| oh\b)(?:,|…|\.{2,3})? ?){1,6} *",
    re.IGNORECASE,
)
_NUMBER: Final = (
    r"(?:\d|(?:a (?:couple of|few|hundred|thousand|week|month|year)|half|an hour|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|eighteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b)"
)
_LIKE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "in like Leeds", but "in like manner"
        r"\b(?:in|at|on|for|from|by|with|of|into|until|till|around|after|since|under|over)\b( like)(?= (?!that\b|this\b|it\b|these\b|those\b|him\b|her\b|them\b|mind|manner|fashion|kind\b|circumstances)\w)",
        # "for two years, like", "it's like half an hour", "I run like three times a week"
        rf"\b(?:is|it['’]s|its|that['’]s|was|are|were|been|run|ran|runs|takes?|took|spent|cost|costs|paid|pays?|lasts?|lasted|need|needs|got|had|have|has|drank|ate|did|made|earns?|together|then|maybe|night|week|day|minimum|about)( like)(?= {_NUMBER})",
        # "it was like really cold"
        r"\b(?:is|it['’]s|its|that['’]s|was|are|were|been|i['’]?m)( like)(?= (?:really|so|super|totally|very|the (?:best|worst|first|only|most)|a (?:really|first))\b)",
        # "so like I called them"
        r"\b(?:so|and|but|because|cause|then|yeah|well|ok|okay)( like)(?= (?:i|i['’]?(?:m|ve|ll|d)|we|we['’](?:re|ve|ll)|he|he['’]?s|she|she['’]?s|they|they['’]?re|it['’]?s|there['’]?s|don['’]?t)\b)",
        r"(?<=[\w'’])(, like,)(?= )",
    )
)
_KNOW = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<=[\w'’])(, you know,)(?= )",
        r"(?<=[\w'’])(, you know)(?= *[.!?]| *$)",
        r"(?<![\w'’])(?<!as )(?<!if )(?<!do )(?<!what )(?<!that )(?<!how )(?<!who )(?<!let )(?<!did )(?<!when )(?<!because )(?<!than )(?<!people )(?<!one )(?<!thing )"
        r"(?<=[a-z] )(you know )(?=(?:so|like|really|just|it['’]?s|i|i['’]?m|we|we['’]re|he|she|he['’]?s|she['’]?s|they|because|cause|and|but|maybe|very)\b)",
    )
)
_STAYS = re.compile(
    r"\b(?:would|should|must|might|may|will|can|could|did|do|does|to|don['’]?t|let) *$", re.IGNORECASE
)

BOTH: Final = word_set("we me and")
"""All of these are in a text that tells afterwards who "we" are."""
_AFTERTHOUGHT = re.compile(
    r"\bwe(?:['’](?:re|ve|ll))? [^.!?;\n]{3,120}? (?:[a-z]{3,}(?:day|uary|ch|il|une|uly|ust|ber)|may|tomorrow|today|tonight|weekend|week|month|year|together)"
    r"(,? (?:just )?me and (?:my )?[\w'’-]{2,20})(?= *$| *[.!?\n])",
    re.IGNORECASE,
)
"""Who "we" are, behind a time at the end: "we're flying in May me and Ana"."""


def without_fillers(text: str, words: Set[str]) -> Iterator[Edit]:
    """What is to be left out, in order; ``words`` are those of the text, in small letters."""
    found: list[Edit] = []
    if not words.isdisjoint(_PAUSES):
        for match in _PAUSE.finditer(text):
            start = match.start()
            while start and text[start - 1] in " ,":
                start -= 1
            behind = text[match.end() : match.end() + 1]
            keeps = start > 0 and behind not in ("", "\n", ".", "!", "?", ",")
            found.append((start, match.end(), " " if keeps else ""))
    if "like" in words:
        found += [(*match.span(1), "") for pattern in _LIKE for match in pattern.finditer(text)]
    if "know" in words:
        found += [
            (*match.span(1), "")
            for pattern in _KNOW
            for match in pattern.finditer(text)
            if not _STAYS.search(text[max(0, match.start() - 12) : match.start()])
        ]
    if words >= BOTH:
        found += [(*match.span(1), "") for match in _AFTERTHOUGHT.finditer(text)]
    yield from sorted(found)
