"""Makes triples: subject, confidence, validity and evidence of a claim, whatever kind of clause it came from.

Confidence is the product of: the clause's place (`clauses.WEIGHTS`), 0.6 when hedged, 0.85 when reported by a third
party, 0.85 for a pronoun that had to be resolved or a subject left out, 0.85 for a subject that is a common noun,
0.8 for a predicate outside the vocabulary, 0.7 for what is said about "you", 0.7 for what an assistant says. A bare "is a" counts 0.85 and a bare "has" 0.8 on top, since both are often loose talk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from lamina.language.wordsets import word_set
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, conjuncts
from lamina.pipeline.extract.phrases import VAGUE, Value, noun_value
from lamina.pipeline.extract.references import FIRST, FIRST_PLURAL, SECOND, References, entity
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.times import Times, Validity
from lamina.pipeline.extract.values import (
    EntityRef,
    Kind,
    LiteralValue,
    Span,
    TakenBack,
    TimeMatch,
    Triple,
    still_taken_back,
)

_ALWAYS_DEFINITE = word_set(
    "ocean sea beach mountain outdoors rain snow sun forest countryside gym city aisle window"
)


_LEARNERS = word_set("student pupil undergraduate undergrad postgraduate")


@dataclass
class Emitter:
    """One parsed sentence being read; `offset` is its place in the utterance, `found` and `taken_back` what it has given so far.

    With `goes_on` the sentences before it were about somebody else, who may be the subject that it leaves out.
    `following` is the next sentence, which may take back what others said.
    """

    parse: Parse
    refs: References
    times: Times
    offset: int
    personal: bool
    factor: float = 1.0
    goes_on: bool = False
    following: str = ""
    found: list[Triple] = field(default_factory=list)
    taken_back: list[TakenBack] = field(default_factory=list)

    def _subject(self, clause: Clause) -> EntityRef | None:
        token = clause.subject
        if token is None or clause.telegraphic:
            return self.refs.speaker
        first = [t for t in conjuncts(self.parse, token) if t.lower in FIRST]
        value = self.refs.speaker if first else self._subject_value(token)
        if token.lower in SECOND:
            clause.weight *= 0.7
        elif token.tag == "PRP" and token.lower not in FIRST | FIRST_PLURAL:
            clause.weight *= 0.85
        return value

    def _subject_value(self, token: Token) -> EntityRef | None:
        if self.times.covers(token) or token.lower in VAGUE:
            return None
        value = noun_value(self.parse, token, self.refs, self.times)
        if isinstance(value, EntityRef):
            return value
        if not isinstance(value, LiteralValue) or not token.is_noun or token.lemma in VAGUE:
            return None
        owner = self.refs.owner(self.parse, token)
        if len(str(value.value).split()) > 5 or (owner is not None and owner == self.refs.addressee):
            return None
        if owner is not None:
            return entity(f"{owner.name}'s {self._without_owner(token, str(value.value))}", "thing")
        definite = self.parse.child(token, "det")
        if definite is not None and definite.lower in ("the", "each", "every"):
            return entity(str(value.value), "thing")
        return None

    def _without_owner(self, token: Token, text: str) -> str:
        """ "House" of "my mum's house", which is the mum's."""
        possessor = self.parse.child(token, "poss")
        if possessor is None or possessor.tag == "PRP$":
            return text
        case = self.parse.child(possessor, "case")
        until = (case or possessor).i + 1
        return self.parse.words(self.parse.tokens[until : token.i + 1])

    def _is_deictic(self, target: Token) -> bool:
        determiner = self.parse.child(target, "det")
        possessor = self.parse.child(target, "poss")
        if possessor is not None and possessor.tag == "PRP$" and self.refs.pronoun(possessor) is None:
            return True
        if target.is_name or target.lemma in _ALWAYS_DEFINITE:
            return False
        return (
            determiner is not None
            and determiner.lower in ("that", "this", "these", "those", "the")
            and not self.parse.child(target, "prep", "compound")
        )

    def _is_common(self, subject: EntityRef) -> bool:
        """ "The series" of a chat, which is known to nobody later."""
        return subject.type == "thing" and subject.name[:1].islower()

    def _is_praise(self, target: Token) -> bool:
        """ "I love your drawing": said about the moment, not about the speaker."""
        possessor = self.parse.child(target, "poss")
        return possessor is not None and possessor.lower in SECOND

    def _slots(self, clause: Clause) -> Iterator[tuple[str, Token]]:
        if not clause.passive:
            # "I can't eat gluten": a noun that the tagger takes for a verb has nothing of a verb about it.
            bare = [
                t for t in self.parse.children(clause.verb, "xcomp")
                if clause.lemma in ("eat", "drink") and t.tag == "VB" and not self.parse.children(t)
            ]  # fmt: skip
            listed = self._listed(clause) if clause.lemma == "use" else []
            for target in [*clause.objects("dobj"), *listed, *bare]:
                yield (f"{clause.particle} dobj" if clause.particle else "dobj"), target
                if clause.lemma == "take" and target.lower == "part":
                    for prep in self.parse.children(target, "prep"):
                        for inner in self.parse.children(prep, "pobj"):
                            yield f"part {prep.lower}", inner
        for slot, objects in clause.prepositions():
            for target in objects:
                yield slot, target

    def _listed(self, clause: Clause) -> list[Token]:
        """ "FastAPI and Postgres 14" of "we use Python 3.11, FastAPI and Postgres 14", which the parser takes for another part of speech."""
        parse = self.parse
        return [
            each
            for target in parse.children(clause.verb, "oprd", "dep")
            if target.is_noun and target.i > clause.verb.i and parse.tokens[target.i - 1].text == ","
            for each in conjuncts(parse, target)
        ]

    def _bare_job(self, clause: Clause, subject: EntityRef, noun: Token, job: LiteralValue) -> LiteralValue:
        """The bare occupation; "at Mercy Hospital" and "from Sweden" become claims of their own."""
        text = str(job.value)
        for prep in self.parse.children(noun, "prep"):
            inner = self.parse.child(prep, "pobj")
            predicate = {"at": "works_at", "for": "works_at", "with": "works_at", "from": "from"}.get(
                prep.lower
            )
            if inner is None or predicate is None:
                continue
            if predicate == "works_at" and noun.lemma in _LEARNERS:
                predicate = "studies_at"
            value = noun_value(self.parse, inner, self.refs, self.times)
            text = text.split(f" {prep.text} ")[0]
            if isinstance(value, EntityRef) and value.type != "person":
                self._emit(clause, subject, predicate, value)
        return replace(job, value=text)

    def _validity(self, clause: Clause, inner: Token, kind: Kind) -> Validity:
        matches = self.times.of_clause(self.parse, clause.verb)
        if not matches:
            matches = self.times.within(self.parse, inner)
        return self.times.validity(matches, kind)

    def _emit(
        self,
        clause: Clause,
        subject: EntityRef,
        predicate: str,
        value: Value | None,
        *,
        kind: Kind | None = None,
        scale: float = 1.0,
        state: bool = False,
        qualifiers: tuple[tuple[str, str], ...] = (),
        validity: Validity | None = None,
    ) -> None:
        if value is not None and value == self.refs.addressee and predicate not in words.MUTUAL:
            return
        if (
            value is None
            or value == subject
            or not predicate
            or (isinstance(value, LiteralValue) and value.value == "")
        ):
            return
        if predicate in ("uses", "switched_to") and isinstance(value, EntityRef):
            self.refs.tools.add(value.key)
        past = clause.past and not state
        known = words.describe(predicate, past=past or clause.passive)
        kind = kind or known.kind
        if isinstance(value, EntityRef) and known.object_type is not None and value.actor is None:
            value = replace(value, type=known.object_type)
        if validity is None:
            matches = self.times.of_clause(self.parse, clause.verb)
            put_to = self._put_to(clause, matches)
            validity = Validity() if put_to else self.times.validity(matches, kind)
            qualifiers = (*qualifiers, *put_to)
        valid_from, valid_to = validity.valid_from, validity.valid_to
        if valid_from is not None and valid_to is None and kind in ("event",):
            valid_to = None
        over = (past or clause.ended) and not clause.negated and not clause.perfect
        if over and predicate in words.STATIVE and valid_to is None:
            matches = self.times.of_clause(self.parse, clause.verb)
            valid_to = self.times.validity(matches, "event").valid_to or self._now
        if clause.ended:
            valid_from = None
        if valid_from is not None and valid_to is not None and valid_to <= valid_from:
            valid_to = None
        if validity.due is not None:
            qualifiers = (*qualifiers, ("due", validity.due))
        span = Span(self.offset, self.offset + len(self.parse.text))
        self.found.append(
            Triple(
                subject=subject,
                predicate=predicate,
                object=value,
                kind=kind,
                confidence=self._confidence(clause, subject, predicate) * scale,
                evidence=span,
                valid_from=valid_from,
                valid_to=valid_to,
                negated=clause.negated,
                hedged=clause.hedged,
                single_valued=known.single_valued,
                qualifiers=qualifiers,
            )
        )
        if self.taken_back:
            self.taken_back = still_taken_back(self.taken_back, self.found[-1:])

    def _put_to(self, clause: Clause, matches: list[TimeMatch]) -> tuple[tuple[str, str], ...]:
        """What was booked or put off is so from now on; the day that it is for lies ahead."""
        past = clause.past or clause.passive or clause.verb.tag == "VBN"
        days = [day for match in matches if past and (day := self.times.put_to(match)) is not None]
        return (("for", days[0].isoformat()),) if days else ()

    def _confidence(self, clause: Clause, subject: EntityRef, predicate: str) -> float:
        value = clause.weight * self.factor
        value *= 0.6 if clause.hedged else 1.0
        value *= 0.85 if clause.reported else 1.0
        value *= 0.85 if clause.telegraphic else 1.0
        value *= 0.85 if subject.type == "thing" and subject.name[:1].islower() else 1.0
        known = (
            predicate in words.PREDICATES
            or predicate.startswith("favourite_")
            or predicate.endswith(("_count", "_dose"))
        )
        return value * (1.0 if known else 0.8)

    @property
    def _now(self) -> datetime:
        return self.refs.utterance.observed_at
