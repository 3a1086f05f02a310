"""Reading loops out of a person's own words, by patterns over plain English sentences.

Five types, as the contract has them: what somebody has to or will do (commitment), what is decided, what keeps going
wrong or weighs on them (friction), what they do again and again (habit), and what is under way or waited for (thread).
Questions, hypotheses, courtesies and what others say leave nothing open (``own.py``). Due dates come from the temporal parser,
read as coming ones (``dues.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from lamina.kernel.records import LoopType
from lamina.kernel.time import from_datetime
from lamina.language.own_words import own_words
from lamina.language.sentences import Sentence, split_sentences
from lamina.language.spoken import as_written
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops import patterns as said_in
from lamina.pipeline.loops.dues import (
    FindMoments,
    cut_end,
    due_of,
    due_within,
    horizon_of,
    placed,
    without_times,
)
from lamina.pipeline.loops.ends import answer_ends, endings_of, is_undone_by
from lamina.pipeline.loops.moves import move_in
from lamina.pipeline.loops.noted import (
    Noted,
    agrees,
    appointment_in,
    is_crossed_out,
    noted_lines,
    offered_in,
    todo_items,
)
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.pronouns import resolved
from lamina.pipeline.loops.reminders import (
    asks_later,
    is_taken_back,
    reminder_in,
    takes_back_reminder,
    wants_reminder,
)
from lamina.pipeline.loops.several import further_deeds, two_deeds
from lamina.pipeline.loops.values import Ending, Heard, LoopDraft, LoopReading, Move

__all__ = ["FindMoments", "draft_of", "due_of", "read_loops", "shortened"]

TEXT_CHARS_MAX: Final = 4000
SENTENCES_MAX: Final = 40
HEARD_CHARS: Final = 1000
"""What is read of a turn that came before: its end, where its question stands."""
_WORDS_MAX: Final = 12

_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|and|but|also|oh|ah|hmm|yeah|yes|yep|no(?=\s*[,.!;:]| (?:i|we)\b)|right|anyway|actually|honestly|please|hey|hi|listen|by the way|"
    r"btw|plus|then|now|first|next|finally|unfortunately|apparently|today|tomorrow|tonight)\b[\s,.:;!-]*)+",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"^(?:if|when|whenever|unless|suppose|imagine|in case|what if|had i)\b", re.IGNORECASE
)
_CLOSERS = re.compile(
    r"(?: (?:too|as well|please|again|anyway|though|soon|at some point|for sure|(?:right )?now)){1,8}$",
    re.IGNORECASE,
)
_URGENT = re.compile(
    r"\b(?:urgent(?:ly)?|asap|as soon as possible|important|deadline|really must|right away|critical)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"[\s,]{0,8}(?:if|unless)\b", re.IGNORECASE)
_ASKING_IF = re.compile(r"\b(?:see|ask|check|know|find out|decide|wonder|wondering)$", re.IGNORECASE)
_TODAYS: Final = re.compile(r"^(?:today|this (?:morning|afternoon|evening))$", re.IGNORECASE)
_GOES_TO = re.compile(
    r"^(?:(?:the|a|my|our) )?(?:[A-Z]|(?:bed|sleep|work|school|town|lunch|dinner|yoga|church|college|uni|class|court|hospital)\b)|^(?:the|a|my|our|see)\b"
)
_REQUEST = re.compile(
    r"^(?:(?:can|could|will|would) you )?(?:please )?(?:remind|nudge|ping|put|add|stick)\b", re.IGNORECASE
)
_QUOTING = re.compile(r"[#>|]")
_GOES_ON: Final = ("stopped", "unwanted", "kept")
"""Ends beside which a sentence may leave something open."""
_BLANKS = re.compile(r"[^\S\n]{2,}")
_EMPTY_LINES = re.compile(r"\n(?: ?\n){2,}")
_ITEM_WORDS_MAX: Final = 15
_ANSWER_CHARS: Final = 80
_OFFER_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence; what it says begins at ``start``, after words such as "so" and "well"."""

    sentence: str
    start: int
    moments: Sequence[TemporalMatch]
    now: datetime

    @property
    def words(self) -> str:
        return self.sentence[self.start :]

    def before(self, match: re.Match[str]) -> str:
        return self.sentence[: self.start + match.start()]

    def after(self, match: re.Match[str]) -> str:
        return self.sentence[self.start + match.start() :]

    def is_conditional(self, match: re.Match[str]) -> bool:
        end = cut_end(self.sentence, self.start + match.start(1))
        return (
            _CONDITION.match(self.sentence, end) is not None
            and _ASKING_IF.search(self.sentence[:end]) is None
        )

    def due(self, match: re.Match[str]) -> datetime | None:
        begins = self.start + match.start()
        return due_within(self.moments, self.sentence, begins, self.start + match.start(1), self.now)

    def deed(self, match: re.Match[str]) -> str:
        """The deed, without the time that it is due and what only goes with it."""
        end = self.start + match.end(1)
        return _cut(without_times(self.sentence[:end], self.start + match.start(1), self.moments))


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
        drafts += _accepted(text, before[-1].text, observed_at, find_moments)
    if before and takes_back_reminder(text):
        endings += _asked_back(before, observed_at, find_moments)
    told, opened = "", len(drafts)
    noted = {
        item.start: item for item in noted_lines(text, lambda when: bool(find_moments(when, observed_at)))
    }
    for sentence in split_sentences(text, count_max=SENTENCES_MAX):
        item = next((item for item in noted.values() if item.start <= sentence.start < item.end), None)
        if item is not None:
            noted.pop(item.start)
            drafts += _item(item, observed_at, find_moments)
            continue
        if _QUOTING.search(text[text.rfind("\n", 0, sentence.start) + 1 : sentence.start]):
            continue
        said = _said(sentence, observed_at, find_moments)
        if not said.words or _HYPOTHETICAL.match(said.words):
            continue
        if len(drafts) > opened and is_taken_back(said.sentence):
            del drafts[opened:]
            continue
        if endings and is_undone_by(said.words):
            endings.pop()
        ended = list(endings_of(said.words, crossed_out=is_crossed_out(said.words)))
        endings += (replace(each, about=_said_before(text[: sentence.start], before)) for each in ended)
        stopped = any(ending.way == "stopped" for ending in ended)
        if any(not ending.completed and ending.way not in _GOES_ON for ending in ended):
            continue
        move = move_in(said.sentence, 0, said.moments, observed_at)
        if move is not None:
            moves.append(move)
        reminder = _reminded(said, told, find_moments)
        if move is not None and reminder is None:
            continue
        if (later := _put_on(said, drafts[opened:])) is not None:
            drafts[opened:] = [later]
            continue
        told, opened = said.sentence, len(drafts)
        for draft in [*_drafts(said)] if reminder is None else [reminder]:
            if stopped and draft.type is LoopType.HABIT:
                continue
            wording = resolved(draft.wording, said.sentence, text[: sentence.start], before)
            drafts.append(replace(draft, wording=wording))
    return LoopReading(tuple(drafts), tuple(endings), moves=tuple(moves))


