"""Leaving an employer: who worked there does no more, said by a denial from then on, which finds the claim that it
ends."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import noun_value
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef

_LEAVING = word_set("quit leave lose resign")
_JOBS = word_set("job position")


class Employment(Emitter):
    def _leaving(self, clause: Clause, subject: EntityRef) -> None:
        """ "I quit my job at Acme", "I left Acme", "I resigned from Acme"."""
        past = clause.past or clause.verb.lower == "quit"
        if clause.lemma not in _LEAVING or not past or clause.modal or clause.negated or clause.hedged:
            return
        if subject.type != "person" or is_hypothetical(clause):
            return
        employer = self._employer(clause.verb, "from") if clause.lemma == "resign" else None
        for target in clause.objects("dobj"):
            if target.lemma in _JOBS:
                employer = self._employer(target, "at", "with") or self._employer(clause.verb, "at", "with")
            elif clause.lemma == "quit" or (clause.lemma == "leave" and target.entity == "ORG"):
                employer = self._named_employer(target)
        if employer is None:
            return
        starts = [
            self.times.interval(each, future=False)[0]
            for each in self.times.of_clause(self.parse, clause.verb)
        ]
        since = next((start for start in starts if start is not None), self._now)
        self._emit(clause, subject, "left", employer)
        ended = replace(clause, negated=True, past=False)
        self._emit(ended, subject, "works_at", employer, state=True, validity=Validity(since))

    def _employer(self, token: Token, *prepositions: str) -> EntityRef | None:
        found = (
            self._named_employer(inner)
            for prep in self.parse.children(token, "prep")
            if prep.lower in prepositions
            for inner in self.parse.children(prep, "pobj")
        )
        return next((each for each in found if each is not None), None)

    def _named_employer(self, token: Token) -> EntityRef | None:
        if not token.text[:1].isupper() or self.times.covers(token):
            return None
        value = noun_value(self.parse, token, self.refs, self.times)
        if isinstance(value, EntityRef):
            return None if value.type in ("person", "animal") else entity(value.name, "organisation")
        return entity(token.text, "organisation") if value is not None else None
