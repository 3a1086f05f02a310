"""From a language model's answer about a turn to a reading of it. Nothing in an answer is believed that the turn does not bear out.

An answer is text from outside: it may be anything. It is read item by item, and an item is left out

- whose quote does not stand in the speaker's own words of the turn, word for word;
- whose value or wording says what the quoted words do not;
- that says yes where the quoted words deny, or no where they do not, or where rules read in them otherwise;
- that takes for a fact what the quoted words ask, suppose, or plan.

When something is due is for our own reader of dates to say, from the quoted words. What an answer may end is what the turn's own running
speech may end (decision 0024), and only where it speaks of that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import to_local
from lamina.kernel.records import LoopType
from lamina.language.denials import denies
from lamina.language.english import is_english
from lamina.language.entities import normalise_name, possessive
from lamina.language.own_words import own_words
from lamina.language.running_speech import labelled_sentence, running_speech
from lamina.language.sentences import split_sentences
from lamina.language.temporal import find_times
from lamina.language.tokens import analyse
from lamina.pipeline.extract.amounts import number_of_words
from lamina.pipeline.extract.values import EntityRef, Extraction, Kind, Span, Triple
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.loops.dues import due_of
from lamina.pipeline.loops.keeping import raises_loops
from lamina.pipeline.loops.matching import key_terms
from lamina.pipeline.loops.reading import words_that_end
from lamina.pipeline.loops.sentence import draft_of, shortened
from lamina.pipeline.loops.values import LoopDraft, LoopReading, Pointer
from lamina.pipeline.readings.claims import (
    is_about_value,
    predicate_of,
    restated_as,
    value_of,
    verb_of,
    without_phrase,
)
from lamina.pipeline.readings.quoting import EDGES, clean, fold, is_quoted, was_said
from lamina.pipeline.readings.reading import Reading
from lamina.pipeline.readings.shape import (
    AnsweredFact,
    AnsweredIdentity,
    AnsweredLoop,
    AnsweredPointer,
    items,
    object_in,
)

__all__ = ["READER", "ReadBeside", "is_usable", "loops_by_answer", "reading_by_answer"]

READER: Final = "lamina-model/1"
"""Part of the ids of what is made of answers, and shown with it. A change to how they are read takes the next number."""

_CONFIDENCE: Final = 0.8
_LOOP_CONFIDENCE: Final = 0.7
_ENDED_FROM: Final = 0.85
_WORDED_FROM: Final = 0.6
_PAIRS_FROM: Final = 0.5
_CJK_FROM: Final = "\u3000"
_USER: Final = "user"
_OWNED: Final = re.compile(r"(?:the )?user(?:['’]s)(?=\s)", re.IGNORECASE)
_CLAUSE_ENDS: Final = re.compile(r"[,;:.!?()—–\n]+|\s-\s|\s(?:but|and)\s", re.IGNORECASE)
_SLOTS: Final[Mapping[str, str]] = {
    "name": "name_is",
    "home": "lives_in",
    "from": "from",
    "age": "age",
    "birthday": "birthday",
    "occupation": "works_as",
    "employer": "works_at",
    "pronouns": "pronouns",
    "relationship": "relationship_status",
}


@dataclass(frozen=True, slots=True)
class ReadBeside:
    """What a turn is read with: the turns ``before`` it in its scope, in which whoever it speaks of may have been named, what ``rules`` read
    in it, and where in it these see only suppositions (``supposed``: from and to, in its text). ``asked`` is the turn that it answers."""

    before: Sequence[Event]
    asked: Event | None
    rules: Extraction
    supposed: Sequence[tuple[int, int]] = ()


def is_usable(text: str) -> bool:
    """Whether an answer is one at all: a whole object of the shape asked for, however little of it may stand."""
    return object_in(text) is not None


def reading_by_answer(
    text: str, turn: Event, heard: ReadBeside, *, reader: str, model: str
) -> Reading | None:
    """What of an answer the turn bears out. None where the answer is none, or where it says something and nothing of that is borne out:
    whoever gave it read another turn, or made it up. Never raises for what it holds."""
    answer = object_in(text)
    if answer is None:
        return None
    gate = _Gate(turn, heard)
    said = gate.said_of(answer)
    left = gate.left_open_by(answer["loops"]) if raises_loops(turn) else LoopReading()
    if not (said or left.drafts or left.pointers) and _claims_something(answer):
        return None
    # Who is speaking is for rules to say: "Tom here" on Lena's account gives the turn to him.
    introduced = tuple(each for each in heard.rules.triples if each.introduces)
    extraction = replace(heard.rules, triples=(*introduced, *said), taken_back=())
    return Reading(reader, extraction, left, gate.ending, model)


def loops_by_answer(loops: Mapping[str, Any], turn: Event, heard: ReadBeside) -> LoopReading:
    """What of the loops of an answer the turn bears out. Never raises for what they hold."""
    return _Gate(turn, heard).left_open_by(loops)


def _claims_something(answer: Mapping[str, Any]) -> bool:
    return bool(answer["facts"] or answer["identity"] or any(answer["loops"].values()))


class _Gate:
    """What of an answer stands in one turn."""

    def __init__(self, turn: Event, heard: ReadBeside) -> None:
        self._turn = turn
        self._text = text_of(turn.content)[: limits.LOOP_TURN_CHARS_MAX]
        self._heard = heard
        self._said_at = to_local(turn.context.observed_at, turn.offset)
        speaker = turn.observed_actor
        self._speaker = EntityRef(
            speaker.display_name, normalise_name(speaker.display_name), "person", actor=speaker.id
        )
        self._own = fold(own_words(self._text))
        self._running = fold(running_speech(self._text, speaker.display_name))
        self.ending = words_that_end(turn) if raises_loops(turn) else ""
        earlier = " ".join(text_of(event.content) for event in heard.before)
        self._known = key_terms(f"{self._text} {earlier}")
        self._asked = _asked_about(heard.asked)

    def said_of(self, answer: Mapping[str, Any]) -> tuple[Triple, ...]:
        """The claims that stand."""
        triples: dict[tuple[str, str, str, bool], Triple] = {}
        identity = [_as_fact(item) for item in items(answer, "identity", AnsweredIdentity)]
        for item in [*identity, *items(answer, "facts", AnsweredFact)]:
            triple = self._triple(item)
            if triple is not None:
                value = triple.object
                words = value.name if isinstance(value, EntityRef) else str(value.value)
                key = (triple.subject.key, triple.predicate, words.casefold(), triple.negated)
                triples.setdefault(key, triple)
        return tuple(triples.values())

    def left_open_by(self, loops: Mapping[str, Any]) -> LoopReading:
        """What it leaves open, says again and ends."""
        drafts = [self._draft(item) for item in items(loops, "new", AnsweredLoop)]
        pointers = [
            Pointer(i.about, "said_again", _LOOP_CONFIDENCE, words=i.quote, due=self._due(i.quote))
            for i in items(loops, "reinforced", AnsweredPointer)
            if is_quoted(i.quote, self._own)
        ]
        pointers += self._ends(items(loops, "completed", AnsweredPointer), "completed")
        pointers += self._ends(items(loops, "dropped", AnsweredPointer), "dropped")
        kept = [draft for draft in drafts if draft is not None]
        return LoopReading(tuple(kept[: limits.LOOPS_NEW_PER_TURN_MAX]), pointers=tuple(pointers))

    def _ends(
        self, pointing: Sequence[AnsweredPointer], says: Literal["completed", "dropped"]
    ) -> Iterator[Pointer]:
        """Those that the turn's own running speech bears out. "RFC-88: rollback section done." ends what has the words of its label."""
        ending, labelled = fold(self.ending), labelled_sentence(self._text)
        for item in pointing:
            if self._is_asked(item.quote):
                continue
            if is_quoted(item.quote, ending):
                terms = key_terms(item.quote) | self._asked
            elif labelled and is_quoted(item.quote, fold(labelled)):
                terms = key_terms(labelled.partition(":")[0])
            else:
                continue
            yield Pointer(item.about, says, _ENDED_FROM, terms, words=item.quote)

    def _triple(self, item: AnsweredFact) -> Triple | None:
        subject, predicate = self._subject(item.subject), predicate_of(item.predicate)
        value = without_phrase(predicate, clean(item.object).strip(EDGES)[: limits.READING_OBJECT_CHARS_MAX])
        if (
            subject is None
            or not predicate
            or item.modality not in ("asserted", "planned")
            or not is_quoted(item.quote, self._own)
            or not self._bears(item.quote, value)
            or self._is_asked(item.quote)
            or self._is_supposed(item.quote)
            or not self._agrees(item, subject, predicate, value)
        ):
            return None
        return self._made(item, subject, predicate, value)

    def _made(self, item: AnsweredFact, subject: EntityRef, predicate: str, value: str) -> Triple:
        known = PREDICATES.get(predicate)
        verb = verb_of(predicate) if known is None else None
        negated = item.polarity == "negative"
        planned = item.modality == "planned"
        start = max(0, self._text.find(item.quote))
        window = self._window(item.quote) if planned else (None, None)
        kind: Kind = "attribute" if verb is None or not verb.past else "event"
        if planned or known is not None:
            kind = "plan" if planned or known is None else known.kind
        of_one = known.single_valued if known is not None else _begins_with_number(value)
        return Triple(
            subject=subject,
            predicate=predicate if verb is None else verb.predicate,
            object=value_of(value, None if known is None else known.object_type),
            kind=kind,
            confidence=_CONFIDENCE,
            evidence=Span(start, start + len(item.quote)),
            valid_from=window[0],
            valid_to=window[1],
            negated=negated,
            single_valued=of_one and not planned,
            handed_over=not is_quoted(item.quote, self._running),
            restated="" if known or verb else restated_as(subject, predicate, value, negated=negated),
        )

    def _subject(self, name: str) -> EntityRef | None:
        """Whom a claim is about: the speaker, what is theirs, or who is named in the turns that were shown."""
        if clean(name).casefold() in (_USER, "the user", self._speaker.key):
            return self._speaker
        owned = _OWNED.match(name)
        words = clean(name if owned is None else name[owned.end() :]).strip(EDGES)[
            : limits.READING_OBJECT_CHARS_MAX
        ]
        is_role = owned is not None and " " not in words  # "user's team", of whom only "we" was said
        if not words or not (is_role or all(was_said(term, self._known) for term in key_terms(words))):
            return None
        own = f"{possessive(self._speaker.name)} {words}" if owned is not None else words
        return EntityRef(own, normalise_name(own), "thing")

    def _bears(self, quote: str, value: str) -> bool:
        """Whether the quoted words say the value: each of its key terms, and each of its numbers."""
        there, wanted = key_terms(quote), key_terms(value)
        if not value or not (wanted or fold(value) in fold(quote)):
            return False
        pairs = frozenset(term for term in wanted if term >= _CJK_FROM)
        if len(pairs & there) < _PAIRS_FROM * len(pairs):
            return False
        figures = set(re.findall(r"\d+", value)) <= set(re.findall(r"\d+", quote))
        return figures and all(was_said(term, there) for term in wanted - pairs)

    def _agrees(self, item: AnsweredFact, subject: EntityRef, predicate: str, value: str) -> bool:
        """Whether yes and no are those of the quoted words: as rules read them, else by the clause that has the value."""
        negated = item.polarity == "negative"
        terms = key_terms(value)
        at = self._text.casefold().find(item.quote.casefold())
        for triple in self._heard.rules.triples:
            inside = at >= 0 and at <= triple.evidence.start < at + len(item.quote)
            if not inside or not is_about_value(triple, terms):
                continue
            if triple.negated != negated and triple.subject.key == subject.key:
                return False
            other = PREDICATES.get(predicate)
            if (
                other is not None
                and triple.predicate != predicate
                and triple.kind == other.kind == "preference"
            ):
                return False
        if not is_english(item.quote):
            return True
        best = max(
            self._clauses(item.quote), key=lambda part: len(key_terms(part) & terms), default=item.quote
        )
        return denies(analyse(best)) == negated or (denies(analyse(value)) and not negated)

    def _clauses(self, quote: str) -> list[str]:
        """The clauses of the turn in which quoted words stand, each whole: a quote may leave out the word that denies."""
        words, text = fold(quote).strip(EDGES), clean(self._text)
        at = fold(text).find(words)
        if at < 0 or len(fold(text)) != len(text):
            return [part for part in _CLAUSE_ENDS.split(quote) if part.strip()]
        ends = [0, *(end for each in _CLAUSE_ENDS.finditer(text) for end in each.span()), len(text)]
        parts = [(ends[i], ends[i + 1]) for i in range(0, len(ends) - 1, 2)]
        return [text[start:end] for start, end in parts if start < at + len(words) and at < end]

    def _is_asked(self, quote: str) -> bool:
        """Whether the quoted words stand in a question alone."""
        words = fold(quote).strip(EDGES)
        there = [each.text for each in split_sentences(self._text) if words in fold(each.text)]
        return bool(there) and all(text.rstrip().endswith("?") for text in there)

    def _is_supposed(self, quote: str) -> bool:
        """Whether rules see nothing in the quoted words but what is supposed."""
        at = self._text.casefold().find(quote.casefold())
        return at >= 0 and any(
            start < at + len(quote) and at < end and not self._real_beside(at, at + len(quote))
            for start, end in self._heard.supposed
        )

    def _real_beside(self, start: int, end: int) -> bool:
        """Whether rules read a claim in the same words all the same."""
        return any(start <= each.evidence.start < end for each in self._heard.rules.triples)

    def _window(self, quote: str) -> tuple[datetime | None, datetime | None]:
        for moment in find_times(clean(quote), self._said_at):
            if moment.earliest is not None and moment.earliest > self._said_at:
                return moment.earliest, moment.latest
        return None, None

    def _due(self, words: str) -> datetime | None:
        coming = (due_of(moment, self._said_at) for moment in find_times(clean(words), self._said_at))
        return min((moment for moment in coming if moment is not None), default=None)

    def _draft(self, item: AnsweredLoop) -> LoopDraft | None:
        """A loop in the words of the answer where the conversation has most of these, else in the quoted words themselves."""
        if not is_quoted(item.quote, self._own) or self._is_asked(item.quote):
            return None
        wording = shortened(clean(item.text))[: limits.LOOP_CHARS_MAX].strip(EDGES)
        if not self._is_worded(key_terms(wording)):
            wording = shortened(clean(item.quote))[: limits.LOOP_CHARS_MAX].strip(EDGES)
        if not key_terms(wording):
            return None
        due = None
        if item.when is not None and is_quoted(item.when, self._own, characters=1):
            due = self._due(item.when)
        due = due or self._due(item.quote)
        salience = 2 if item.type == "habit" else 3
        draft = draft_of(LoopType(item.type), wording, salience, clean(item.quote), due, self._said_at)
        quote = clean(item.quote)[: limits.READING_QUOTE_CHARS_MAX]
        start = self._text.casefold().find(item.quote.casefold())
        place = None if start < 0 else (start, start + len(item.quote))
        return replace(draft, confidence=_LOOP_CONFIDENCE, quote=quote, place=place)

    def _is_worded(self, terms: Collection[str]) -> bool:
        said = [term for term in terms if was_said(term, self._known)]
        return bool(terms) and len(said) >= _WORDED_FROM * len(terms)


def _begins_with_number(value: str) -> bool:
    """Whether a value says how many or how much: of that there is one at a time, also in words."""
    first = value.partition(" ")[0]
    return first[:1].isdigit() or number_of_words(first) is not None


def _as_fact(item: AnsweredIdentity) -> AnsweredFact:
    return AnsweredFact(
        subject=_USER,
        predicate=_SLOTS[item.slot],
        object=item.value,
        polarity="positive",
        modality="asserted",
        quote=item.quote,
    )


def _asked_about(before: Event | None) -> frozenset[str]:
    """The key terms of what the turn before asked."""
    if before is None:
        return frozenset()
    asked = [each.text for each in split_sentences(text_of(before.content), count_max=60) if "?" in each.text]
    return key_terms(" ".join(asked))