def _without_gaps(text: str) -> str:
    """One blank for several, and one empty line: what nobody reads costs nothing."""
    return _EMPTY_LINES.sub("\n\n", _BLANKS.sub(" ", text))


def _said(sentence: Sentence, now: datetime, find_moments: FindMoments) -> _Said:
    words = sentence.text.strip()
    lead = _LEAD.match(words)
    return _Said(words, lead.end() if lead else 0, find_moments(words, now), now)


def _drafts(said: _Said) -> Iterator[LoopDraft]:
    items = todo_items(said.words)
    if items:
        for item in items:
            due = due_within(said.moments, said.sentence, 0, said.sentence.find(item), said.now)
            words = without_times(
                said.sentence[: said.sentence.find(item) + len(item)], said.sentence.find(item), said.moments
            )
            if _cut(words):
                yield draft_of(LoopType.COMMITMENT, _cut(words), 0.85, 3, said.sentence, due, said.now)
        return
    found = _draft_asked_later(said) or _draft(said)
    if found is None:
        return
    draft, deed = found
    if draft.type is not LoopType.COMMITMENT:
        yield draft
        return
    for words in two_deeds(draft.wording):
        yield replace(draft, wording=words[:1].upper() + words[1:])
    yield from _further(said, draft, deed)


def _further(said: _Said, first: LoopDraft, deed: int) -> Iterator[LoopDraft]:
    """The other deeds of a list; each has its own day, or the one that the sentence begins with."""
    for start, end in further_deeds(said.sentence, deed, said.moments):
        own = [moment for moment in said.moments if start <= moment.start < end]
        due = due_within(own, said.sentence, start, start, said.now)
        if due is None:
            fronted = [moment for moment in said.moments if moment.start < deed]
            due = due_within(fronted, said.sentence, deed, deed, said.now)
        words = _cut(without_times(said.sentence[:end], start, said.moments))
        if words:
            yield draft_of(first.type, words, first.confidence, 3, said.sentence, due, said.now)


