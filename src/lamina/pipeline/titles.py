"""What an episode is called, and its summary: words of its own turns, chosen by how much of it they tell and how rare they are besides.

A word weighs by the turns that have it, and by how few of the episodes before have it: what every talk has ("thanks", "photo") says nothing
of one. The name is the noun phrases that weigh most, the summary the statements.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.language.sentences import split_sentences
from lamina.language.tokens import STOP_TERMS, analyse

__all__ = ["Rarity", "name_of", "summary_of", "words_of_turns"]

_PHRASES: Final = 2
_SECOND_FROM: Final = 0.65
"""What weighs less than this share of the first phrase is an aside."""
_WORDS: Final = 3
_SENTENCES: Final = 2
_SENTENCES_READ: Final = 8
_SUMMARY_CHARS: Final = 480
_TERMS_MIN: Final = 4
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


def words_of_turns(events: Sequence[Event]) -> frozenset[str]:
    """The content words of turns."""
    return frozenset(term for event in events for term in _terms(_said(event)))


def name_of(events: Sequence[Event], phrases: Mapping[str, Sequence[str]], others: Rarity, began: str) -> str:
    """The one or two ``phrases``, by event, that say most of what the episode is about, and the day it ``began``."""
    weights = _weights(events, others)
    speakers = {term for event in events for term in analyse(event.observed_actor.display_name)}
    spoken: dict[tuple[str, ...], tuple[str, set[str]]] = {}
    for event in events:
        for phrase in phrases.get(event.id, ()):
            terms = _terms(phrase)
            if terms and not speakers & set(terms) and not set(terms) <= _CALENDAR:
                spoken.setdefault(tuple(terms), (phrase, set()))[1].add(event.id)
    scored = sorted(
        ((_worth(terms, weights, len(turns)), phrase, terms) for terms, (phrase, turns) in spoken.items()),
        key=lambda each: (-each[0], each[1]),
    )
    chosen: list[str] = []
    used: set[str] = set()
    for worth, phrase, its in scored:
        if len(chosen) < _PHRASES and worth >= _SECOND_FROM * scored[0][0] and not used & set(its):
            chosen.append(phrase)
            used |= set(its)
    named = " and ".join(chosen) or ", ".join(_weightiest(events, weights))
    return f"{named} ({began})" if named else f"Conversation of {began}"


def summary_of(events: Sequence[Event], others: Rarity) -> str:
    """The statements that hold most of what the episode is about, in their own order, with their speakers."""
    weights = _weights(events, others)
    scored: list[tuple[float, int, str]] = []
    for event in events:
        for sentence in split_sentences(_said(event), count_max=_SENTENCES_READ):
            terms = set(_terms(sentence.text))
            if len(terms) < _TERMS_MIN or sentence.text.rstrip().endswith("?"):
                continue
            weight = sum(weights[term] for term in sorted(terms)) / (len(terms) ** 0.6)
            line = f"{event.observed_actor.display_name}: {sentence.text.strip()}"
            scored.append((weight, len(scored), line))
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[:_SENTENCES]
    text = " ".join(line for _, _, line in sorted(best, key=lambda item: item[1]))
    return text if len(text) <= _SUMMARY_CHARS else f"{text[: _SUMMARY_CHARS - 1].rstrip()}…"


def _said(event: Event) -> str:
    return _NOTE.sub(" ", text_of(event.content))


def _terms(text: str) -> list[str]:
    """In the order of the words: a set's order changes from process to process, and a replay is another one."""
    found = (term for term in analyse(text) if len(term) > 2 and term not in STOP_TERMS)
    return list(dict.fromkeys(found))


def _weights(events: Sequence[Event], others: Rarity) -> dict[str, float]:
    """What each word of the episode says of it: more where more turns have it and fewer of the others do."""
    turns = Counter(term for event in events for term in _terms(_said(event)))
    elsewhere = Counter(term for words in others for term in words)
    return {
        term: math.log1p(count)
        * math.log((len(others) + 2) / (elsewhere[term] + 1))
        * (2 if count > 1 else 1)
        for term, count in turns.items()
    }


def _worth(terms: Sequence[str], weights: Mapping[str, float], turns: int) -> float:
    """Of a phrase: two words say which one is meant, and what several turns say is no aside."""
    longer = 1.15 if len(terms) > 1 else 0.8
    weight = sum(weights.get(term, 0.0) for term in terms) / math.sqrt(len(terms))
    return weight * longer * (1 + 0.3 * math.log(turns))


def _weightiest(events: Sequence[Event], weights: Mapping[str, float]) -> list[str]:
    """The weightiest words as they were first written, where no phrase was read."""
    speakers = {term for event in events for term in analyse(event.observed_actor.display_name)}
    written: dict[str, str] = {}
    for event in events:
        for word in re.findall(r"[^\W\d_][\w'’-]*", _said(event)):
            for term in analyse(word)[:1]:
                written.setdefault(term, word)
    told = [term for term in weights if term in written and term not in speakers | _CALENDAR]
    return [written[term] for term in sorted(told, key=lambda term: -weights[term])[:_WORDS]]
