"""What an episode is called, and its summary: words of its own turns, quoted.

A word weighs by the turns that have it, by whether more than one speaker takes it up, and by how few of the episodes before have it: what
every talk has ("thanks", "photo") says nothing of one. A sentence tells more where its speaker speaks of themselves, where something was
claimed in it and where it comes early in its turn, and its turn early in the talk: people begin with their news. The name is the clause that
tells most, the longer the rather, with a thing that the turns go on about: by a thing alone nobody knows which talk is meant. Of the best few
it is the one that comes near in meaning to the turns of the talk, where somebody can tell. The summary is its sentence and those that tell
most beside it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from operator import itemgetter
from typing import Final, NamedTuple

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.kernel.shown import shortened
from lamina.kernel.time import to_datetime
from lamina.language.questions import speaks_of_self
from lamina.language.sentences import split_sentences
from lamina.language.temporal import find_times
from lamina.language.tokens import STOP_TERMS, analyse
from lamina.pipeline.clauses import CLAUSE_WORDS_MIN, clauses_of, cut_clause, tails_of, without_head
from lamina.pipeline.extract.gate import without_opener
from lamina.pipeline.extract.phrases import VAGUE
from lamina.pipeline.nearness import Nearness

__all__ = ["EMPTY_TERMS", "Rarity", "Title", "TurnPhrases", "title_of", "words_of_turns"]

_CLAUSES_READ: Final = 3
_OWN_NAMES, _LATER_NAMES, _TAIL_NAMES, _WORD_NAMES = 1.4, 0.75, 0.6, 1.15
"""How much rather a clause is a name that begins with its speaker, that leans on one before it, that is a tail, and for each word of it."""
_BEGINNING: Final = 2
"""Words in which a clause says that it is its speaker's."""
_EARLY_NAMES: Final = 0.7
"""The first turn names so many times e rather than the last."""
_HELD_NAMES, _HELD_MIN = 0.35, 0.3
"""By which power of what the turns go on about, and how much a clause has that holds nothing of it."""
_RARITY_MIN: Final = 0.15
_COMPARED, _NEAR_NAMES = 4, 4.0
"""So many of the best clauses are compared in meaning; one that means what the talk does is e ** 4 times as much a name as one that has nothing
to do with it."""
_TALK_OF: Final = 4
"""So many turns stand for a talk, and it has no fewer."""
_TALK_FROM, _TALK_TO = 0.15, 0.8
"""Where in a talk those stand: it begins with greetings and news, and ends in good wishes."""
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


class TurnPhrases(NamedTuple):
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


def title_of(
    events: Sequence[Event],
    read: Mapping[str, TurnPhrases],
    others: Rarity,
    began: str,
    nearness: Nearness | None = None,
) -> Title:
    """The name and the summary of an episode that ``began`` on a day; ``read`` has by event what was read in it. Without ``nearness`` words
    choose the name."""
    weights = _weights(events, others)
    sentences = [
        each
        for turn, event in enumerate(events)
        for each in _sentences(event, read.get(event.id, TurnPhrases()), turn)
    ]
    named = _nearest(_names(sentences, weights, _spoken(events, sentences, others)), events, nearness)
    name = f'"{named.text}" ({began})' if named else f"Conversation of {began}"
    return Title(name, _summary(sentences, weights, named))


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a turn, and how much it ``tells`` by its form: 1 for one that is neither its speaker's own matter nor a question."""

    event: Event
    text: str
    terms: Sequence[str]
    tells: float
    early: float
    advises: bool
    phrases: tuple[str, ...]

    @property
    def line(self) -> str:
        return f"{self.event.observed_actor.display_name}: {self.text}"

    def worth(self, weights: Mapping[str, float]) -> float:
        """How much of the episode it tells; little where it is few words."""
        told = sum(weights[term] for term in self.terms if term not in EMPTY_TERMS)
        length: float = max(len(self.terms), _SHORT) ** 0.7
        return self.tells * told / length