def _draft_asked_later(said: _Said) -> tuple[LoopDraft, int] | None:
    """ "I need to call the bank, can you remind me tomorrow?": the day of the reminder is the day of the deed."""
    asked = asks_later(said.sentence) if wants_reminder(said.sentence) else None
    due = None if asked is None else _day_of(said, asked)
    if asked is None or due is None or not asked.start():
        return None
    before = [moment for moment in said.moments if moment.end <= asked.start()]
    found = _draft(
        replace(said, sentence=said.sentence[: asked.start()].rstrip(" ,.;:!?–—-"), moments=before)
    )
    if found is None or found[0].type is not LoopType.COMMITMENT:
        return None
    return _due_on(found[0], due, said.now), len(said.sentence)


def _put_on(said: _Said, drafts: Sequence[LoopDraft]) -> LoopDraft | None:
    """The one thing that the sentence before left open without a day, on that of "remind me tomorrow"."""
    asked = asks_later(said.words) if wants_reminder(said.words) else None
    if asked is None or asked.start() or len(drafts) != 1:
        return None
    (draft,) = drafts
    due = _day_of(said, asks_later(said.sentence) or asked)
    if due is None or draft.due_at is not None or draft.type is not LoopType.COMMITMENT:
        return None
    return _due_on(draft, due, said.now)


def _day_of(said: _Said, asked: re.Match[str]) -> datetime | None:
    moments = [each for each in placed(said.moments, said.sentence) if each.start >= asked.start("when")]
    return next((day for each in moments if (day := due_of(each, said.now)) is not None), None)


def _due_on(draft: LoopDraft, due: datetime, now: datetime) -> LoopDraft:
    return replace(draft, due_at=from_datetime(due), horizon=horizon_of(due, now))


def _reminded(said: _Said, told: str, find_moments: FindMoments) -> LoopDraft | None:
    """What is to be remembered at a time alone, of this sentence or of the one ``told`` before."""
    if not wants_reminder(said.words):
        return None
    for whole in (said.sentence, f"{told} {said.sentence}")[: 2 if told else 1]:
        reminder = reminder_in(whole, find_moments(whole, said.now), said.now)
        if reminder is not None and (words := _cut(reminder.words)):
            return draft_of(LoopType.COMMITMENT, words, 0.9, 4, said.sentence, reminder.due, said.now)
    return None


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


def _draft(said: _Said) -> tuple[LoopDraft, int] | None:
    """What the sentence leaves open, and where its words begin."""
    asks = said.words.rstrip().endswith("?")
    recurring = any(moment.kind == "set" for moment in said.moments)
    if not asks and (habit := _habit(said, recurring=recurring)) is not None:
        return draft_of(LoopType.HABIT, habit, 0.8, 2, said.sentence, None, said.now), said.start
    for opening in said_in.PATTERNS:
        match = opening.pattern.search(said.words)
        if match is None or (asks and _REQUEST.match(said.words) is None):
            continue
        if not is_own(said.before(match), said.after(match)):
            continue
        words, due = said.deed(match), said.due(match)
        if due is None and not opening.firm and said.is_conditional(match):
            continue
        if opening.form == "{0}" and opening.type is LoopType.COMMITMENT:
            words = _gone_to(words, said.after(match), dated=due is not None)
        if words and not (opening.type is LoopType.THREAD and len(words.split()) < 2):
            wording = opening.form.format(words)
            sure, matters = opening.confidence, opening.salience
            draft = draft_of(opening.type, wording, sure, matters, said.sentence, due, said.now)
            return draft, said.start + match.start(1)
    return None if asks else _promised(said) or _appointment(said)


def _gone_to(words: str, after: str, *, dated: bool) -> str:
    """ "I'm going to Leeds on Friday": a place is no deed, and where one goes now is nothing that stays open."""
    if not re.match(
        r"(?:i|we)(?:'m| am|'re| are) .*?\bgoing to ", after, re.IGNORECASE
    ) or not _GOES_TO.match(words):
        return words
    return f"Go to {words}" if dated else ""


