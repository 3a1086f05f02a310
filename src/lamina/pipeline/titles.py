"""What an episode is called, and its summary: words of its own turns, quoted.

A word weighs by the turns that have it, by whether more than one speaker takes it up, and by how few of the episodes before have it: what
every talk has ("thanks", "photo") says nothing of one. A sentence tells more where its speaker speaks of themselves, where something was
claimed in it and where it comes early in its turn, and its turn early in the talk: people begin with their news. The summary is the sentences
that tell most, the name the clause of one of them that holds the thing most spoken of: by a thing alone nobody knows which talk is meant.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.kernel.time import to_datetime
from lamina.language.questions import speaks_of_self
from lamina.language.sentences import split_sentences
from lamina.language.temporal import find_times
from lamina.language.tokens import STOP_TERMS, analyse
from lamina.pipeline.clauses import CLAUSE_WORDS_MIN, clauses_of, cut_clause
from lamina.pipeline.extract.phrases import VAGUE

__all__ = ["Rarity", "Said", "Title", "title_of", "words_of_turns"]

_PHRASES: Final = 2
_SECOND_FROM: Final = 0.7
"""What weighs less than this share of the first phrase is an aside."""
_TAKEN_UP: Final = 2
"""A second phrase has two words, and so many turns have them: any other is an aside."""
_CUT_SAY: Final = 0.7
_LATER_SAY: Final = 0.55
"""What is left of a clause that is cut, and of one that does not begin its sentence: it leans on what was before."""
_TALK_FADES, _ADVICE_FADES = 0.1, 0.3
"""How much less a sentence tells than the one before it: what an assistant lists is detail."""
_OPENING: Final = 4.0
_OPENING_SAY: Final = 0.6
"""The first turns tell so much more, and a turn so many later e times less of that."""
_SENTENCES: Final = 2
_SENTENCES_OF_LONG: Final = 3
_LONG_FROM: Final = 10
"""Turns of an episode that may have more than one matter."""
_THIRD_FROM: Final = 0.6
_SENTENCES_READ: Final = 8
_SUMMARY_CHARS: Final = 480
_TERMS_MIN: Final = 3
_SHORT: Final = 5
_NOTE: Final = re.compile(r"\[[^\[\]]{0,2000}\]")
"""Notes about what was sent: "[shared image: a photo of a dog]". Nobody said them."""
_CALENDAR: Final = frozenset(
    analyse(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
        "september october november december today tomorrow yesterday morning afternoon evening night week month year "
        "day time thing good great thanks yes sure really"
    )
)

Rarity = Sequence[Collection[str]]
"""The words of the episodes before, each with its own."""


class Said(NamedTuple):
    """What was read in a turn: the noun ``phrases`` of it, and the half-open character ranges of its text in which something is claimed."""

    phrases: Sequence[str] = ()
    claims: Sequence[tuple[int, int]] = ()


class Title(NamedTuple):
    """What an episode is called, and its summary."""

    name: str
    summary: str


def words_of_turns(events: Sequence[Event]) -> frozenset[str]:
    """The content words of turns."""
    return frozenset(term for event in events for term in _terms(_said(event)))


def title_of(events: Sequence[Event], read: Mapping[str, Said], others: Rarity, began: str) -> Title:
    """The name and the summary of an episode that ``began`` on a day; ``read`` has by event what was read in it."""
    weights = _weights(events, others)
    sentences = [
        each
        for turn, event in enumerate(events)
        for each in _sentences(event, read.get(event.id, Said()), turn)
    ]
    phrases = _phrases(events, read, sentences, weights)
    about = {term for phrase in phrases for term in phrase.terms}
    named = _name(sentences, weights, about)
    return Title(
        f"{named} ({began})" if named else f"Conversation of {began}", _summary(sentences, weights, about)
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a turn, and how much it ``tells`` by its form: 1 for one that is neither its speaker's own matter nor a question."""

    event: Event
    text: str
    terms: Sequence[str]
    tells: float

    @property
    def line(self) -> str:
        return f"{self.event.observed_actor.display_name}: {self.text}"

    def worth(self, weights: Mapping[str, float]) -> float:
        """How much of the episode it tells; little where it is few words."""
        told = sum(weights[term] for term in self.terms if term not in _EMPTY)
        length: float = max(len(self.terms), _SHORT) ** 0.7
        return self.tells * told / length