def _sentences(event: Event, said: TurnPhrases, turn: int) -> Iterator[_Sentence]:
    early = math.exp(-turn / _OPENING)
    opens = 1 + _OPENING_SAY * early
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
        phrases = tuple(each for each in said.phrases if each in text and _says_what(each))
        yield _Sentence(event, text, terms, tells, early, advises, phrases)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause of a sentence, empty for a tail of one, what it is ``shown`` as, the words of that which say something, and what its
    ``form`` is worth."""

    text: str
    shown: str
    terms: Sequence[str]
    form: float


@dataclass(frozen=True, slots=True)
class _Named:
    """The clause that an episode is called by, and the sentence that has it."""

    sentence: _Sentence
    clause: _Clause

    @property
    def text(self) -> str:
        """As it is shown, without a time that it begins with: the day stands beside it."""
        text, phrases = self.clause.text, self.sentence.phrases
        times = find_times(text, to_datetime(self.sentence.event.context.observed_at))
        shown = cut_clause(text, phrases, [(each.start, each.end) for each in times])
        return shown if _says(shown) else self.clause.shown


def _names(
    sentences: Sequence[_Sentence], weights: Mapping[str, float], spoken: Mapping[str, float]
) -> list[tuple[float, _Named]]:
    """The clauses that tell most, with what each is worth, best first: what its speaker does, said early, with a thing that the turns go on about."""
    found: list[tuple[float, _Named]] = []
    for sentence in sentences:
        for clause in _clauses(sentence.text, sentence.phrases, sentence.advises):
            held = max(
                (spoken.get(each, 0.0) for each in sentence.phrases if each in clause.shown), default=0.0
            )
            worth = sentence.tells * sum(weights.get(term, 0.0) for term in clause.terms)
            worth *= math.exp(_EARLY_NAMES * sentence.early) * (_HELD_MIN + held) ** _HELD_NAMES
            worth *= _WORD_NAMES ** len(clause.shown.split()) * clause.form
            if worth > 0:
                found.append((worth, _Named(sentence, clause)))
    return nlargest(_COMPARED, found, key=itemgetter(0))


def _nearest(
    names: Sequence[tuple[float, _Named]], events: Sequence[Event], nearness: Nearness | None
) -> _Named | None:
    """Of the best clauses the one that means, with its sentence, what the talk does: an aside is near to few turns, and a clause that leans
    on what was said before to none."""
    if nearness is None or len(names) < 2 or len(events) < _TALK_OF:
        return names[0][1] if names else None
    texts = [text for _, named in names for text in (named.text.strip("… "), named.sentence.text)]
    step = (_TALK_TO - _TALK_FROM) / (_TALK_OF - 1)
    turns = [events[int(len(events) * (_TALK_FROM + step * number))] for number in range(_TALK_OF)]
    near = nearness.of(texts, turns).values()
    means = [sum(of_text) / len(of_text) for of_text in zip(*near, strict=True)]
    worths = [
        worth * math.exp(_NEAR_NAMES * (clause + sentence) / 2)
        for (worth, _), clause, sentence in zip(names, means[::2], means[1::2], strict=True)
    ]
    return names[max(range(len(worths)), key=worths.__getitem__)][1]


def _spoken(events: Sequence[Event], sentences: Sequence[_Sentence], others: Rarity) -> dict[str, float]:
    """How much each noun phrase is what the turns go on about: few other episodes have it, and many turns its words."""
    rarity = _rarity(others)
    holding: dict[str, list[int]] = defaultdict(list)
    for turn, event in enumerate(events):
        for term in _terms(_said(event)):
            holding[term].append(turn)
    found: dict[str, float] = {}
    for phrase in dict.fromkeys(each for sentence in sentences for each in sentence.phrases):
        rare = {term: max(rarity(term), _RARITY_MIN) for term in _terms(phrase) if term not in EMPTY_TERMS}
        whole = sum(rare.values())
        shares: dict[int, float] = defaultdict(float)
        for term, each in rare.items():
            for turn in holding[term]:
                shares[turn] += each / whole
        goes_on = math.sqrt(sum(share * share for share in shares.values()))
        found[phrase] = max(rare.values()) ** 0.7 * goes_on
    return found


@lru_cache(maxsize=limits.TERMS_KEPT_MAX)
def _says_what(phrase: str) -> bool:
    """Whether a noun phrase says which thing it is, and not only a time, a link, or "thing"."""
    is_vague = phrase.lower().rpartition(" ")[2] in VAGUE or "://" in phrase
    return not is_vague and not EMPTY_TERMS.issuperset(_terms(phrase))


@lru_cache(maxsize=limits.TERMS_KEPT_MAX)
def _clauses(text: str, phrases: tuple[str, ...], advises: bool) -> tuple[_Clause, ...]:
    """The first clauses of a sentence and their tails, each of which could be a name."""
    found: list[_Clause] = []
    for each in clauses_of(text.replace('"', "'"))[:_CLAUSES_READ]:
        clause = without_head(without_opener(each))
        shown = cut_clause(clause, phrases)
        is_own = not advises and speaks_of_self(" ".join(clause.split()[:_BEGINNING]))
        leans = _LATER_NAMES if any(before.terms for before in found) else 1.0
        found.append(_Clause(clause, shown, _says(shown), leans * (_OWN_NAMES if is_own else 1.0)))
        found += (_Clause("", tail, _says(tail), leans * _TAIL_NAMES) for tail in tails_of(clause, phrases))
    return tuple(each for each in found if each.terms)


def _says(shown: str) -> Sequence[str]:
    """The words of a clause that say something; none where there are too few words for a name."""
    if len(shown.removesuffix(" …").split()) < CLAUSE_WORDS_MIN:
        return ()
    return tuple(term for term in _terms(shown) if term not in EMPTY_TERMS)


def _summary(sentences: Sequence[_Sentence], weights: Mapping[str, float], named: _Named | None) -> str:
    """What the name says, and the sentences that tell most beside it; in their own order, with their speakers."""
    left = {at: each for at, each in enumerate(sentences) if len(each.terms) >= _TERMS_MIN}
    chosen: list[int] = []
    used: set[str] = set()
    count = _SENTENCES_OF_LONG if len({each.event.id for each in sentences}) >= _LONG_FROM else _SENTENCES
    first = 0.0
    while left and len(chosen) < count:
        told = [at for at, each in left.items() if named and each is named.sentence] or left
        worth, at = max((_added(left[at], weights, used), -at) for at in told)
        if worth <= 0 or (len(chosen) >= _SENTENCES and worth < _THIRD_FROM * first):
            break
        first = first or worth
        chosen.append(-at)
        used |= set(left.pop(-at).terms)
    return shortened(" ".join(sentences[at].line for at in sorted(chosen)), _SUMMARY_CHARS)


def _added(sentence: _Sentence, weights: Mapping[str, float], used: Collection[str]) -> float:
    """What a sentence is worth beside those that hold the ``used`` words."""
    whole = sum(weights[term] for term in sentence.terms)
    fresh = sum(weights[term] for term in sentence.terms if term not in used) / whole if whole else 0.0
    return sentence.worth(weights) * math.sqrt(fresh)


def _said(event: Event) -> str:
    return _NOTE.sub(lambda note: " " * len(note[0]), text_of(event.content))


@lru_cache(maxsize=limits.LINES_KEPT_MAX)
def _terms(text: str) -> tuple[str, ...]:
    """In the order of the words: a set's order changes from process to process, and a replay is another one. An episode is named
    anew with each of its turns, of which all but one were read before."""
    found = (term for term in analyse(text) if len(term) > 2 and term not in STOP_TERMS)
    return tuple(dict.fromkeys(found))


EMPTY_TERMS: Final = _CALENDAR | {term for word in VAGUE for term in analyse(word)}
"""Content words that every matter has: they say nothing of one."""


def _weights(events: Sequence[Event], others: Rarity) -> dict[str, float]:
    """What each word of the episode says of it: more where more turns have it, a second speaker takes it up, and fewer of the others do."""
    turns: Counter[str] = Counter()
    speakers: dict[str, set[str]] = defaultdict(set)
    for event in events:
        for term in _terms(_said(event)):
            turns[term] += 1
            speakers[term].add(event.observed_actor.id)
    rarity = _rarity(others)
    return {
        term: math.log1p(count)
        * rarity(term)
        * (1.6 if len(speakers[term]) > 1 else 1.0)
        * (1.3 if count > 1 else 1.0)
        for term, count in turns.items()
    }


def _rarity(others: Rarity) -> Callable[[str], float]:
    """By a word, how few of the other episodes have it."""
    elsewhere = Counter(term for words in others for term in words)
    return lambda term: math.log((len(others) + 2) / (elsewhere[term] + 1))
