"""Whether a summary that a language model wrote may stand: only if the summary before it and the turn bear it out.

A model's words are text from outside, and a summary is what they would replace. So one that forgets what was told, tells of
what was not, or is no summary at all, is not taken. Words are compared, not meanings: an honest paraphrase has enough of
them in common, whatever its grammar.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Final

from lamina.language.sentences import split_sentences
from lamina.language.temporal import find_times
from lamina.language.tokens import analyse, content_terms
from lamina.session.folding import SUMMARY_CHARS_MAX, TurnWords, fold_turn

__all__ = ["fault_of", "keeps"]

_BORNE_OUT_FROM: Final = 0.35
_KEPT_FROM: Final = 0.35
_MARKS_KEPT_FROM: Final = 0.5
_MARKS_LOST_FREE: Final = 2
_MARKS_NEW_MAX: Final = 0.25
_MARK_WEIGHT: Final = 3
_ANY_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)  # times are found in a text, whatever they come to
_CAPITALS_MAX: Final = 0.4
_REFUSAL = re.compile(
    r"\W*(?:i['’]?m|i am|we['’]?re)\s+(?:very |so |really )?(?:sorry|afraid|unable|not able)\b"
    r"|\W*(?:sorry|apologies|unfortunately|i apologi[sz]e)\b[^.]{0,60}\b(?:can|could|unable|not)"
    r"|\W*i\s+(?:can['’]?t|cannot|can not|won['’]?t|will not|am unable)\b"
    r"|\W*as an?\s+(?:ai|language model|assistant)\b",
    re.IGNORECASE,
)
_DATA = re.compile(r"\s*(?:```|[\[{]\s*[\"\[{\]}]|<[!a-zA-Z/])")
_SPEAKER = re.compile(r"^(?:User|Assistant): ", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*")
_APOSTROPHE = re.compile(r"['’]")
_POSSESSIVE = re.compile(r"['’]s?$")
_OURS = frozenset(
    ["i", "user", "assistant", "the", "they", "he", "she", "it", "we", "you", "mr", "mrs", "ms", "dr"]
)
_TELLING = frozenset(
    analyse(
        "user assistant person speaker conversation say says said mention mentioned discuss discussed talk talked tell told "
        "ask asked share shared state stated note noted express expressed explain explained add added confirm confirmed "
        "plan planned planning want wants need needs intend decide decided like likes feel feels currently also "
        "suggest suggested recommend recommended offer offered remind reminded summary so far one "
        "hi hello hey greet greeted thank thanks ok okay yes bye goodbye reply replied respond responded agree agreed"
    )
)


def fault_of(worded: str, summary: str, turn: TurnWords, *, cut_off: bool = False) -> str | None:
    """What keeps ``worded`` from taking the place of ``summary`` once ``turn`` is told; None when nothing does.

    The words are ours: they quote neither.
    """
    if not worded.strip():
        return "it is blank"
    if cut_off or len(worded) > SUMMARY_CHARS_MAX:
        return "it is cut off or too long"
    if _DATA.match(worded):
        return "it is data and no summary"
    if _REFUSAL.match(worded):
        return "it is a refusal"
    said, before, both = _Told(worded), _Told(summary), _Told(f"{summary}\n{turn.text}")
    if not said.terms or said.share_in(both) < _BORNE_OUT_FROM:
        return "its words are not those of the conversation"
    if len(said.marks - both.every) > max(1, _MARKS_NEW_MAX * len(said.marks)):
        return "it has names or numbers that nobody said"
    if not _keeps(said, before):
        return "it forgets what was told before"
    if not _carries(said, before, fold_turn("", turn)):
        return "it leaves out a name, a number or a date of the turn"
    return None


def keeps(worded: str, summary: str) -> bool:
    """Whether ``worded`` still tells most of what a summary does: its names and numbers above all."""
    return _keeps(_Told(worded), _Told(summary))


class _Told:
    """What a text tells: its content terms, its names and numbers, and every word of it."""

    def __init__(self, text: str) -> None:
        plain = _SPEAKER.sub("", text)
        self.terms = frozenset(content_terms(analyse(plain))) - _TELLING
        self.every = frozenset(_folded(word) for word in _WORD.findall(plain)) | frozenset(analyse(plain))
        self.marks = _marks(plain)

    def share_in(self, other: _Told) -> float:
        return len(self.terms & other.terms) / len(self.terms)


def _keeps(said: _Told, before: _Told) -> bool:
    lost = before.marks - said.every
    if len(lost) > max(_MARKS_LOST_FREE, len(before.marks) * (1 - _MARKS_KEPT_FROM)):
        return False
    plain = before.terms - {term for mark in before.marks for term in analyse(mark)}
    whole = len(plain) + _MARK_WEIGHT * len(before.marks)
    kept = len(plain & said.terms) + _MARK_WEIGHT * (len(before.marks) - len(lost))
    return kept >= _KEPT_FROM * whole


def _carries(said: _Told, before: _Told, by_rules: str) -> bool:
    """Whether a summary has the names, numbers and dates that rules would tell of the turn."""
    told = _Told(by_rules)
    needed = {mark for mark in told.marks - before.every if _APOSTROPHE.split(mark)[0] not in _OURS}
    if not needed <= said.every:
        return False
    days = [_Told(match.text) for match in find_times(by_rules, _ANY_DAY)]
    return all(not day.every or day.every & said.every for day in days)


def _marks(text: str) -> frozenset[str]:
    """The names and numbers of a text, as far as capitals tell; the first word of a sentence has one in any case."""
    sentences = [s.text for line in text.split("\n") for s in split_sentences(line, count_max=60)]
    words = [word for sentence in sentences for word in _WORD.findall(sentence)[1:]]
    capital = {_folded(word) for word in words if word[0].isupper()} - _OURS
    if len(capital) > _CAPITALS_MAX * len({_folded(word) for word in words}):
        capital = set()  # as in German, where every noun has one
    numbers = {_folded(word) for word in _WORD.findall(text) if any(map(str.isdigit, word))}
    return frozenset((capital | numbers) - {""})


def _folded(word: str) -> str:
    return _POSSESSIVE.sub("", unicodedata.normalize("NFKC", word).casefold())