@dataclass(slots=True)
class _Phrase:
    """A thing that is spoken of: how many turns have all its words, and the sentence that tells most of those with it."""

    text: str
    terms: Sequence[str]
    turns: int
    within: _Sentence | None = None

    def worth(self, weights: Mapping[str, float]) -> float:
        """Two words say which one is meant, and what several turns speak of is no aside."""
        longer = 1.15 if len(self.terms) > 1 else 0.7
        weight = sum(weights.get(term, 0.0) for term in self.terms) / math.sqrt(len(self.terms))
        tells = 0.7 if self.within is None else self.within.tells
        return weight * longer * (1 + 0.3 * math.log(self.turns)) * tells

    @property
    def is_time(self) -> bool:
        """Whether it only says when: "last week"."""
        if self.within is None:
            return False
        start = self.within.text.find(self.text)
        told_at = to_datetime(self.within.event.context.observed_at)
        return any(
            when.start < start + len(self.text) and start < when.end
            for when in find_times(self.within.text, told_at)
        )


def _sentences(event: Event, said: Said, turn: int) -> Iterator[_Sentence]:
    opens = 1 + _OPENING_SAY * math.exp(-turn / _OPENING)
    advises = event.content.get("role") == "assistant"
    for number, each in enumerate(split_sentences(_said(event), count_max=_SENTENCES_READ)):
        text = " ".join(each.text.split())
        terms = _terms(text)
        if not terms:
            continue
        tells = opens / (1 + (_ADVICE_FADES if advises else _TALK_FADES) * number)
        if text.endswith("?"):
            tells *= 0.5
        elif speaks_of_self(text) and not advises:
            tells *= 1.6
        if any(start < each.end and each.start < end for start, end in said.claims):
            tells *= 1.35
        yield _Sentence(event, text, terms, tells)


def _phrases(
    events: Sequence[Event],
    read: Mapping[str, Said],
    sentences: Sequence[_Sentence],
    weights: Mapping[str, float],
) -> list[_Phrase]:
    """The one or two phrases that say most of what the episode is about."""
    spoken = _spoken(events, read, sentences)
    scored = sorted(
        ((each.worth(weights), each) for each in spoken), key=lambda scored: (-scored[0], scored[1].text)
    )
    chosen: list[_Phrase] = []
    used: set[str] = set()
    least = 0.0
    for worth, phrase in scored:
        if len(chosen) == _PHRASES or worth < least:
            break
        taken_up = phrase.turns >= _TAKEN_UP and len(phrase.terms) > 1
        if not (taken_up or not chosen) or used & set(phrase.terms) or phrase.is_time:
            continue
        least = least or _SECOND_FROM * worth
        best = phrase
        if len(phrase.terms) == 1:
            longer = (each for _, each in scored if len(each.terms) > 1 and each.terms[-1] == phrase.terms[0])
            best = next(longer, phrase)
        chosen.append(best)
        used |= set(best.terms)
    return chosen


def _name(sentences: Sequence[_Sentence], weights: Mapping[str, float], about: Collection[str]) -> str:
    """The clause that tells most: a whole one before a cut one, and one that begins its sentence before others."""
    best, named = 0.0, ""
    wanted = set(about)
    for each in sentences:
        most = 2 * each.tells * sum(weights.get(term, 0.0) for term in each.terms) / _SHORT**0.7
        if most <= best:
            continue
        for place, clause in enumerate(clauses_of(each.text.replace('"', "'"))):
            shown = cut_clause(clause, lambda word: not wanted.isdisjoint(_terms(word)))
            told = [term for term in _terms(shown) if term not in _EMPTY]
            if len(clause.split()) < CLAUSE_WORDS_MIN or not told:
                continue
            length = max(len(_terms(clause)), _SHORT) ** 0.7
            worth = each.tells * sum(weights.get(term, 0.0) for term in told) / length
            worth *= 1 + 0.5 * min(len(wanted & set(told)), 2)
            worth *= (_CUT_SAY if "…" in shown else 1.0) * (_LATER_SAY if place else 1.0)
            if worth > best:
                best, named = worth, f'"{shown}"'
    return named


