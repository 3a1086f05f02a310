"""What may have changed: a turn that holds a sign of change and shares the matter of an older fact of the same speaker marks it.

The sentence is not understood. A mark ends nothing: it is an edge of the why graph from the fact to the turn, with no weight, so that readers
of any time see it, and a replay makes it again. Saying the fact again after the turn, or ending it, clears the mark
(``kernel/changes.py``).

A sentence shares the matter of a fact where it has

- all the words of the fact's object, and a sign of change near one of them, or
- for a predicate of one value, or one where who changes a value says so, a sign near a word of the predicate (its name, or a registered
  synonym), and "I" where the fact is about the speaker, the name of its subject otherwise, or
- a sign that bears on the predicate by itself, with the same subject.

Beside that, a fact of the turn itself shares the matter of an older one where it denies its object in another predicate, or names what that
one described, or the other way round: who works "at a bank" now may work at the one they named. A described home lies in the named place.

Where an embedder reads both, words alone say less and more: a sentence that is far from the turn that told the fact speaks of something
else, though it has its words ("it all worked out"), and one that is near to it, with any sign, is of its matter without them ("My new email
is …"). Only sentences and turns that share a content word are compared. Who goes on about what they like changes nothing by that. Near, it needs no sign
where the fact tells a number of something, and it another number of the same ("I'm down to 82 kilos").

A sign that says that one thing took another's place says so of something: where the turn's own facts and these signs found nothing, it is
of the fact that its sentence comes nearest to. And a loop that a marked fact's turn opened is marked with it where it has that fact's words.

A sign beside a number is about how many there are, and so about no fact without one by its predicate's words alone: "at work we're nine people
now" leaves the employer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lamina.kernel.events import Event, Trust, text_of
from lamina.kernel.predicates import OF_THE_UNNAMED, beside_of
from lamina.kernel.records import Fact, Layer, Loop
from lamina.kernel.ties import Tie
from lamina.language.change_signs import CALLS_OFF, REPLACES, SPEAKERS, WITH_PREDICATE, bears_on, signs_in
from lamina.language.questions import is_asked
from lamina.language.sentences import split_sentences
from lamina.language.temporal.lexicon import ONES, TENS
from lamina.language.tokens import STOP_TERMS, analyse, term_set
from lamina.pipeline.extract.vocabulary import ADJECTIVE_CANON, CANON
from lamina.pipeline.matters import is_shared, words_of
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.plays import unplayed
from lamina.pipeline.reading import extracts, role_of
from lamina.pipeline.versions import tie_at
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["mark_changes"]

_FACTS_MAX: Final = 256
"""So many facts of a subject are looked at, the newest knowledge first."""
_SUBJECTS_MAX: Final = 8
_SENTENCES_MAX: Final = 50
_SPEAKER: Final = frozenset(analyse(SPEAKERS))
_WORDS_NEAR, _ALIKE = 0.45, 0.62
"""How near (cosine) a sentence with a fact's words must come to the turn that told it, and one without them."""
_NEAREST: Final = 0.4
"""How near the turn must be that a sentence comes nearest to of all that its speaker told of themselves."""
_OF_ANY: Final = frozenset({REPLACES, CALLS_OFF})
_TASTES: Final = frozenset({"likes", "dislikes"})
_BESIDE_NAMES: Final = frozenset({OF_THE_UNNAMED["lives_in"]})


_Nearness = Mapping[tuple[str, int], float]
"""By the turn that told a fact and the place of a sentence, how near they come to each other, -1..1."""


