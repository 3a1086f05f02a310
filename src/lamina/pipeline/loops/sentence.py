"""A sentence of a turn with the times in it, from which drafts of loops are made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lamina.kernel.records import LoopType
from lamina.kernel.time import from_datetime
from lamina.language.sentences import Sentence
from lamina.language.tables import table
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.clauses import to_what_says
from lamina.pipeline.extract.confidence import LOOPS
from lamina.pipeline.extract.values import FindTimes
from lamina.pipeline.loops.dues import cut_end, due_within, horizon_of, without_times
from lamina.pipeline.loops.values import LoopDraft

__all__ = ["SpokenSentence", "cut", "draft_of", "said_of", "shortened"]

_WORDS_MAX: Final = 12
_TAIL_MAX: Final = 4
_JOINTS: Final = frozenset(("and", "or", "but", "that", "which", "&"))
_TABLE: Final = table(__name__)
_LEAD: Final = _TABLE.pattern("lead")
_CLOSERS: Final = _TABLE.pattern("closers")
_URGENT: Final = _TABLE.pattern("urgent")
_CONDITION = re.compile(r"[\s,]{0,8}(?:if|unless)\b", re.IGNORECASE)
_ASKING_IF = re.compile(r"\b(?:see|ask|check|know|find out|decide|wonder|wondering)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """A sentence; what it says begins at ``start``, after words such as "so" and "well"."""

    sentence: str
    start: int
    moments: Sequence[TemporalMatch]
    now: datetime

    @property
    def words(self) -> str:
        """What it says."""
        return self.sentence[self.start :]

    def before(self, match: re.Match[str]) -> str:
        """The sentence up to a match in its words."""
        return self.sentence[: self.start + match.start()]

    def after(self, match: re.Match[str]) -> str:
        """The sentence from a match in its words on."""
        return self.sentence[self.start + match.start() :]

    def is_conditional(self, match: re.Match[str]) -> bool:
        """Whether the deed of a match hangs on an "if"."""
        end = cut_end(self.sentence, self.start + match.start(1))
        asks = _ASKING_IF.search(self.sentence[:end]) is not None
        return not asks and _CONDITION.match(self.sentence, end) is not None

    def due(self, match: re.Match[str]) -> datetime | None:
        """The day of the deed of a match."""
        begins = self.start + match.start()
        return due_within(self.moments, self.sentence, begins, self.start + match.start(1), self.now)

    def deed(self, match: re.Match[str]) -> str:
        """The deed of a match, without the time that it is due and what only goes with it."""
        end = self.start + match.end(1)
        return cut(without_times(self.sentence[:end], self.start + match.start(1), self.moments))


def said_of(sentence: Sentence, now: datetime, find_moments: FindTimes) -> SpokenSentence:
    """A sentence of a turn, with the times in it."""
    words = sentence.text.strip()
    lead = _LEAD.match(words)
    return SpokenSentence(words, lead.end() if lead else 0, find_moments(words, now), now)


def draft_of(
    kind: LoopType, words: str, salience: int, sentence: str, due: datetime | None, now: datetime
) -> LoopDraft:
    """A draft as its words and its day make it; ``sentence`` says how much it presses."""
    if kind is not LoopType.COMMITMENT:
        due = None
    if due is not None:
        salience += due - now <= timedelta(days=2)
    salience += bool(_URGENT.search(sentence))
    return LoopDraft(
        kind,
        words[:1].upper() + words[1:],
        LOOPS[kind.value],
        min(5, salience),
        horizon_of(due, now),
        None if due is None else from_datetime(due),
    )


def cut(words: str) -> str:
    """The words of a deed up to the end of its clause, without what only closes a sentence."""
    words = words.strip()[: cut_end(words.strip())]
    words = _CLOSERS.sub("", " ".join(words.split()).strip(" ,.;:!?-—–\"'"))
    return shortened(words)


def shortened(words: str) -> str:
    """The words that a loop has room for, without a clause that is left unfinished.

    >>> shortened("ask the appraiser about the painter's own mark and see what they can find")
    "ask the appraiser about the painter's own mark"
    """
    said = words.split()
    if len(said) <= _WORDS_MAX:
        return " ".join(said)
    kept = to_what_says(said[:_WORDS_MAX])
    begun = kept[-_TAIL_MAX:] if len(kept) < _WORDS_MAX else []
    joint = next((at for at, word in enumerate(begun) if word.lower() in _JOINTS), len(begun))
    return " ".join(kept[: len(kept) - len(begun) + joint])