def _spoken(
    events: Sequence[Event], read: Mapping[str, Said], sentences: Sequence[_Sentence]
) -> list[_Phrase]:
    speakers = {term for event in events for term in analyse(event.observed_actor.display_name)}
    of_event: dict[str, list[_Sentence]] = defaultdict(list)
    for each in sentences:
        of_event[each.event.id].append(each)
    held = [set(_terms(_said(event))) for event in events]
    spoken: dict[tuple[str, ...], _Phrase] = {}
    for event in events:
        for text in read.get(event.id, Said()).phrases:
            terms = _terms(text)
            if not terms or speakers & set(terms) or set(terms) <= _EMPTY or "://" in text:
                continue
            if text.lower().rpartition(" ")[2] in VAGUE:
                continue
            key = tuple(terms)
            if key not in spoken:
                turns = sum(words.issuperset(terms) for words in held)
                spoken[key] = _Phrase(text, terms, max(turns, 1))
            phrase = spoken[key]
            for each in of_event[event.id]:
                if text in each.text and (phrase.within is None or each.tells > phrase.within.tells):
                    phrase.within, phrase.text = each, text
    return list(spoken.values())


def _summary(sentences: Sequence[_Sentence], weights: Mapping[str, float], about: Collection[str]) -> str:
    """The sentences that tell most, of what the name says first, each beside those before it; in their own order, with their speakers."""
    left = {at: each for at, each in enumerate(sentences) if len(each.terms) >= _TERMS_MIN}
    chosen: list[int] = []
    used: set[str] = set()
    count = _SENTENCES_OF_LONG if len({each.event.id for each in sentences}) >= _LONG_FROM else _SENTENCES
    first = 0.0
    while left and len(chosen) < count:
        worth, at = max((_added(each, weights, about, used), -at) for at, each in left.items())
        if worth <= 0 or (len(chosen) >= _SENTENCES and worth < _THIRD_FROM * first):
            break
        first = first or worth
        chosen.append(-at)
        used |= set(left.pop(-at).terms)
    text = " ".join(sentences[at].line for at in sorted(chosen))
    return text if len(text) <= _SUMMARY_CHARS else f"{text[: _SUMMARY_CHARS - 1].rstrip()}…"


def _added(
    sentence: _Sentence, weights: Mapping[str, float], about: Collection[str], used: Collection[str]
) -> float:
    """What a sentence is worth beside those that hold the ``used`` words."""
    whole = sum(weights[term] for term in sentence.terms)
    fresh = sum(weights[term] for term in sentence.terms if term not in used) / whole if whole else 0.0
    named = min(len(set(about) & set(sentence.terms)), 2)
    return sentence.worth(weights) * (1 + 0.5 * named) * math.sqrt(fresh)


def _said(event: Event) -> str:
    return _NOTE.sub(lambda note: " " * len(note[0]), text_of(event.content))


@lru_cache(maxsize=limits.LINES_KEPT_MAX)
def _terms(text: str) -> tuple[str, ...]:
    """In the order of the words: a set's order changes from process to process, and a replay is another one. An episode is named
    anew with each of its turns, of which all but one were read before."""
    found = (term for term in analyse(text) if len(term) > 2 and term not in STOP_TERMS)
    return tuple(dict.fromkeys(found))


_EMPTY: Final = _CALENDAR | {term for word in VAGUE for term in analyse(word)}


def _weights(events: Sequence[Event], others: Rarity) -> dict[str, float]:
    """What each word of the episode says of it: more where more turns have it, a second speaker takes it up, and fewer of the others do."""
    turns: Counter[str] = Counter()
    speakers: dict[str, set[str]] = defaultdict(set)
    for event in events:
        for term in _terms(_said(event)):
            turns[term] += 1
            speakers[term].add(event.observed_actor.id)
    elsewhere = Counter(term for words in others for term in words)
    return {
        term: math.log1p(count)
        * math.log((len(others) + 2) / (elsewhere[term] + 1))
        * (1.6 if len(speakers[term]) > 1 else 1.0)
        * (1.3 if count > 1 else 1.0)
        for term, count in turns.items()
    }
