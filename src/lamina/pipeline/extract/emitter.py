"""Makes triples: subject, confidence, validity and evidence of a claim, whatever kind of clause it came from.

Confidence is that of its family (`confidence.py`), times 0.6 when it is hedged, 0.7 for what is said about "you", and 0.7
for what an assistant says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from lamina.language.tables import table
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, conjuncts, is_choice
from lamina.pipeline.extract.confidence import FACTS, family_of
from lamina.pipeline.extract.phrases import VAGUE, Value, noun_value
from lamina.pipeline.extract.references import FIRST, SECOND, References, entity
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.times import Times, Validity
from lamina.pipeline.extract.values import EntityRef, Kind, LiteralValue, Span, Triple

_TABLE = table(__name__)
_HEDGED = 0.6
_OF_YOU = 0.7
_ALWAYS_DEFINITE = _TABLE.words("always_definite")
_LEARNERS = _TABLE.words("learners")


@dataclass
class Emitter:
    """One parsed sentence being read; `offset` is its place in the utterance, `found` what it has given so far.

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

    def _subject(self, clause: Clause) -> EntityRef | None:
        token = clause.subject
        if token is None or clause.telegraphic:
            return self.refs.speaker
        if is_choice(self.parse, token):
            return None
        first = [t for t in conjuncts(self.parse, token) if t.lower in FIRST]
        value = self.refs.speaker if first else self._subject_value(token)
        if token.lower in SECOND:
            clause.doubt = _OF_YOU
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
            for target in clause.objects("dobj"):
                yield (f"{clause.particle} dobj" if clause.particle else "dobj"), target
        for slot, objects in clause.prepositions():
            for target in objects:
                yield slot, target

    def _bare_job(self, clause: Clause, subject: EntityRef, noun: Token, job: LiteralValue) -> LiteralValue:
        """The bare occupation; "at Mercy Hospital" and "from Sweden" become claims of their own."""
        text = str(job.value)
        for prep in self.parse.children(noun, "prep"):
            inner = self.parse.child(prep, "pobj")
            at = "studies_at" if noun.lemma in _LEARNERS else "works_at"
            predicate = {"at": at, "for": "works_at", "with": "works_at", "from": "from"}.get(prep.lower)
            if inner is None or predicate is None:
                continue
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
        past = clause.past and not state
        known = words.describe(predicate, past=past or clause.passive)
        kind = known.kind
        if isinstance(value, EntityRef) and known.object_type is not None and value.actor is None:
            value = replace(value, type=known.object_type)
        if validity is None:
            matches = self.times.of_clause(self.parse, clause.verb)
            put_to = self._put_to(clause, matches)
            is_present = not (past or clause.perfect)
            if past and kind == "event":
                matches = self.times.not_ahead(matches)
            done = clause.verb.tag == "VBN" and not clause.passive  # "after getting it serviced on Monday"
            begun = clause.past or clause.perfect or done
            told = self.times.validity(matches, kind, is_present=is_present, has_begun=begun)
            validity = Validity() if put_to else told
            qualifiers = (*qualifiers, *put_to)
        valid_from, valid_to = validity.valid_from, validity.valid_to
        over = (past or clause.ended) and not (clause.negated or clause.perfect or clause.begins)
        of_person = subject.type == "person"
        taste = clause.lemma == "be" and kind == "preference"  # "I was into jazz"
        if over and valid_to is None and (taste or words.passes(predicate, of_person=of_person)):
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
                confidence=round(self._confidence(clause, predicate, kind), 3),
                evidence=span,
                valid_from=valid_from,
                valid_to=valid_to,
                negated=clause.negated,
                hedged=clause.hedged,
                single_valued=known.single_valued,
                qualifiers=qualifiers,
            )
        )

    def _put_to(self, clause: Clause, matches: list[TemporalMatch]) -> tuple[tuple[str, str], ...]:
        """What was booked or put off is so from now on; the day that it is for lies ahead."""
        past = clause.past or clause.passive or clause.verb.tag == "VBN"
        days = [day for match in matches if past and (day := self.times.put_to(match)) is not None]
        return (("for", days[0].isoformat()),) if days else ()

    def _confidence(self, clause: Clause, predicate: str, kind: Kind) -> float:
        value = FACTS[family_of(predicate, kind)] * clause.doubt * self.factor
        return value * (_HEDGED if clause.hedged else 1.0)

    @property
    def _now(self) -> datetime:
        return self.refs.utterance.observed_at


_SPOUSES: Final = _TABLE.words("spouses")


def is_spouse(target: Token) -> bool:
    """Whether one may be married to it: a name, or a noun of people; not "my job" or "the sea"."""
    lemma = target.lemma
    return (
        (target.is_name and target.text[:1].isupper())
        or target.tag.startswith(("PRP", "WP"))
        or lemma in words.RELATIONS
        or lemma in words.OCCUPATIONS
        or lemma in _SPOUSES
        or lemma.endswith(("ician", "ologist"))
    )
