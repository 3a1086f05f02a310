"""Reading loops out of a person's own words, by patterns over plain English sentences.

Five types, as the contract has them: what somebody has to or will do (commitment), what is decided, what keeps going
wrong or weighs on them (friction), what they do again and again (habit), and what is under way or waited for (thread).
What single sentences leave open is read in ``opening.py`` and ``reminders.py``; here is the turn as a whole. Questions, hypotheses,
courtesies and what others say leave nothing open (``own.py``). Due dates come from the temporal parser, read as coming ones (``dues.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from lamina.kernel.records import LoopType
from lamina.language.own_words import own_words
from lamina.language.sentences import split_sentences
from lamina.language.spoken import as_written
from lamina.pipeline.loops.dues import FindMoments
from lamina.pipeline.loops.ends import answer_ends, endings_of, is_undone_by
from lamina.pipeline.loops.moves import move_in
from lamina.pipeline.loops.noted import is_crossed_out, noted_lines
from lamina.pipeline.loops.opening import carried_on, noted_draft, openings_of
from lamina.pipeline.loops.pronouns import resolved
from lamina.pipeline.loops.reminders import accepted, is_taken_back, put_on, reminded, takes_back_reminder
from lamina.pipeline.loops.said import said_of
from lamina.pipeline.loops.values import Ending, Heard, LoopDraft, LoopReading, Move

__all__ = ["read_loops"]

TEXT_CHARS_MAX: Final = 4000
SENTENCES_MAX: Final = 40
HEARD_CHARS: Final = 1000
"""What is read of a turn that came before: its end, where its question stands."""

_HYPOTHETICAL = re.compile(
    r"^(?:if|when|whenever|unless|suppose|imagine|in case|what if|had i)\b", re.IGNORECASE
)
_QUOTING = re.compile(r"[#>|]")
_GOES_ON: Final = ("stopped", "unwanted", "kept")
"""Ends beside which a sentence may leave something open."""
_BLANKS = re.compile(r"[^\S\n]{2,}")
_EMPTY_LINES = re.compile(r"\n(?: ?\n){2,}")


def read_loops(
    text: str, observed_at: datetime, find_moments: FindMoments, before: Sequence[Heard] = ()
) -> LoopReading:
    """What a person's turn leaves open, ends and puts off, after the turns ``before`` it, oldest first."""
    text = _without_gaps(as_written(own_words(text[:TEXT_CHARS_MAX])).text.replace("’", "'"))
    before = [replace(heard, text=heard.text[-HEARD_CHARS:]) for heard in before]
    drafts: list[LoopDraft] = []
    endings: list[Ending] = []
    moves: list[Move] = []
    if before and not before[-1].own:
        if answer_ends(text, before[-1].text):
            endings.append(Ending("", completed=True, confidence=0.85))
        drafts += accepted(text, before[-1].text, observed_at, find_moments)
    if before and takes_back_reminder(text):
        endings += _asked_back(before, observed_at, find_moments)
    told = ""
    # Where in the three lists begins what the sentence before said, and what this one says.
    last = begun = (len(drafts), len(endings), len(moves))
    noted = {
        item.start: item for item in noted_lines(text, lambda when: bool(find_moments(when, observed_at)))
    }
    for sentence in split_sentences(text, count_max=SENTENCES_MAX):
        item = next((item for item in noted.values() if item.start <= sentence.start < item.end), None)
        if item is not None:
            noted.pop(item.start)
            drafts += noted_draft(item, observed_at, find_moments)
            continue
        if _QUOTING.search(text[text.rfind("\n", 0, sentence.start) + 1 : sentence.start]):
            continue
        said = said_of(sentence, observed_at, find_moments)
        if not said.words or _HYPOTHETICAL.match(said.words):
            continue
        if (len(drafts), len(endings), len(moves)) > begun and is_taken_back(said.sentence):
            del drafts[begun[0] :], endings[begun[1] :], moves[begun[2] :]
            continue
        if is_undone_by(said.words):
            del endings[begun[1] :]
        last, begun = begun, (len(drafts), len(endings), len(moves))
        move = move_in(said.sentence, 0, said.moments, observed_at, text[: sentence.start])
        # "The visit was moved to Friday" names a day, and no end.
        ended = [] if move else list(endings_of(said.words, crossed_out=is_crossed_out(said.words)))
        endings += (replace(each, about=_said_before(text[: sentence.start], before)) for each in ended)
        stopped = any(ending.way == "stopped" for ending in ended)
        if any(not ending.completed and ending.way not in _GOES_ON for ending in ended):
            continue
        if move is not None:
            moves.append(move)
        reminder = reminded(said, told, find_moments)
        if move is not None and reminder is None:
            continue
        if (later := put_on(said, drafts[last[0] :])) is not None:
            drafts[last[0] :] = [later]
            begun = (last[0], *begun[1:])
            continue
        goes_on = any(draft.type is LoopType.COMMITMENT for draft in drafts[last[0] :])
        told = said.sentence
        found = [*openings_of(said)] if reminder is None else [reminder]
        for draft in found or (carried_on(said) if goes_on else ()):
            if stopped and draft.type is LoopType.HABIT:
                continue
            wording = resolved(draft.wording, said.sentence, text[: sentence.start], before)
            drafts.append(replace(draft, wording=wording))
    return LoopReading(tuple(drafts), tuple(endings), moves=tuple(moves))


def _without_gaps(text: str) -> str:
    """One blank for several, and one empty line: what nobody reads costs nothing."""
    return _EMPTY_LINES.sub("\n\n", _BLANKS.sub(" ", text))


def _said_before(earlier: str, before: Sequence[Heard]) -> str:
    """What a pronoun may speak of: what the turn said before, else the turn before."""
    return earlier.strip() or (before[-1].text if before else "")


def _asked_back(before: Sequence[Heard], now: datetime, find_moments: FindMoments) -> Iterator[Ending]:
    """The end of the one thing that the person's last turn left open, unless something else was asked since."""
    own = next((at for at in reversed(range(len(before))) if before[at].own), None)
    if own is None or any(heard.text.rstrip().endswith("?") for heard in before[own + 1 :]):
        return
    drafts = read_loops(before[own].text, now, find_moments).drafts
    if len(drafts) == 1:
        yield Ending(drafts[0].wording, completed=False, confidence=0.9, way="dropped")
