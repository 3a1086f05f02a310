"""Reading loops out of a person's own words, by patterns over plain English sentences.

Five types, as the contract has them: what somebody has to or will do (commitment), what is decided, what keeps going
wrong or weighs on them (friction), what they do again and again (habit), and what is under way or waited for (thread).
What single sentences leave open is read in ``opening.py``; here is the turn as a whole. Questions, hypotheses,
courtesies and what others say leave nothing open (``own.py``). Due dates come from the temporal parser, read as coming
ones (``dues.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.kernel.local import to_local
from lamina.kernel.records import LoopType
from lamina.language.own_words import own_words
from lamina.language.quarantine import gives_orders, quarantine_of
from lamina.language.running_speech import running_speech
from lamina.language.sentences import first_sentences, split_sentences
from lamina.language.spoken import WrittenText, as_written
from lamina.language.tables import table
from lamina.language.temporal import find_times
from lamina.pipeline.extract.values import FindTimes
from lamina.pipeline.loops.ends import answer_ends, endings_of, is_undone_by
from lamina.pipeline.loops.moves import move_in
from lamina.pipeline.loops.opening import names_no_thing, openings_of
from lamina.pipeline.loops.own import is_taken_back
from lamina.pipeline.loops.reminders import accepted
from lamina.pipeline.loops.sentence import said_of
from lamina.pipeline.loops.values import Heard, LoopDraft, LoopEnding, LoopReading, Move

__all__ = ["HEARD_BEFORE", "read_loops", "read_turn", "words_that_end"]

_TABLE = table(__name__)
TEXT_CHARS_MAX: Final = 4000
SENTENCES_MAX: Final = 40
HEARD_CHARS: Final = 1000
"""What is read of a turn that came before: its end, where its question stands."""

_HYPOTHETICAL = _TABLE.pattern("hypothetical")
_QUOTING = re.compile(r"[#>|]")
_BLANKS = re.compile(r"[^\S\n]{2,}")
_EMPTY_LINES = re.compile(r"\n(?: ?\n){2,}")


def read_loops(
    text: str, observed_at: datetime, find_moments: FindTimes, before: Sequence[Heard] = ()
) -> LoopReading:
    """What a person's turn leaves open, ends and puts off, after the turns ``before`` it, oldest first."""
    written = as_written(first_sentences(text, TEXT_CHARS_MAX))
    written = _without_gaps(written.in_letters(own_words(written.text)))
    text = written.text
    before = [replace(heard, text=heard.text[-HEARD_CHARS:]) for heard in before]
    drafts: list[LoopDraft] = []
    offers: list[LoopDraft] = []
    endings: list[LoopEnding] = []
    moves: list[Move] = []
    if before and not before[-1].own:
        if answer_ends(text, before[-1].text):
            endings.append(LoopEnding("", completed=True, confidence=0.85))
        offers += accepted(text, before[-1].text, observed_at, find_moments)
    # Where in the lists begins what the sentence before said.
    opened, begun = len(drafts), len(endings)
    for sentence in split_sentences(text, count_max=SENTENCES_MAX):
        if _QUOTING.search(text[text.rfind("\n", 0, sentence.start) + 1 : sentence.start]):
            continue
        said = said_of(sentence, observed_at, find_moments)
        if not said.words or _HYPOTHETICAL.match(said.words):
            continue
        if is_taken_back(said.sentence):
            del drafts[opened:], endings[begun:]
            continue
        if is_undone_by(said.words):
            del endings[begun:]
        opened, begun = len(drafts), len(endings)
        move = move_in(said.sentence, 0, said.moments, observed_at, text[: sentence.start])
        if move is not None:  # "The visit was moved to Friday" names a day, and no end.
            moves.append(move)
            continue
        endings += endings_of(said.words)
        if any(not ending.completed and ending.way != "stopped" for ending in endings[begun:]):
            continue
        for draft in openings_of(said):
            stopped = len(endings) > begun and draft.type is LoopType.HABIT
            vague = draft.due_at is None and names_no_thing(draft.wording)
            if not stopped and not vague:
                drafts.append(replace(draft, place=written.span(sentence.start, sentence.end)))
    return LoopReading((*drafts, *offers), tuple(endings), moves=tuple(moves))


def _without_gaps(written: WrittenText) -> WrittenText:
    """One blank for several, and one empty line: what nobody reads costs nothing."""
    plain = written.in_letters(written.text.replace("’", "'"))
    return plain.replaced(_BLANKS, lambda _: " ").replaced(_EMPTY_LINES, lambda _: "\n\n")


HEARD_BEFORE: Final = 2
"""How many turns before one are read with it: what it answers, and whom it speaks of."""


def read_turn(turn: Event, before: Sequence[Event]) -> LoopReading:
    """What a turn says about loops, after those ``before`` it, oldest first. What may be somebody else's words in it
    ends and moves none."""
    speaker = turn.observed_actor.id
    before = [event for event in before if not gives_orders(quarantine_of(event))]
    heard = [Heard(text_of(event.content), event.observed_actor.id == speaker) for event in before]
    text, at = text_of(turn.content), to_local(turn.context.observed_at, turn.offset)
    reading = read_loops(text, at, find_times, heard)
    if not (reading.endings or reading.moves):
        return reading
    said = words_that_end(turn)
    if said == text:
        return reading
    own = read_loops(said, at, find_times, heard)
    return replace(reading, endings=own.endings, moves=own.moves)


def words_that_end(turn: Event) -> str:
    """What of a turn may end or move something: its speaker's running speech."""
    return running_speech(text_of(turn.content), turn.observed_actor.display_name)