@dataclass(frozen=True, slots=True)
class _Near:
    """A sign of change, as predicates that it bears on by itself, and the terms near it."""

    predicates: frozenset[str]
    terms: frozenset[str]

    @property
    def needs_predicate(self) -> bool:
        return WITH_PREDICATE in self.predicates

    @property
    def counts_with_words(self) -> bool:
        """Whether words near it are enough."""
        return self.predicates <= _OF_ANY


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with signs of change, or with a number."""

    text: str
    terms: frozenset[str]
    signs: Sequence[_Near]

    @property
    def numbers(self) -> frozenset[str]:
        """The terms that are numbers."""
        return _numbers_among(self.terms)

    def names(self, words: frozenset[str], fact: Fact) -> bool:
        """Whether it has all the words of a fact's object, and a sign near one of them that may be about the fact."""
        return words <= self.terms and any(
            words & sign.terms
            for sign in self.signs
            if sign.counts_with_words
            or fact.predicate in sign.predicates
            or (sign.needs_predicate and fact.negated)
        )

    def speaks_of(self, words: frozenset[str], fact: Fact) -> bool:
        """Whether words of a fact's predicate are near a sign that is not about some number, unless the fact tells one."""
        counts = _is_counted(analyse(fact.object.text))
        return any(
            words & sign.terms
            for sign in self.signs
            if (sign.counts_with_words or sign.needs_predicate) and (counts or not _is_counted(sign.terms))
        )

    def bears_on(self, predicate: str) -> bool:
        """Whether a sign is about a predicate by itself, or of those for which a mark stands in its place."""
        return any(predicate in sign.predicates for sign in self.signs)


def mark_changes(view: View, writes: Writes, nearness: Nearness | None = None, *, played: int = 0) -> None:
    """Mark the facts that the view's event may have changed; ``writes`` is what it derived besides. Without ``nearness`` words decide. So many
    characters of its text as are ``played``, from the beginning, are not its speaker's."""
    event = unplayed(view.event, played)
    if not (event.directives.wants("facts") and extracts(event)):
        return
    if event.origin.trust is Trust.EXTERNAL or role_of(event) in ("assistant", "tool", "system"):
        return
    sentences = list(_telling(text_of(event.content)))
    own = _own_facts(event, writes)
    if not sentences and not any(
        each.negated or beside_of(each.predicate) or _borne_by(each) for each in own
    ):
        return
    speaker, named = view.entity_of(event.observed_actor), term_set(event.observed_actor.display_name)
    known = {subject: _current(view, subject, writes) for subject in _subjects(speaker, writes)}
    everything = [fact for facts in known.values() for fact in facts]
    near = _near(view, sentences, everything, nearness)
    found = [
        fact
        for subject, facts in known.items()
        for fact in facts
        if _is_alike(fact, sentences, near)
        or _counts_anew(fact, sentences, own, near)
        or _is_called_off(fact, sentences, near)
        or _shares(fact, sentences, own, near, named, is_speakers=subject == speaker)
    ]
    if not (found or writes.closings):
        found = _replaced(view, sentences, known[speaker], nearness)
    found += _opened_with(found, everything)
    for fact in _said_before(view, found):
        writes.supports.append(tie_at(event, fact.id, Tie.MAY_CHANGE, event.context.observed_at))


def _telling(text: str) -> Iterator[_Sentence]:
    for sentence in split_sentences(text, count_max=_SENTENCES_MAX):
        if is_asked(sentence.text):
            continue
        terms, signs = frozenset(analyse(sentence.text)), signs_in(sentence.text)
        if signs or _is_counted(terms):
            near = [_Near(each.predicates, frozenset(analyse(" ".join(each.near)))) for each in signs]
            yield _Sentence(sentence.text, terms, near)


def _near(
    view: View, sentences: Sequence[_Sentence], facts: Sequence[Fact], nearness: Nearness | None
) -> _Nearness:
    """How near sentences come to the turns that told the facts, where they share a content word; nothing where nobody can tell."""
    if nearness is None or not sentences:
        return {}
    told = view.events({fact.event_id for fact in facts})
    words = {i: term_set(text_of(told[i].content)) - STOP_TERMS for i in sorted(told) if not told[i].is_entry}
    counting = {fact.event_id for fact in facts if _is_counted(term_set(fact.object.text))}
    sharing = {
        i: found
        for i, theirs in words.items()
        if (
            found := [
                at
                for at, each in enumerate(sentences)
                if each.terms & theirs and (each.signs or i in counting)
            ]
        )
    }
    compared = sorted({at for found in sharing.values() for at in found})
    near = nearness.of([sentences[at].text for at in compared], [told[i] for i in sharing])
    return {(i, at): near[i][compared.index(at)] for i, found in sharing.items() for at in found}