def _promised(said: _Said) -> tuple[LoopDraft, int] | None:
    """ "I'll send the report by Friday", "let's go hiking tomorrow", "I want to run on Saturday"."""
    for pattern in (said_in.WILL, said_in.LETS, said_in.WANT):
        match = pattern.search(said.words)
        if match is None or not is_own(said.before(match), said.after(match)):
            continue
        words, due = said.deed(match), said.due(match)
        first, many = words.split(" ", 1)[0].casefold(), len(words.split()) >= 2
        if pattern is said_in.WILL:
            conditional = due is None and said.is_conditional(match)
            stands = many and not conditional and (first not in said_in.NO_DEEDS or due is not None)
        else:
            stands = due is not None and bool(words) and (first != "plan" or many)
        if stands and first not in said_in.NO_PROMISES:
            draft = draft_of(LoopType.COMMITMENT, words, 0.85, 3, said.sentence, due, said.now)
            return draft, said.start + match.start(1)
    return None


def _appointment(said: _Said) -> tuple[LoopDraft, int] | None:
    """ "Dentist on Thursday at 3pm", "my exam is on Friday"."""
    start = said.start if not said.moments or said.moments[0].start >= said.start else 0
    due = due_within(said.moments, said.sentence, start, start, said.now)
    days = [moment for moment in said.moments if moment.kind not in ("time", "timerange")]
    if due is None or all(_TODAYS.match(moment.text) for moment in days):
        return None
    words = _cut(without_times(said.sentence, start, said.moments).lstrip(" ,:-"))
    what = appointment_in(words)
    if what is None:
        return None
    draft = draft_of(LoopType.COMMITMENT, what, 0.8, 3, said.sentence, due, said.now)
    return draft, len(said.sentence)


def _item(item: Noted, now: datetime, find_moments: FindMoments) -> Iterator[LoopDraft]:
    """An item of a list of things to do; the head of the list may say for when."""
    if item.words.rstrip().endswith("?") or len(item.words.split()) > _ITEM_WORDS_MAX:
        return
    moments = find_moments(item.words, now)
    due = due_within(moments, item.words, 0, 0, now)
    if due is None:
        due = due_within(find_moments(item.when, now), item.when, 0, 0, now)
    words = _cut(without_times(item.words, 0, moments))
    if words:
        wording = f"Buy {words}" if item.buys else words
        yield draft_of(LoopType.COMMITMENT, wording, 0.85, 3, item.words, due, now)


def _accepted(text: str, before: str, now: datetime, find_moments: FindMoments) -> Iterator[LoopDraft]:
    """What somebody offered to remind the person of, when the person says yes; the person's own day counts first."""
    offer = offered_in(before)
    if offer is None or not agrees(text, offer[1]):
        return
    about = offer[0][:_OFFER_CHARS]
    moments = find_moments(about, now)
    own = [due_of(moment, now) for moment in placed(find_moments(text[:_ANSWER_CHARS], now), text)]
    due = next((day for day in own if day is not None), None) or due_within(moments, about, 0, 0, now)
    words = _cut(without_times(about, 0, moments))
    if words:
        yield draft_of(LoopType.COMMITMENT, words, 0.85, 4, "", due, now)


def _habit(said: _Said, *, recurring: bool) -> str | None:
    match = (said_in.HABIT if recurring else said_in.USUALLY).search(said.words)
    if match is None or said_in.PASSED.match(match[1]) or not is_own(said.before(match), said.after(match)):
        return None
    return _cut(match[1]) or None


def draft_of(
    kind: LoopType,
    words: str,
    confidence: float,
    salience: int,
    sentence: str,
    due: datetime | None,
    now: datetime,
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
        confidence,
        min(5, salience),
        horizon_of(due, now),
        None if due is None else from_datetime(due),
    )


def _cut(words: str) -> str:
    words = words.strip()[: cut_end(words.strip())]
    words = _CLOSERS.sub("", " ".join(words.split()).strip(" ,.;:!?-—–\"'"))
    return shortened(words)


def shortened(words: str) -> str:
    """At most the words that a loop has room for."""
    return " ".join(words.split()[:_WORDS_MAX])
