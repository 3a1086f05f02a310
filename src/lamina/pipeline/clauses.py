"""The clauses of a sentence by its punctuation, and a long one cut to a few words, as they were said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lamina.language.tokens import STOP_TERMS, analyse

__all__ = ["CLAUSE_WORDS_MIN", "clauses_of", "cut_clause", "tails_of", "to_what_says", "without_head"]

CLAUSE_WORDS_MIN: Final = 3
"""What has fewer words is part of the clause beside it."""
_WORDS_MAX: Final = 8
_TAILS_MAX: Final = 4
_END: Final = re.compile(r"[,;:()\"“”…–—]+\s*|\s-\s|(?<=[.!?])\s+")
_CLOSING: Final = " .!?:*#_"


def clauses_of(text: str) -> list[str]:
    """The clauses in their order.

    >>> clauses_of("Yes, the boat is ours now, and we sail on Sunday")
    ['Yes, the boat is ours now', 'and we sail on Sunday']
    """
    clauses: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if len(text[start : match.start()].split()) >= CLAUSE_WORDS_MIN:
            clauses.append(text[start : match.start()])
            start = match.end()
    rest = text[start:]
    if not clauses or len(rest.split()) >= CLAUSE_WORDS_MIN:
        return [*clauses, rest]
    return [*clauses[:-1], text[text.rindex(clauses[-1]) :]]


def tails_of(clause: str, phrases: Sequence[str]) -> list[str]:
    """Of a long clause the words to the end of each of the ``phrases`` that its beginning has no room for, from a word that says something.

    >>> tails_of("I am still trying to get my old head around the steam engine", ["steam engine"])
    ['… old head around the steam engine']
    """
    words = clause.split()
    if len(words) <= _WORDS_MAX:
        return []
    text, found = " ".join(words), []
    for phrase in phrases:
        end = text.find(phrase) + len(phrase)
        held = text[:end].split()
        if phrase not in text or text[end : end + 1].isalnum() or len(held) <= _WORDS_MAX:
            continue
        tail = to_what_says(held[:-_WORDS_MAX:-1])[::-1]
        behind = " …" if text[end:].strip(_CLOSING) else ""
        found.append(f"… {' '.join(tail).strip(_CLOSING)}{behind}")
    return found[:_TAILS_MAX]


def without_head(clause: str) -> str:
    """The clause without a word or two before its first comma: whom it is said to, or when.

    >>> without_head("Lately, I build a boat"), without_head("Salt, pepper")
    ('I build a boat', 'Salt, pepper')
    """
    head, _, rest = clause.partition(", ")
    is_head = len(head.split()) < CLAUSE_WORDS_MIN <= len(rest.split())
    return rest if is_head else clause


def cut_clause(clause: str, phrases: Sequence[str], times: Sequence[tuple[int, int]] = ()) -> str:
    """The clause without a time that it begins with, of a long one the first words to the end of the last of the ``phrases`` that fits;
    ``times`` are half-open character ranges, and one that does not fit is where it is cut.

    >>> cut_clause("we painted the whole wheelhouse before it rained again", ["whole wheelhouse"])
    'we painted the whole wheelhouse …'
    """
    start, end = 0, len(clause)
    for time_from, time_to in times:
        if not clause[:time_from].strip():
            start = time_to
        elif len(clause[start:time_to].split()) >= _WORDS_MAX and clause[time_to:].strip(_CLOSING):
            end = time_from
            break
    words = clause[start:end].split()
    if len(words) <= _WORDS_MAX and end == len(clause):
        return " ".join(words).strip(_CLOSING)
    kept = " ".join(words[:_WORDS_MAX])
    if len(words) > _WORDS_MAX:
        ends = (kept.rfind(each) + len(each) for each in phrases if each in kept)
        whole = (each for each in ends if not kept[each : each + 1].isalnum())
        at = max((each for each in whole if len(kept[:each].split()) >= CLAUSE_WORDS_MIN), default=0)
        kept = kept[:at] if at else " ".join(words[: _WORDS_MAX - 1])
    return f"{' '.join(to_what_says(kept.split())).strip(_CLOSING)} …"


def to_what_says(words: list[str]) -> list[str]:
    """Without the last words that say nothing by themselves."""
    end = len(words)
    while end > CLAUSE_WORDS_MIN and not set(analyse(words[end - 1])) - STOP_TERMS:
        end -= 1
    return words[:end]