def _is_alike(fact: Fact, sentences: Sequence[_Sentence], near: _Nearness) -> bool:
    """Whether a sentence with a sign says so much the same as the fact's turn that it is another answer."""
    if fact.predicate in _TASTES or (fact.kind == "plan" and not isinstance(fact, Loop)):
        return False
    return any(
        each.signs and near.get((fact.event_id, at), 0.0) >= _ALIKE for at, each in enumerate(sentences)
    )


def _counts_anew(fact: Fact, sentences: Sequence[_Sentence], own: Sequence[Fact], near: _Nearness) -> bool:
    """Whether a sentence tells another number of what a fact tells one of, says so much the same as its turn, and was not understood."""
    told = term_set(fact.object.text)
    numbers = _numbers_among(told)
    if not numbers or fact.slot is None or is_shared(fact):
        return False
    if any((each.subject.id, each.predicate) == (fact.subject.id, fact.predicate) for each in own):
        return False  # "I weighed 90 kilos"
    counted = told - numbers - STOP_TERMS
    return any(
        each.numbers - numbers
        and (counted <= each.terms if counted else bool(_words_of_predicate(fact.predicate) & each.terms))
        and near.get((fact.event_id, at), 0.0) >= _ALIKE
        for at, each in enumerate(sentences)
    )


def _is_called_off(fact: Fact, sentences: Sequence[_Sentence], near: _Nearness) -> bool:
    """Whether a sentence calls something off, has a word of what lies ahead and is not far from the turn that told it."""
    if not isinstance(fact, Loop) and fact.kind != "plan":
        return False
    words = term_set(fact.object.text) - STOP_TERMS
    return any(
        each.bears_on(CALLS_OFF) and words & each.terms and near.get((fact.event_id, at), 0.0) >= _WORDS_NEAR
        for at, each in enumerate(sentences)
    )


def _replaced(
    view: View, sentences: Sequence[_Sentence], facts: Sequence[Fact], nearness: Nearness | None
) -> list[Fact]:
    """The facts of the turn that sentences of the speaker's, by which one thing took another's place, come nearest to."""
    taking = [each.text for each in sentences if each.bears_on(REPLACES) and each.terms & _SPEAKER]
    states = [
        each for each in facts if each.slot is not None and not each.negated and each.predicate not in _TASTES
    ]
    told = view.events({fact.event_id for fact in states}) if nearness is not None and taking else {}
    said = [each for each in told.values() if not each.is_entry]
    if nearness is None or not said:
        return []
    near = nearness.of(taking, said)
    found: list[Fact] = []
    for at in range(len(taking)):
        nearest = max(near, key=lambda i: (near[i][at], i))
        if near[nearest][at] >= _NEAREST:
            found += [fact for fact in states if fact.event_id == nearest]
    return found


def _opened_with(marked: Sequence[Fact], facts: Sequence[Fact]) -> list[Fact]:
    """The loops that a turn opened with the very words of one of its facts that may have changed."""
    return [
        loop
        for loop in facts
        if isinstance(loop, Loop)
        and any(
            loop.event_id == fact.event_id and term_set(fact.object.text) <= term_set(loop.object.text)
            for fact in marked
        )
    ]


def _own_facts(event: Event, writes: Writes) -> list[Fact]:
    return [each for each in writes.records if isinstance(each, Fact) and each.event_id == event.id]


def _subjects(speaker: str, writes: Writes) -> Sequence[str]:
    return list(dict.fromkeys([speaker, *(each.entity_id for each in writes.mentions)]))[:_SUBJECTS_MAX]


def _current(view: View, subject: str, writes: Writes) -> list[Fact]:
    """The facts of a subject that hold, or lie ahead, after what the event derived."""
    at = view.event.context.observed_at
    stored = view.query(Layer.FACTS, subject=subject, limit=_FACTS_MAX)
    gone = {(each.id, each.version) for each in writes.closings}
    stated = {each.record_id for each in writes.supports if each.relation == Tie.EXTRACTED_FROM}
    return [
        fact
        for fact in stored
        if isinstance(fact, Fact)
        and (fact.id, fact.version) not in gone
        and fact.id not in stated
        and (fact.valid_to is None or fact.valid_to > at)
        # What happened stays so; what is to happen may be called off.
        and (fact.kind != "event" or (fact.valid_from > at and fact.valid_to is not None))
    ]


def _shares(
    fact: Fact,
    sentences: Sequence[_Sentence],
    own: Sequence[Fact],
    near: _Nearness,
    speaker: frozenset[str],
    *,
    is_speakers: bool,
) -> bool:
    if isinstance(fact, Loop):
        return False  # its words are a whole clause
    subject = term_set(fact.subject.name)
    others = subject - speaker  # of their own people speakers say "my dad"
    words = term_set(fact.object.text) - subject - STOP_TERMS
    words = words - _numbers_among(words) or words  # who stopped drinking beer has no two beers a day
    single = fact.slot is not None and not is_shared(fact)
    for at, each in enumerate(sentences):
        is_near = near.get((fact.event_id, at), 1.0) >= _WORDS_NEAR
        if is_near and words and each.names(words, fact):
            return True
        of_subject = bool(each.terms & _SPEAKER) if is_speakers else bool(others) and others <= each.terms
        if not of_subject:
            continue
        if not (single or fact.predicate in _BY_SIGN_ALONE):
            continue
        if each.bears_on(fact.predicate):
            return True
        if is_near and each.speaks_of(_words_of_predicate(fact.predicate), fact):
            return True
    same = [each for each in own if each.subject.id == fact.subject.id]
    denied = {words_of(each.object) for each in same if each.negated}
    beside = any(_may_be_another(each, fact) for each in same if not each.negated)
    return not fact.negated and (beside or words_of(fact.object) in denied)


def _may_be_another(own: Fact, fact: Fact) -> bool:
    """Whether one tells by its name, and the other by a description, what of each there is one, or its own predicate bears on the other's."""
    described = own.predicate not in _BESIDE_NAMES and beside_of(own.predicate) == fact.predicate
    return described or fact.predicate in _borne_by(own)


def _borne_by(own: Fact) -> frozenset[str]:
    """What a fact of the turn bears on; who joined a club has a new employer by no name."""
    named = own.kind != "event" or own.object.id is not None or own.predicate == "got_job"
    return bears_on(own.predicate, own.object.text) if named else frozenset()


def _is_counted(terms: Iterable[str]) -> bool:
    """Whether a number is among terms: how many there are of a thing is another matter than which it is."""
    return bool(_numbers_among(terms))


def _numbers_among(terms: Iterable[str]) -> frozenset[str]:
    return frozenset(term for term in terms if term in _NUMBERS or term.isdecimal())


_NUMBERS: Final = frozenset(analyse(" ".join([*ONES, *TENS])))
_BY_SIGN_ALONE: Final = frozenset({"studies", "works_in", "works_on", "diet", "drives"})
"""Of these several may stand, and who changes one says so of the matter."""


def _synonyms() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for (lemma, _), predicate in [*CANON.items(), *ADJECTIVE_CANON.items()]:
        found[predicate] |= set(analyse(lemma))
    return {predicate: frozenset(words) for predicate, words in found.items()}


_SYNONYMS: Final = _synonyms()


def _words_of_predicate(predicate: str) -> frozenset[str]:
    words = frozenset(analyse(predicate.replace("_", " "))) - STOP_TERMS
    return words | (_SYNONYMS.get(predicate, frozenset()) - STOP_TERMS)


def _said_before(view: View, facts: Sequence[Fact]) -> list[Fact]:
    """Those of some facts that the event's speaker, and nobody later, had said before it."""
    event = view.event
    supports = view.supports_of([fact.id for fact in facts])
    sources = {fact.id: {fact.event_id} for fact in facts}
    for record_id, each in ((s.record_id, s) for found in supports.values() for s in found):
        if each.relation == Tie.EXTRACTED_FROM:
            sources[record_id].add(each.source_id)
    told = view.events({each for ids in sources.values() for each in ids})
    before = []
    for fact in facts:
        events = [told[each] for each in sorted(sources[fact.id]) if each in told]
        by_speaker = any(each.observed_actor.id == event.observed_actor.id for each in events)
        if by_speaker and all(each.context.observed_at < event.context.observed_at for each in events):
            before.append(fact)
    return sorted({fact.id: fact for fact in before}.values(), key=lambda fact: fact.id)
